"""Holt-Winters with the season that history allows."""

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast
from forecaster.models.holt_winters import HoltWinters
from forecaster.reasons import Code
from forecaster.series import Series
from tests.traces import horizon, panel, series_of, usual_rpm


def forecast(load: Series, steps: int = 24) -> Forecast:
    model, known = HoltWinters(), panel(load)
    ahead = horizon(start=load.end, step_s=load.step_s, steps=steps)
    return model.forecast(known, model.fit(known, load.end), ahead, (0.05, 0.5, 0.95), Calendar())[0]


def test_two_weeks_of_history_give_a_weekly_season() -> None:
    load = usual_rpm(28, noise_ratio=0.0)
    answer = forecast(load, 24 * 7)
    assert answer.notes == ()
    np.testing.assert_allclose(answer.at_level(0.5), load.mean[-24 * 7 :], rtol=0.05)


@pytest.mark.parametrize(("days", "season"), [(13, "daily"), (14, "weekly")])
def test_less_gives_a_daily_season_and_says_so(days: int, season: str) -> None:
    notes = forecast(usual_rpm(days)).notes
    assert [note.code for note in notes] == ([Code.YOUNG_HISTORY] if season == "daily" else [])
    assert all(
        note.detail == "a has 13 days of history, under two weeks: holt_winters forecasts it with a daily season only" for note in notes
    )


def test_one_bucket_a_day_has_no_daily_season() -> None:
    answer = forecast(series_of([5.0, 6.0, 5.0, 6.0, 5.0, 6.0], step_s=86_400), 2)
    assert answer.at_level(0.5)[0] == pytest.approx(5.5, abs=0.6)


def test_a_gap_moves_the_level_little() -> None:
    load = usual_rpm(28, noise_ratio=0.02).mean.copy()
    usual = forecast(series_of(load)).at_level(0.5)
    load[-24 * 3 : -24 * 2] = np.nan
    np.testing.assert_allclose(forecast(series_of(load)).at_level(0.5), usual, rtol=0.05)

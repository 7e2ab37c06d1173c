"""Same time yesterday or last week."""

import numpy as np

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast
from forecaster.models.seasonal_naive import SeasonalNaive
from forecaster.series import Series
from tests.traces import horizon, panel, series_of, usual_rpm

DIGITS = 1e-6
"""Forecasts have seven digits."""


def forecast(load: Series, steps: int = 24) -> Forecast:
    naive, known, ahead = SeasonalNaive(), panel(load), horizon(start=load.end, steps=steps)
    return naive.forecast(known, naive.fit(known, load.end), ahead, (0.05, 0.5, 0.95), Calendar())[0]


def test_after_one_day_tomorrow_is_today() -> None:
    load = usual_rpm(1)
    np.testing.assert_allclose(forecast(load).at_level(0.5), load.mean, rtol=DIGITS)


def test_a_load_that_repeats_daily_is_that_of_yesterday() -> None:
    day = usual_rpm(1, noise_ratio=0.3).mean
    np.testing.assert_allclose(forecast(series_of(np.tile(day, 10))).at_level(0.5), day, rtol=DIGITS)


def test_a_load_that_repeats_weekly_is_that_of_last_week_however_far_ahead() -> None:
    load = usual_rpm(28, noise_ratio=0.0)
    np.testing.assert_allclose(forecast(load, 24 * 7).at_level(0.5), load.mean[-24 * 7 :], rtol=0.005)


def test_while_a_week_cannot_be_judged_yesterday_is_taken() -> None:
    load = usual_rpm(8, noise_ratio=0.0)  # the eighth day can be compared with the first, and that is one day only
    np.testing.assert_allclose(forecast(load).at_level(0.5).max(), load.mean[-24:].max(), rtol=0.3)


def test_where_yesterday_was_not_measured_the_day_before_it_is() -> None:
    load = usual_rpm(3, noise_ratio=0.0).mean.copy()
    load[-24:-12] = np.nan
    answer = forecast(series_of(load)).at_level(0.5)
    assert np.isfinite(answer).all()
    assert (answer[:12] > 0).all()


def test_a_slot_that_was_never_measured_lies_between_its_neighbours() -> None:
    load = np.full(24, 10.0)
    load[5] = np.nan
    np.testing.assert_allclose(forecast(series_of(np.tile(load, 2))).at_level(0.5), 10.0)

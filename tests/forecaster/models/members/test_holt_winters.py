"""The Holt-Winters member is statsmodels' recursion, of many series at once."""

import numpy as np
import pytest
from statsmodels.tsa.holtwinters import ExponentialSmoothing

from forecaster.models.members.holt_winters import smoothed
from forecaster.series import Floats

LEVEL_GAIN, SEASON_GAIN = 0.1, 0.35


def by_statsmodels(line: Floats, period: int, start: Floats) -> tuple[float, Floats]:
    model = ExponentialSmoothing(
        line,
        initialization_method="known",
        initial_level=line[:period].mean(),
        seasonal="add",
        seasonal_periods=period,
        initial_seasonal=start,
    )
    fitted = model.fit(smoothing_level=LEVEL_GAIN, smoothing_seasonal=SEASON_GAIN, optimized=False)
    return float(fitted.level[-1]), np.asarray(fitted.season)[-period:]


@pytest.mark.parametrize(("seasons", "rest"), [(2, 0), (9, 0), (9, 5)])
def test_level_and_season_are_those_of_statsmodels(seasons: int, rest: int) -> None:
    period = 24
    lines = np.random.default_rng(seasons).normal(size=(3, period * seasons + rest))
    level, season = smoothed(lines, period, LEVEL_GAIN, SEASON_GAIN)
    whole = lines[:, rest:].reshape(3, seasons, period)
    starts = np.roll(np.median(whole - whole.mean(axis=2, keepdims=True), axis=1), rest, axis=1)
    for row, line in enumerate(lines):
        expected_level, expected_season = by_statsmodels(line, period, starts[row])
        np.testing.assert_allclose(level[row], expected_level, rtol=1e-9)
        np.testing.assert_allclose(season[row], expected_season, rtol=1e-9)


def test_at_one_slot_a_period_the_level_is_all_there_is() -> None:
    lines = np.array([[2.0, 4.0, 4.0]])
    level, season = smoothed(lines, 1, 0.5, SEASON_GAIN)
    assert (level[0], season.tolist()) == (3.5, [[0.0]])

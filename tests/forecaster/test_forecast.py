from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from forecaster.forecast import DailyPeak, Forecast, Horizon
from forecaster.series import Floats, Signal, Window

START = datetime(2026, 3, 2, tzinfo=UTC)
LEVELS = (0.5, 0.9, 0.95)


def forecast_of(values: Floats, window_max: Floats | None = None) -> Forecast:
    return Forecast(
        signal=Signal.RPM,
        issued_at=START,
        start=START,
        step_s=300,
        levels=LEVELS,
        values=values,
        window_max=values if window_max is None else window_max,
        window_s=900,
        daily_peaks=(),
        model="test",
        trained_on=Window(start=START - timedelta(days=7), end=START),
        coverage=(None, None, None),
    )


GOOD = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (GOOD[::-1], "must not decrease"),
        (np.where(GOOD == 4, np.nan, GOOD), "must be finite"),
        (np.where(GOOD == 4, np.inf, GOOD), "must be finite"),
        (GOOD - 2, "at least 0"),
        (GOOD[:2], "one row a level"),
        (GOOD[:, :0], "at least one column"),
    ],
)
def test_a_forecast_that_is_no_set_of_quantiles_is_refused(values: Floats, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        forecast_of(values)


def test_stated_levels_come_back_exactly_and_others_lie_between() -> None:
    forecast = forecast_of(GOOD)
    assert forecast.at_level(0.9).tolist() == [2.0, 3.0]
    between = forecast.at_level(0.7)
    assert (between > 1.0).all()
    assert (between < 3.0).all()


@pytest.mark.parametrize("level", [0.4, 0.99])
def test_a_level_outside_of_the_stated_ones_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.5 and 0\.95"):
        forecast_of(GOOD).window_max_at(level)


def test_an_instant_outside_of_the_forecast_has_no_bucket() -> None:
    forecast = forecast_of(GOOD)
    assert [forecast.index(START + timedelta(minutes=m)) for m in (-1, 0, 4, 5, 9, 10)] == [None, 0, 0, 1, 1, None]


def test_the_horizon_starts_with_the_bucket_in_progress() -> None:
    with pytest.raises(ValueError, match="bucket in progress"):
        Horizon(issued_at=START, start=START + timedelta(minutes=5), step_s=300, steps=12, window_steps=3)


def test_a_daily_peak_is_expected_within_the_part_of_the_day_that_it_covers() -> None:
    covers = Window(start=START, end=START + timedelta(hours=1))
    with pytest.raises(ValueError, match="part of the day"):
        DailyPeak(day=date(2026, 3, 2), zone="UTC", covers=covers, levels=LEVELS, values=np.array([1.0, 2.0, 3.0]), at=covers.end)

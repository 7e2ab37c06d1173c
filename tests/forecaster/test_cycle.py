"""What counts as a load that comes back by the hour of the day or week."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.cycle import cycle_ratio
from forecaster.series import Floats, Series, Signal

STEP_S = 900
A_DAY = 86_400 // STEP_S
DAYS = np.arange(28 * A_DAY) / A_DAY
NOISE = np.random.default_rng(3).lognormal(0, 0.3, DAYS.size)
BY_DAY = np.clip(np.sin(2 * np.pi * (DAYS - 0.3)), 0, 1)
RANDOM_BURSTS = np.repeat(np.random.default_rng(4).random(DAYS.size // 8) < 0.15, 8) * 1000.0 + 5
WALK = 100 * np.exp(np.cumsum(np.random.default_rng(5).normal(0, 0.05, DAYS.size)))


def load(values: Floats, *, step_s: int = STEP_S) -> Series:
    return Series(signal=Signal.RPM, start=datetime(2026, 1, 5, 3, tzinfo=UTC), step_s=step_s, mean=values, peak=values)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param((100 + 500 * BY_DAY) * NOISE, id="busy by day"),
        pytest.param((100 + 500 * BY_DAY) * NOISE * 1.07**DAYS, id="busy by day, doubling every ten days"),
        pytest.param(np.where(DAYS % 1 < 0.05, 900.0, 1.0), id="a nightly batch"),
        pytest.param(np.where((DAYS % 7 > 2.4) & (DAYS % 7 < 2.6), 900.0, 20.0), id="one job a week"),
        pytest.param(np.where(DAYS % 7 < 5, 300.0, 60.0) * NOISE, id="closed at weekends"),
    ],
)
def test_what_comes_back_is_a_cycle(values: Floats) -> None:
    ratio = cycle_ratio(load(values))
    assert ratio is not None
    assert ratio > 0.2


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(300 * NOISE, id="noise around a level"),
        pytest.param(RANDOM_BURSTS, id="bursts at any time"),
        pytest.param(WALK, id="a level that wanders"),
        pytest.param(np.full(DAYS.size, 70.0), id="a constant"),
        pytest.param(np.zeros(DAYS.size), id="nothing"),
    ],
)
def test_what_does_not_come_back_is_none(values: Floats) -> None:
    ratio = cycle_ratio(load(values))
    assert ratio is not None
    assert ratio < 0.1


def test_too_few_days_and_days_without_measurement_say_nothing() -> None:
    busy = 100 + 500 * BY_DAY
    assert cycle_ratio(load(busy[: 4 * A_DAY])) is None
    assert cycle_ratio(load(busy[:0])) is None
    assert cycle_ratio(load(np.full(DAYS.size, np.nan))) is None


def test_outages_hide_no_cycle() -> None:
    values = (100 + 500 * BY_DAY) * NOISE
    values[10 * A_DAY : 13 * A_DAY] = np.nan
    values[np.random.default_rng(6).random(values.size) < 0.2] = np.nan
    ratio = cycle_ratio(load(values))
    assert ratio is not None
    assert ratio > 0.5


def test_any_step_is_judged_by_the_hour_or_its_own() -> None:
    hourly = load((100 + 500 * BY_DAY) * NOISE).coarser(3600)
    for step_s in (3600, 4 * 3600):
        ratio = cycle_ratio(hourly.coarser(step_s))
        assert ratio is not None
        assert ratio > 0.4


def test_a_day_ahead_of_the_grid_changes_nothing() -> None:
    whole = load((100 + 500 * BY_DAY) * NOISE)
    later = whole.between(whole.start + timedelta(hours=5), whole.end)
    assert cycle_ratio(later) == pytest.approx(cycle_ratio(whole), abs=0.03)

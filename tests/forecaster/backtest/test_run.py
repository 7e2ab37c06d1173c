"""A whole backtest on generated traces: nothing after an origin is looked at, and an outage leaves no hole."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.backtest.rolling import Memory, forecast_at, last_resort
from forecaster.backtest.run import Backtest, backtest
from forecaster.backtest.settings import Settings
from forecaster.errors import NotEnoughHistory
from forecaster.forecast import Horizon
from forecaster.series import Signal, Window, empty_series
from forecaster.trace import Trace
from forecaster.workload import Policy
from tests.simulation.traces import START, trace

DAY = timedelta(days=1)
POLICY = Policy(minimum=1, hold_s=0)
SMALL = Settings(levels=(0.5, 0.8, 0.95), targets=(0.6, 0.8, 1.0))
HALF_HOUR = 1_800


@pytest.fixture(scope="module")
def month() -> Trace:
    return trace(32, HALF_HOUR, noise=0.2)


@pytest.fixture(scope="module")
def found(month: Trace) -> Backtest:
    return backtest(month, POLICY, SMALL)


def test_there_is_one_forecast_peak_and_point_a_day(found: Backtest) -> None:
    assert [f.issued_at for f in found.forecasts] == [START + day * DAY for day in range(14, 32)]
    assert len(found.peaks) == len(found.points) == len(found.forecasts)
    assert found.floor_step_s == 300
    assert found.floors.size == 18 * 288
    assert (found.floors >= 1).all()


def test_a_trace_that_is_cut_gives_the_same_forecasts_levels_and_floors_until_the_cut(month: Trace, found: Backtest) -> None:
    """29.5 days of the same trace: half of it is still more than 14 days."""
    cut = backtest(replace(month, counts=month.counts[: 29 * 48 + 24]), POLICY, SMALL)
    days = len(cut.points)
    assert days == 16
    assert cut.points == found.points[:days]
    assert np.array_equal(cut.floors, found.floors[: cut.floors.size])
    for ours, whole in zip(cut.forecasts, found.forecasts, strict=False):
        assert np.array_equal(ours.values, whole.values)
        assert np.array_equal(ours.window_max, whole.window_max)


def test_what_happens_after_an_instant_moves_no_floor_before_it(month: Trace, found: Backtest) -> None:
    counts = month.counts.copy()
    counts[20 * 48 + 20 :] = 9e5
    stormy = backtest(replace(month, counts=counts), POLICY, SMALL)
    until = 6 * 288 + 20 * 6
    assert np.array_equal(stormy.floors[: until + 1], found.floors[: until + 1])
    assert stormy.points[:7] == found.points[:7]


@pytest.mark.parametrize("gap_steps", [0, 30], ids=["measured", "in an outage"])
def test_what_happens_from_an_origin_on_moves_nothing_that_was_decided_at_it(month: Trace, gap_steps: int) -> None:
    """Load between the stamps around midnight is a line to what comes next: the choice of the level must not see it."""
    calm = month.counts.copy()
    calm[20 * 48 - gap_steps : 20 * 48] = np.nan
    stormy = calm.copy()
    stormy[20 * 48 :] = 9e5
    before, after = (backtest(replace(month, counts=counts), POLICY, SMALL) for counts in (calm, stormy))
    assert before.points[:7] == after.points[:7]
    assert np.array_equal(before.floors[: 6 * 288 + 1], after.floors[: 6 * 288 + 1])
    assert np.array_equal(before.forecasts[6].values, after.forecasts[6].values)


def test_the_level_is_one_of_the_candidates_and_the_target_stays(found: Backtest) -> None:
    assert {point.level for point in found.points} <= set(SMALL.levels)
    assert len({point.target for point in found.points}) == 1


def test_forecasts_stay_finite_through_an_outage_of_a_week(month: Trace) -> None:
    counts = month.counts.copy()
    counts[16 * 48 : 23 * 48] = np.nan
    found = backtest(replace(month, counts=counts), POLICY, SMALL)
    assert len(found.forecasts) == 18
    assert all(np.isfinite(f.values).all() for f in found.forecasts)
    assert [peak.actual is None for peak in found.peaks][2:9] == [True] * 7


def test_a_trace_that_is_nearly_all_gap_still_ends() -> None:
    """One bucket in twenty was measured."""
    sparse = trace(8, HALF_HOUR)
    counts = np.full(sparse.counts.size, np.nan)
    counts[::20] = sparse.counts[::20]
    found = backtest(replace(sparse, counts=counts), POLICY, SMALL)
    assert all(np.isfinite(f.values).all() for f in found.forecasts)


def test_an_outage_from_the_first_day_to_the_first_origin_leaves_the_autoscaler_to_find_its_target() -> None:
    holed = trace(8, HALF_HOUR)
    counts = holed.counts.copy()
    counts[40 : 4 * 48] = np.nan
    found = backtest(replace(holed, counts=counts), POLICY, SMALL)
    assert found.points[0].level == POLICY.level
    assert all(np.isfinite(f.values).all() for f in found.forecasts)


def test_two_days_are_enough() -> None:
    found = backtest(trace(2, HALF_HOUR), POLICY, SMALL)
    assert len(found.forecasts) == 1
    assert found.points[0].level == POLICY.level


def test_the_last_resort_is_the_last_measured_day_and_errs_high() -> None:
    series = trace(3, 3_600, noise=0.0).series()
    horizon = Horizon(issued_at=START + 3 * DAY, start=START + 3 * DAY, step_s=3_600, steps=24, window_steps=2)
    issued = last_resort(series, horizon, (0.5, 0.95), "no model")
    last = series.mean[-24:]
    assert issued.values[:, 0].tolist() == [np.quantile(last, 0.5), np.quantile(last, 0.95)]
    assert issued.daily_peaks[0].values.tolist() == [last.max(), last.max()]
    assert issued.notes[0].detail == "no model"


def test_without_any_measurement_there_is_no_last_resort() -> None:
    nothing = empty_series(Signal.RPM, Window(start=START, end=START + DAY), 3_600)
    with pytest.raises(NotEnoughHistory, match="nothing was measured before"):
        forecast_at(nothing, START + DAY, Settings(), Memory())

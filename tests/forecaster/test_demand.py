from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.capacity import Capacity
from forecaster.demand import demand
from forecaster.forecast import DailyPeak, Forecast
from forecaster.series import Signal, Window
from forecaster.workload import Policy
from tests.values import NOW, pool_of

LEVELS = (0.5, 0.9, 0.95)


def forecast_of(rpm: float, signal: Signal = Signal.RPM, *, steps: int = 4, peak: float | None = None) -> Forecast:
    values = np.array([[rpm] * steps, [rpm * 1.5] * steps, [rpm * 2] * steps])
    covers = Window(start=NOW, end=NOW + timedelta(seconds=300 * steps))
    top = np.array([0.5, 0.75, 1.0]) * peak if peak is not None else None
    peaks = () if top is None else (DailyPeak(day=NOW.date(), zone="UTC", covers=covers, levels=LEVELS, values=top, at=NOW),)
    return Forecast(
        signal=signal,
        issued_at=NOW,
        start=NOW,
        step_s=300,
        levels=LEVELS,
        values=values,
        window_max=values * 1.1,
        window_s=900,
        daily_peaks=peaks,
        model="test",
        trained_on=Window(start=NOW - timedelta(days=7), end=NOW),
        coverage=(None,) * 3,
    )


def needs(policy: Policy, *forecasts: Forecast, capacity: Capacity | None = None, share: float = 1.0) -> list[float]:
    pool = replace(pool_of(share=share), capacity=capacity or Capacity(rpm=10))
    found = demand(forecasts, pool, policy)
    assert found is not None
    return [float(value) for value in found.needs.max(axis=0)]


def test_replicas_are_the_lead_window_maximum_at_the_level_over_what_a_replica_carries() -> None:
    assert needs(Policy(level=0.95), forecast_of(100)) == pytest.approx([22.0] * 4)
    assert needs(Policy(level=0.5), forecast_of(100)) == pytest.approx([11.0] * 4)


def test_demand_scales_with_growth_over_efficiency_never_with_growth_alone() -> None:
    grown = Policy(level=0.5, growth_ratio=10, efficiency_ratio=2)
    assert needs(grown, forecast_of(100)) == pytest.approx([55.0] * 4)


def test_headroom_and_share_scale_the_load() -> None:
    assert needs(Policy(level=0.5, headroom_ratio=1.2), forecast_of(100), share=0.5) == pytest.approx([6.6] * 4)


def test_the_largest_signal_binds() -> None:
    both = (forecast_of(100), forecast_of(90, Signal.CONCURRENCY))
    assert needs(Policy(level=0.5), *both, capacity=Capacity(rpm=10, concurrency=3)) == pytest.approx([33.0] * 4)


def test_a_signal_without_capacity_is_left_out_and_none_at_all_is_no_demand() -> None:
    both = (forecast_of(100), forecast_of(9_000, Signal.CONCURRENCY))
    assert needs(Policy(level=0.5), *both) == pytest.approx([11.0] * 4)
    assert demand((forecast_of(9, Signal.CONCURRENCY),), pool_of(), Policy()) is None


def test_the_peak_of_a_day_is_that_of_the_neediest_signal() -> None:
    found = demand(
        (forecast_of(100, peak=500), forecast_of(90, Signal.CONCURRENCY, peak=300)),
        replace(pool_of(), capacity=Capacity(rpm=10, concurrency=3)),
        Policy(level=0.95),
    )
    assert found is not None
    assert [peak.replicas for peak in found.peaks] == [100.0]


def test_forecasts_of_different_grids_are_refused() -> None:
    with pytest.raises(ValueError, match="one grid"):
        demand(
            (forecast_of(100), forecast_of(9, Signal.CONCURRENCY, steps=5)),
            replace(pool_of(), capacity=Capacity(rpm=10, concurrency=3)),
            Policy(),
        )

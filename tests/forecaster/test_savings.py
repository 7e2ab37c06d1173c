"""What floors cost and saved, from what was kept: unknown stays unknown."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.cost import Prices
from forecaster.decision import Action, Applied, CycleRecord, Decision
from forecaster.reasons import Code, Reason
from forecaster.savings import PoolDays, Spent, floors_by_minute, least_floor, minutes_of, money, spent, total
from forecaster.series import Floats, Series, Signal, Window
from forecaster.workload import Mode

DAY = datetime(2026, 3, 2, tzinfo=UTC)
BUCKETS = 288
EUR = Prices(currency="EUR", gpu_hour=2.0, late_request=0.01)


def series_of(values: Floats, signal: Signal = Signal.RPM) -> Series:
    return Series(signal=signal, start=DAY, step_s=300, mean=values, peak=values)


def ramp(days: int = 1) -> Floats:
    """100 requests a minute, and 1,000 from eight to twenty."""
    hours = np.arange(BUCKETS) / 12
    return np.tile(np.where((hours >= 8) & (hours < 20), 1_000.0, 100.0), days)


def days_of(load: Floats, floors: Floats, ready: Floats | None = None, *, signal: Signal = Signal.RPM, target: float = 0.7) -> PoolDays:
    seen = np.full(load.size, np.nan) if ready is None else ready
    return PoolDays(
        load=series_of(load, signal),
        ready=series_of(seen, Signal.READY),
        floors=floors,
        carry=100.0,
        lead_min=10,
        target_ratio=target,
        alone_ratio=0.7,
        least=2,
    )


def foreseeing() -> Floats:
    """Ten replicas from ten minutes before eight on."""
    floors = np.full(1440, 2.0)
    floors[8 * 60 - 10 : 20 * 60] = 10.0
    return floors


def test_floors_ahead_of_a_ramp_avoid_late_requests() -> None:
    (day,) = spent(days_of(ramp(), foreseeing()))
    assert day.late_reactive is not None
    assert day.late_reactive > 1_000
    assert day.late_ours == 0
    assert day.avoided == day.late_reactive


def test_planned_is_the_sum_of_the_floors_and_static_the_largest_minute_all_day() -> None:
    (day,) = spent(days_of(ramp(), foreseeing()))
    assert day.planned_hours == pytest.approx(10 * (12 + 1 / 6) + 2 * (12 - 1 / 6))
    assert day.static_hours == 240
    assert day.requests == pytest.approx(ramp().sum() * 5)


def test_floors_that_do_not_bind_change_nothing() -> None:
    (day,) = spent(days_of(ramp(), np.full(1440, 1.0)))
    assert day.saved_hours == 0
    assert day.avoided == 0


def test_an_autoscaler_that_runs_hotter_above_the_floors_is_where_the_hours_are_saved() -> None:
    (cool,), (hot,) = (spent(days_of(ramp(), foreseeing(), target=target)) for target in (0.7, 1.0))
    assert cool.saved_hours is not None
    assert hot.saved_hours is not None
    assert hot.saved_hours > cool.saved_hours + 30
    assert hot.late_ours == 0


def test_actual_is_what_was_seen_ready() -> None:
    (day,) = spent(days_of(ramp(), foreseeing(), np.full(BUCKETS, 4.0)))
    assert day.actual_hours == 96


@pytest.mark.parametrize("seen", [0, 100, 250])
def test_a_day_on_which_replicas_were_not_seen_enough_is_unknown_and_not_zero(seen: int) -> None:
    ready = np.where(np.arange(BUCKETS) < seen, 4.0, np.nan)
    (day,) = spent(days_of(ramp(), foreseeing(), ready))
    assert day.actual_hours is None


def test_a_day_without_floors_has_no_planned_hours() -> None:
    first, second = spent(days_of(ramp(2), np.concatenate([np.full(1440, np.nan), foreseeing()])))
    assert first.planned_hours is None
    assert first.late_ours == first.late_reactive
    assert second.planned_hours is not None


def test_of_a_day_whose_load_is_not_known_no_replay_is_told() -> None:
    load = ramp(2)
    load[: BUCKETS // 2] = np.nan
    first, second = spent(days_of(load, np.tile(foreseeing(), 2)))
    assert (first.ours_hours, first.reactive_hours, first.static_hours, first.late_ours) == (None, None, None, None)
    assert second.ours_hours is not None


def test_without_any_load_all_of_the_replay_is_unknown() -> None:
    (day,) = spent(days_of(np.full(BUCKETS, np.nan), foreseeing(), np.full(BUCKETS, 4.0)))
    assert (day.ours_hours, day.requests, day.actual_hours) == (None, None, 96)


def test_of_a_load_that_is_no_requests_hours_are_told_and_no_late_requests() -> None:
    (day,) = spent(days_of(ramp(), foreseeing(), signal=Signal.CONCURRENCY))
    assert day.ours_hours is not None
    assert (day.requests, day.late_ours, day.late_reactive) == (None, None, None)


def test_the_largest_minute_of_a_bucket_is_kept_and_so_is_its_mean() -> None:
    load = Series(signal=Signal.RPM, start=DAY, step_s=300, mean=np.array([100.0, np.nan, 300.0]), peak=np.array([200.0, np.nan, 300.0]))
    minutes = minutes_of(load).rpm.reshape(-1, 5)
    assert minutes[0].tolist() == [200.0, 75.0, 75.0, 75.0, 75.0]
    assert minutes.mean(axis=1).tolist() == [100.0, 200.0, 300.0]


def test_a_sum_of_which_one_part_is_unknown_is_unknown() -> None:
    known, unknown = spent(days_of(ramp(2), np.tile(foreseeing(), 2), np.concatenate([np.full(BUCKETS, 4.0), np.full(BUCKETS, np.nan)])))
    both = total((known, unknown), Spent)
    assert both.actual_hours is None
    assert both.planned_hours == pytest.approx((known.planned_hours or 0) * 2)


def test_money_counts_late_requests_where_they_have_a_price() -> None:
    (day,) = spent(days_of(ramp(), foreseeing()))
    priced = money(day, EUR)
    assert priced.planned == pytest.approx((day.planned_hours or 0) * 2)
    assert priced.reactive == pytest.approx((day.reactive_hours or 0) * 2 + (day.late_reactive or 0) * 0.01)
    assert priced.actual is None


def test_a_replay_whose_late_requests_are_unknown_has_no_cost_where_they_are_priced() -> None:
    (day,) = spent(days_of(ramp(), foreseeing(), signal=Signal.CONCURRENCY))
    assert money(day, EUR).ours is None
    assert money(day, Prices(currency="EUR", gpu_hour=2.0)).ours == pytest.approx((day.ours_hours or 0) * 2)


def record(at: datetime, floor: int, *, valid_until: datetime | None = None, before: int = 2) -> CycleRecord:
    decision = Decision(
        at=at,
        workload="chat",
        pool="gpu",
        target="hpa",
        action=Action.SET,
        floor=floor,
        wanted=floor,
        last=None,
        since=at,
        valid_until=valid_until or at + timedelta(days=1),
        plan_id=None,
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="as planned"),),
    )
    applied = Applied(target="hpa", before=before, after=floor, written=True)
    return CycleRecord(at=at, mode=Mode.AUTO, decision=decision, applied=applied, error=None, sentence="")


def test_a_floor_stands_from_its_decision_to_the_next() -> None:
    window = Window(start=DAY, end=DAY + timedelta(days=1))
    records = (record(DAY - timedelta(hours=1), 3), record(DAY + timedelta(hours=2), 5))
    floors = floors_by_minute(records, "gpu", "hpa", window)
    assert (floors[0], floors[119], floors[120], floors[-1]) == (3, 3, 5, 5)


def test_a_floor_that_expired_is_none_of_ours() -> None:
    window = Window(start=DAY, end=DAY + timedelta(days=1))
    floors = floors_by_minute((record(DAY, 3, valid_until=DAY + timedelta(hours=2)),), "gpu", "hpa", window)
    assert floors[119] == 3
    assert np.isnan(floors[120:]).all()


def test_where_nothing_was_decided_no_floor_was_ours() -> None:
    assert np.isnan(floors_by_minute((), "gpu", "hpa", Window(start=DAY, end=DAY + timedelta(days=1)))).all()


def test_the_least_floor_is_the_lowest_that_stood_on_the_object() -> None:
    assert least_floor((record(DAY, 5, before=2), record(DAY + timedelta(hours=1), 8, before=5)), "gpu") == 2
    assert least_floor((), "gpu") is None


def test_parts_of_days_is_refused() -> None:
    with pytest.raises(ValueError, match="whole UTC days"):
        days_of(ramp(), np.full(1000, 2.0))

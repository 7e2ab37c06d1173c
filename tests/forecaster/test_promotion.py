"""Each gate of a promotion, and what it says."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.confirmation import Confirmation, Finding
from forecaster.decision import Action, CycleRecord, Decision, Ruling, RulingKind
from forecaster.forecast import Forecast, TrackRecord
from forecaster.leadtime import LeadTime
from forecaster.modes import promotion_of
from forecaster.promotion import (
    Gate,
    capacity_gate,
    coverage_gate,
    days_gate,
    lead_time_gate,
    observed_days,
    replay_gate,
)
from forecaster.reasons import Code, Reason
from forecaster.savings import Spent
from forecaster.series import Signal, Window
from forecaster.workload import Mode

DAY = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
TARGETS = (("gpu", "hpa"),)


def record(at: datetime, *, error: str | None = None, plan_id: str | None = "chat/gpu@x", target: str = "hpa") -> CycleRecord:
    decision = Decision(
        at=at,
        workload="chat",
        pool="gpu",
        target=target,
        action=Action.SET,
        floor=3,
        wanted=3,
        last=None,
        since=at,
        valid_until=at + HOUR,
        plan_id=plan_id,
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="as planned"),),
    )
    return CycleRecord(at=at, mode=Mode.OBSERVE, decision=decision, applied=None, error=error, sentence="")


def hours(count: int, day: int = 0) -> list[datetime]:
    return [DAY + timedelta(days=day) + i * HOUR for i in range(count)]


def test_a_day_counts_when_a_plan_decided_in_twenty_of_its_hours() -> None:
    assert observed_days([record(at) for at in (*hours(20), *hours(19, day=1))], TARGETS) == 1


def test_hours_that_failed_or_followed_no_plan_do_not_count() -> None:
    assert observed_days([record(at, error="refused") for at in hours(24)], TARGETS) == 0
    assert observed_days([record(at, plan_id=None) for at in hours(24)], TARGETS) == 0


def test_a_day_counts_only_where_every_target_was_decided() -> None:
    both = (*TARGETS, ("gpu", "nodes"))
    records = [record(at) for at in hours(24)]
    assert observed_days(records, both) == 0
    assert observed_days(records + [record(at, target="nodes") for at in hours(24)], both) == 1


def test_fourteen_observed_days_pass_and_thirteen_say_how_many_are_missing() -> None:
    assert days_gate(14).passed
    assert not days_gate(13).passed
    assert "for 1 days more" in days_gate(13).remedy


def forecast_of(coverage: float, *, days: int = 14, upper: float = 200.0) -> Forecast:
    values = np.repeat([[100.0], [upper]], 288, axis=1)
    return Forecast(
        signal=Signal.RPM,
        issued_at=DAY,
        start=DAY,
        step_s=300,
        levels=(0.5, 0.95),
        values=values,
        window_max=values,
        window_s=900,
        daily_peaks=(),
        model="test",
        trained_on=Window(start=DAY - timedelta(days=14), end=DAY),
        coverage=(None, coverage),
        record=TrackRecord(days=days, pinball=1.0, naive_pinball=2.0, coverage=coverage, drift_log=0.0),
    )


@pytest.mark.parametrize(("coverage", "passed"), [(0.89, False), (0.90, True), (0.95, True), (0.99, True), (0.995, False)])
def test_coverage_has_to_lie_in_its_band(coverage: float, passed: bool) -> None:
    assert coverage_gate(Signal.RPM, forecast_of(coverage)).passed is passed


def test_a_band_that_is_narrow_may_cover_everything() -> None:
    assert coverage_gate(Signal.RPM, forecast_of(1.0, upper=110.0)).passed


def test_coverage_of_too_few_days_or_of_none_says_nothing() -> None:
    assert "wait 3 more" in coverage_gate(Signal.RPM, forecast_of(0.95, days=4)).remedy
    assert not coverage_gate(Signal.RPM, None).passed
    assert not coverage_gate(Signal.RPM, replace(forecast_of(0.95), record=None)).passed
    assert not coverage_gate(Signal.RPM, forecast_of(float("nan"))).passed


def test_a_configured_lead_time_is_missing_and_a_measured_one_passes() -> None:
    assert not lead_time_gate("gpu", LeadTime(warm_s=300, cold_s=600)).passed
    assert lead_time_gate("gpu", LeadTime(warm_s=300, cold_s=600, source="starts")).passed


def confirmed(finding: Finding, ratio: float | None = 1.0, signal: Signal = Signal.RPM) -> Confirmation:
    return Confirmation(signal=signal, capacity=100.0, finding=finding, carried_ratio=ratio, measured_h=100.0)


@pytest.mark.parametrize(
    ("findings", "passed", "said"),
    [
        ((), False, "set capacity"),
        ((confirmed(Finding.CONFIRMED),), True, ""),
        ((confirmed(Finding.UNKNOWN, None),), False, "queue_depth"),
        ((confirmed(Finding.TOO_LOW, 1.4),), False, "raise capacity"),
        ((confirmed(Finding.TOO_HIGH, None),), False, "lower capacity"),
        ((confirmed(Finding.CONFIRMED), confirmed(Finding.UNKNOWN, 0.4, Signal.CONCURRENCY)), True, ""),
        ((confirmed(Finding.CONFIRMED), confirmed(Finding.TOO_HIGH, None, Signal.CONCURRENCY)), False, "lower capacity"),
    ],
)
def test_one_capacity_has_to_be_confirmed_and_none_contradicted(
    findings: tuple[Confirmation, ...],
    passed: bool,
    said: str,
) -> None:
    gate = capacity_gate("gpu", findings)
    assert gate.passed is passed
    assert said in gate.remedy


def day_of(*, ours: float | None = 100.0, reactive: float = 100.0, late_ours: float = 0.0, late_reactive: float = 0.0) -> Spent:
    return Spent(
        planned_hours=80.0,
        actual_hours=None,
        ours_hours=ours,
        reactive_hours=reactive,
        static_hours=240.0,
        requests=100_000.0,
        late_ours=late_ours,
        late_reactive=late_reactive,
    )


def replayed(day: Spent, count: int = 14) -> Gate:
    return replay_gate((day,) * count, 0.7, "assumed")


def test_a_replay_that_is_no_worse_passes() -> None:
    assert replayed(day_of(ours=104.9, late_reactive=500)).passed
    assert replayed(day_of(late_ours=49)).passed


def test_a_replay_that_is_later_or_dearer_is_refused_with_its_numbers() -> None:
    later, dearer = replayed(day_of(late_ours=60)), replayed(day_of(ours=106.0))
    assert (later.passed, dearer.passed) == (False, False)
    assert "0.06% late against 0.00% alone" in later.found
    assert "+6.0% replica-hours" in dearer.found


def test_a_week_has_to_be_replayed() -> None:
    assert not replayed(day_of(), 6).passed
    assert not replay_gate((day_of(ours=None),) * 14, 0.7, "assumed").passed


def ruling(kind: RulingKind, at: datetime, mode: Mode | None = Mode.OBSERVE) -> Ruling:
    return Ruling(at=at, workload="chat", kind=kind, author="ada", reason="earned", mode=mode)


def test_a_promotion_holds_until_it_is_taken_back_and_can_be_given_again() -> None:
    said = (ruling(RulingKind.PROMOTE, DAY), ruling(RulingKind.DEMOTE, DAY + HOUR, None), ruling(RulingKind.PROMOTE, DAY + 2 * HOUR))
    holds = [promotion_of(said, Mode.OBSERVE, DAY + i * HOUR) is not None for i in range(-1, 3)]
    assert holds == [False, True, False, True]


@pytest.mark.parametrize(
    ("then", "present", "holds"), [("review", "observe", False), ("observe", "review", True), ("auto", "review", False)]
)
def test_a_configured_mode_below_the_one_of_the_promotion_ends_it(then: str, present: str, holds: bool) -> None:
    found = promotion_of((ruling(RulingKind.PROMOTE, DAY, Mode(then)),), Mode(present), DAY)
    assert (found is not None) is holds


def test_a_promotion_says_under_which_mode_it_was_given() -> None:
    with pytest.raises(ValueError, match="configured mode"):
        ruling(RulingKind.PROMOTE, DAY, None)

"""How a past floor is rebuilt from what was kept, also where part of it is gone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from connectors.stores.memory import MemoryStore
from forecaster.decision import CycleRecord
from forecaster.errors import NothingKept
from forecaster.guard import guard
from forecaster.plan import Plan, plan
from forecaster.units import iso
from forecaster.workload import Mode, Policy, Shape
from jobs.views.explained import Explained, explained
from jobs.views.kept import Kept
from tests.jobs.review_values import member_of
from tests.values import NOW, case_of, decided, demand_of, look_of, peak_of, plan_of, workload_of

TARGET = "recording:chat"


def said(followed: Plan | None, *, need: float = 5.0, mode: Mode = Mode.AUTO, error: str | None = None) -> CycleRecord:
    decision = guard(case_of(followed, look_of(need), recent=(decided(12, at=NOW - timedelta(hours=1)),)))
    return CycleRecord(at=NOW, mode=mode, decision=decision, applied=None, error=error, sentence="as it was said")


def found(record: CycleRecord, *plans: Plan) -> Explained:
    store = MemoryStore()
    store.append_plans(plans)
    store.append_records([record])
    (only,) = explained(Kept(store=store, member=member_of(), now=NOW + timedelta(minutes=20)), (TARGET,))
    return only


def test_the_sentence_goes_from_the_forecast_to_the_floor() -> None:
    followed = plan_of([215.0] * 12)
    each = found(said(followed), followed)
    assert each.plan is followed
    assert each.explanation.sentence == (
        f"chat/main on {TARGET}: floor 22 since {iso(NOW)}: test expects P95 of rpm over the next 15 min (lead time 10 min and one step) "
        "at 215 requests/min, a replica carries 10, so 21.50 are needed and 22 are planned."
    )
    (signal,) = each.explanation.signals
    assert (signal.median, signal.load, signal.carry, signal.replicas, signal.binds) == (172.0, 215.0, 10.0, 21.5, True)


def test_a_days_peak_that_binds_is_said_beside_what_the_signal_asked_for() -> None:
    demand = demand_of([215.0] * 12)
    workload = workload_of(Policy(shape=Shape.DAILY_PEAK))
    followed = plan(replace(demand, peaks=(peak_of(demand, 30.0),)), workload, workload.pools[0], NOW)
    each = found(said(followed), followed)
    assert "so 21.50 are needed, but the day's peak at P95 asks for 30 and 30 are planned" in each.explanation.sentence
    assert [signal.binds for signal in each.explanation.signals] == [False]


def test_every_step_that_moved_the_floor_is_said_with_its_numbers() -> None:
    followed = plan_of([50.0] * 12)
    assert "(5 -> 12)" in found(said(followed), followed).explanation.sentence


def test_loads_of_any_size_are_written_out() -> None:
    followed = plan_of([123_456.0] * 12)
    assert "at 123,456 requests/min, a replica carries 10" in found(said(followed), followed).explanation.sentence


def test_a_watched_floor_would_be_and_a_failed_one_was_not_written() -> None:
    followed = plan_of([215.0] * 12)
    assert "floor would be 22" in found(said(followed, mode=Mode.OBSERVE), followed).explanation.sentence
    assert found(said(followed, error="403: no."), followed).explanation.sentence.endswith("; it was not written (403: no).")


def test_without_a_plan_the_guards_are_the_whole_story() -> None:
    each = found(said(None))
    assert (each.plan, each.forecasts, each.explanation.signals) == (None, (), ())
    assert "there is no plan to follow" in each.explanation.sentence


def test_a_plan_that_is_no_longer_kept_leaves_what_the_record_says() -> None:
    each = found(said(plan_of([215.0] * 12)))
    assert each.plan is None
    assert "rpm binds: P95 of the 15 min from 2026-03-02T08:00Z is 215 requests/min, a replica carries 10" in each.explanation.sentence


def test_another_target_has_no_part_in_it() -> None:
    store = MemoryStore()
    store.append_records([said(None)])
    with pytest.raises(NothingKept, match="no floor was decided by"):
        explained(Kept(store=store, member=member_of(), now=NOW), ("recording:other",))

"""A backlog over its drain time beside replicas that are on their way."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.backlog import Backlog, are_stuck, dues_s
from forecaster.decision import Observation, Seen
from forecaster.guard import guard
from forecaster.look import Look, look
from forecaster.reasons import Code
from forecaster.series import Signal
from forecaster.workload import Policy
from tests.values import NOW, case_of, decided, live_of, plan_of, pool_of, seen_of

LEAD_S = 600.0
ONE_HOUR = Backlog(need=20.0, work_s=3_600.0, drain_s=300.0)
dues = st.lists(st.floats(-600, 600), max_size=20).map(tuple)
works = st.floats(0, 1e5)


def test_load_and_backlog_are_asked_for_within_the_drain_time() -> None:
    assert ONE_HOUR.asked == 32.0


def test_replicas_that_come_in_time_and_are_enough_are_not_asked_for_again_nor_called_back() -> None:
    assert ONE_HOUR.asked_beside(10, (240.0,) * 20, LEAD_S) == 30.0


def test_too_few_that_come_in_time_leave_the_rest_to_be_asked_for() -> None:
    few = replace(ONE_HOUR, work_s=6_000.0)
    assert few.asked_beside(18, (60.0,) * 4, LEAD_S) == pytest.approx(20 + (6_000 + 2 * 60 - 2 * 540) / 300)


@pytest.mark.parametrize("due_s", [(), (-1.0,) * 20, (301.0,) * 20])
def test_overdue_ones_and_those_later_than_the_drain_time_get_no_credit(due_s: tuple[float, ...]) -> None:
    assert ONE_HOUR.asked_beside(10, due_s, LEAD_S) == ONE_HOUR.asked


def test_what_another_signal_asks_for_is_asked_whatever_comes() -> None:
    assert replace(ONE_HOUR, least=31.5).asked_beside(10, (240.0,) * 20, LEAD_S) == 31.5


@given(works, works, dues, st.integers(0, 60), st.floats(0, 50), st.floats(0, 50))
def test_more_load_or_backlog_never_asks_for_fewer(  # noqa: PLR0917  one argument a strategy
    work: float, more: float, due_s: tuple[float, ...], ready: int, need: float, further: float
) -> None:
    low = Backlog(need=need, work_s=work, drain_s=300.0)
    for high in (replace(low, work_s=work + more), replace(low, need=need + further)):
        assert high.asked_beside(ready, due_s, LEAD_S) >= low.asked_beside(ready, due_s, LEAD_S) - 1e-9


@given(works, dues, st.integers(0, 60))
def test_a_credit_never_asks_for_more_nor_calls_a_timely_replica_back(work: float, due_s: tuple[float, ...], ready: int) -> None:
    backlog = Backlog(need=20.0, work_s=work, drain_s=300.0)
    timely = sum(0 <= due <= 300 for due in due_s)
    found = backlog.asked_beside(ready, due_s, LEAD_S)
    assert min(backlog.asked, float(ready + timely)) <= max(found, 20.0) <= max(backlog.asked, 20.0)


def test_a_replica_is_as_old_as_the_floors_that_asked_for_it() -> None:
    stood = ((900.0, 12), (400.0, 15), (100.0, 18))
    assert dues_s(12, 6, stood, LEAD_S) == (200.0, 200.0, 200.0, 500.0, 500.0, 500.0)
    assert dues_s(11, 2, stood, LEAD_S) == (-300.0, 200.0)


def test_replicas_that_the_autoscaler_asked_for_are_of_unknown_age() -> None:
    assert dues_s(12, 6, ((400.0, 14),), LEAD_S) == (200.0, 200.0)
    assert dues_s(12, 6, (), LEAD_S) == ()


def test_a_floor_that_was_lowered_in_between_asked_anew() -> None:
    assert dues_s(10, 2, ((900.0, 12), (500.0, 10), (60.0, 12)), LEAD_S) == (540.0, 540.0)


def test_a_single_broken_replica_is_no_shortage() -> None:
    assert not are_stuck((-100.0,), 3)
    assert are_stuck((-100.0, -100.0, 50.0), 3)
    assert not are_stuck((-100.0,) * 4, 50)


def queued(depth: float) -> Look:
    calm = plan_of([100.0] * 12)
    assert calm.demand is not None
    live = (live_of([200.0] * 30), live_of([depth] * 30, signal=Signal.QUEUE_DEPTH))
    return look(Observation(at=NOW, live=live), (calm.demand,), pool_of(), Policy())


def fleet(ready: int, pending: int) -> Seen:
    return replace(seen_of(floor=30), ready=ready, pending=pending)


def test_a_decision_counts_what_its_floors_have_asked_for_already() -> None:
    calm, found = plan_of([100.0] * 12), queued(900.0)
    asked = guard(case_of(calm, found, seen=fleet(10, 0)))
    assert (asked.floor, asked.reasons[-1].code) == (38, Code.QUEUE_DRAIN)
    nine_minutes_ago = (decided(30, at=NOW - timedelta(minutes=9)),)
    beside = guard(case_of(calm, found, seen=fleet(10, 20), recent=nine_minutes_ago))
    assert (beside.floor, beside.reasons[-1].code) == (30, Code.PENDING_COUNTED)
    assert beside.reasons[-1].detail == "20 pending replicas serve the backlog in time: 30 are enough"


def test_a_backlog_does_not_raise_a_floor_whose_replicas_do_not_come() -> None:
    calm, found = plan_of([100.0] * 12), queued(3_000.0)
    long_ago = (decided(30, at=NOW - timedelta(minutes=25)),)
    stuck = guard(case_of(calm, found, seen=fleet(10, 20), recent=long_ago))
    assert (stuck.floor, stuck.reasons[-1].code) == (30, Code.PENDING_COUNTED)
    assert "overdue" in stuck.reasons[-1].detail


def test_a_target_that_says_nothing_of_its_replicas_gets_the_whole_of_the_backlog() -> None:
    assert guard(case_of(plan_of([100.0] * 12), queued(900.0), recent=(decided(30, at=NOW - timedelta(minutes=6)),))).floor == 38

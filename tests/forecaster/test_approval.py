from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from forecaster.approval import PlanState, active_approvals, in_force, inherited_from, override_of, paused_by
from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.plan import Plan
from forecaster.workload import Mode, Policy
from tests.values import NOW, plan_of

HOUR = timedelta(hours=1)
REVIEW = Policy(mode=Mode.REVIEW)
AUTO = Policy(mode=Mode.AUTO)


def ruled(kind: RulingKind, plan: Plan | None = None, *, at: datetime = NOW, until: datetime | None = None, **more: object) -> Ruling:
    plan_id = plan.id if plan is not None else None
    return Ruling(at=at, workload="chat", kind=kind, author="ada", reason="because", until=until, plan_id=plan_id, **more)  # type: ignore[arg-type]


def issued(load: float, minutes_ago: int) -> Plan:
    at = NOW - timedelta(minutes=minutes_ago)
    return plan_of([load] * 48, start=NOW - timedelta(hours=2), issued_at=at)


def test_the_newest_plan_is_followed_in_auto_and_observe_and_an_unapproved_one_never_in_review() -> None:
    older, newer = issued(100, 60), issued(200, 5)
    for mode in (Mode.AUTO, Mode.OBSERVE):
        assert in_force((older, newer), (), (), Policy(mode=mode), NOW).plan is newer
    waiting = in_force((older, newer), (), (), REVIEW, NOW)
    assert (waiting.state, waiting.plan, waiting.waiting) == (PlanState.AWAITS_APPROVAL, None, newer)


def test_an_approved_plan_is_followed_while_a_newer_one_waits() -> None:
    older, newer = issued(100, 60), issued(200, 5)
    found = in_force((older, newer), (older,), (ruled(RulingKind.APPROVE, older),), REVIEW, NOW)
    assert (found.state, found.plan, found.waiting) == (PlanState.FRESH, older, newer)


def test_an_approval_that_has_ended_is_no_approval() -> None:
    plan = issued(100, 60)
    ended = ruled(RulingKind.APPROVE, plan, at=NOW - HOUR, until=NOW)
    assert in_force((plan,), (), (ended,), REVIEW, NOW).plan is None
    assert active_approvals((ended,), NOW) == ()


def test_a_held_plan_is_followed_once_it_is_approved_even_in_auto() -> None:
    held = replace(issued(900, 5), held=True)
    assert in_force((held,), (), (), AUTO, NOW).plan is None
    assert in_force((held,), (), (ruled(RulingKind.APPROVE, held),), AUTO, NOW).plan is held


def test_the_last_word_on_a_plan_counts() -> None:
    plan = issued(100, 5)
    words = (ruled(RulingKind.APPROVE, plan, at=NOW - HOUR), ruled(RulingKind.REJECT, plan))
    assert in_force((plan,), (), words, REVIEW, NOW).plan is None
    assert in_force((plan,), (), words[::-1], REVIEW, NOW).plan is plan


def test_nothing_said_or_planned_later_counts() -> None:
    plan = issued(100, -5)
    assert in_force((plan,), (), (), AUTO, NOW).state is PlanState.MISSING
    assert paused_by((ruled(RulingKind.PAUSE, at=NOW + HOUR, paused=Paused.HOLD),), NOW) is None


@pytest.mark.parametrize(("load", "inherits"), [(100.0, True), (109.0, True), (90.0, True), (250.0, False), (10.0, False)])
def test_a_plan_within_the_tolerance_inherits(load: float, inherits: bool) -> None:
    assert inherited_from(issued(load, 0), issued(100, 60), 0.1, NOW) is inherits


def test_one_replica_is_always_within_the_tolerance() -> None:
    assert inherited_from(issued(20, 0), issued(10, 60), 0.0, NOW)
    assert not inherited_from(issued(30, 0), issued(10, 60), 0.0, NOW)


def test_a_pause_and_an_override_hold_until_they_end_or_are_taken_back() -> None:
    pause = ruled(RulingKind.PAUSE, at=NOW - HOUR, paused=Paused.HOLD)
    override = ruled(RulingKind.OVERRIDE, at=NOW - HOUR, until=NOW + HOUR, replicas=9)
    assert paused_by((pause, override), NOW) is Paused.HOLD
    assert override_of((pause, override), NOW) == override
    assert override_of((override,), NOW + HOUR) is None
    assert paused_by((pause, ruled(RulingKind.RESUME)), NOW) is None
    assert override_of((override, ruled(RulingKind.CLEAR)), NOW) is None

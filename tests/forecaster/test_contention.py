"""A floor that somebody else writes as well: theirs is kept where it is higher, ours written again where it is lower, a few times."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.contention import REASSERTIONS
from forecaster.decision import Action, Decision, Seen
from forecaster.guard import guard
from forecaster.reasons import ALERTS, Code
from tests.values import NOW, case_of, decided, look_of, plan_of, seen_of

MINUTE = timedelta(minutes=1)
REMEDY = "ignore /spec/minReplicas in the Application"


def undone(floor: int) -> Seen:
    return replace(seen_of(floor=floor, writer="argocd-controller"), remedy=REMEDY)


def round_of(past: tuple[Decision, ...], floor: int, *, minute: int = 0) -> Decision:
    case = case_of(plan_of([80.0] * 36), look_of(7.0, at=NOW + minute * MINUTE), seen=undone(floor), past=past, recent=past[-1:])
    return guard(case)


def codes(decision: Decision) -> list[Code]:
    return [reason.code for reason in decision.reasons]


def test_a_higher_value_is_kept_and_its_writer_named_with_what_to_change() -> None:
    decision = round_of((decided(8, at=NOW - MINUTE),), 12)
    assert (decision.action, decision.floor) == (Action.SET, 12)
    assert Code.REASSERTED not in codes(decision)
    assert any("argocd-controller" in reason.detail and REMEDY in reason.detail for reason in decision.alerts)


def test_k34_a_lower_value_is_written_over_five_times_an_hour_and_then_left_with_the_remedy() -> None:
    past: tuple[Decision, ...] = (decided(8, at=NOW - MINUTE),)
    for minute in range(REASSERTIONS):
        decision = round_of(past, 3, minute=minute)
        assert (decision.action, decision.floor) == (Action.SET, 8)
        assert Code.REASSERTED in codes(decision)
        past = (*past, decision)
    last = round_of(past, 3, minute=REASSERTIONS)
    assert (last.action, last.floor) == (Action.LEAVE, 3)
    assert last.reasons[-1].code is Code.LET_GO
    assert REMEDY in last.reasons[-1].detail
    assert Code.LET_GO in ALERTS


def test_an_hour_later_the_field_is_tried_again() -> None:
    past: tuple[Decision, ...] = (decided(8, at=NOW - MINUTE),)
    for minute in range(60):
        past = (*past, round_of(past, 3, minute=minute))
    assert [decision.action for decision in past[1:]] == [Action.SET] * REASSERTIONS + [Action.LEAVE] * (60 - REASSERTIONS)
    assert "5 times within the hour" in past[-1].reasons[-1].detail
    assert round_of(past, 3, minute=61).action is Action.SET


@pytest.mark.parametrize("floor", [8, 20])
def test_a_value_that_is_no_lower_is_never_fought_over(floor: int) -> None:
    past: tuple[Decision, ...] = (decided(8, at=NOW - MINUTE),)
    for minute in range(2 * REASSERTIONS):
        decision = round_of(past, floor, minute=minute)
        assert decision.action is Action.SET
        past = (*past, decision)


def shared(floor: int, left: Decision, *, until: timedelta) -> Decision:
    """A round after another installation set `floor` with marks of its own."""
    seen = replace(seen_of(floor=floor), valid_until=left.valid_until + until)
    return guard(case_of(plan_of([80.0] * 36), look_of(7.0), seen=seen, past=(left,), recent=(left,), left=left))


@pytest.mark.parametrize(("floor", "again"), [(3, True), (12, False)])
def test_another_installation_on_the_object_is_told_by_the_marks_that_are_not_the_ones_we_left(floor: int, again: bool) -> None:
    decision = shared(floor, decided(8, at=NOW - MINUTE), until=timedelta(minutes=7))
    (told,) = (reason for reason in decision.reasons if reason.code is Code.SECOND_WRITER)
    assert "another Forecaster also writes the floor" in told.detail
    assert "in the configuration of one installation only" in told.detail
    assert (Code.REASSERTED in codes(decision)) is again
    assert decision.floor == max(8, floor)


def test_our_own_marks_are_nobody_elses_whatever_the_floor() -> None:
    left = decided(8, at=NOW - MINUTE)
    for floor in (3, 8):
        assert Code.SECOND_WRITER not in codes(shared(floor, left, until=timedelta(0)))


def test_of_two_installations_that_want_the_same_one_holds_the_object_and_neither_renews_its_marks_over_the_others() -> None:
    left = decided(8, at=NOW - MINUTE)
    equal = shared(8, left, until=timedelta(minutes=7))
    assert (equal.action, equal.floor, codes(equal)[-1]) == (Action.LEAVE, 8, Code.YIELDED)
    (told,) = (reason for reason in equal.alerts if reason.code is Code.SECOND_WRITER)
    assert "another Forecaster also writes the floor" in told.detail


def test_an_expiry_that_was_ours_lately_is_no_other_installations() -> None:
    before, left = decided(8, at=NOW - 2 * MINUTE), decided(8, at=NOW - MINUTE)
    cut_short = plan_of([80.0] * 36)
    for expiry in (before.valid_until - 5 * MINUTE, cut_short.valid_until + 5 * MINUTE):
        older = replace(before, valid_until=before.valid_until - 5 * MINUTE)
        issued = (replace(cut_short, valid_until=cut_short.valid_until + 5 * MINUTE),)
        seen = replace(seen_of(floor=8), valid_until=expiry)
        case = case_of(plan_of([80.0] * 36), look_of(7.0), seen=seen, past=(older, left), recent=(left,), left=left)
        assert Code.SECOND_WRITER not in codes(guard(replace(case, issued=issued)))


def test_l31_another_forecaster_that_asks_for_more_is_left_the_object_and_one_that_asks_for_less_is_not() -> None:
    left, later = decided(8, at=NOW - MINUTE), timedelta(minutes=7)
    higher, lower = shared(12, left, until=later), shared(3, left, until=later)
    assert (higher.action, higher.floor, codes(higher)[-1]) == (Action.LEAVE, 12, Code.YIELDED)
    assert (lower.action, lower.floor) == (Action.SET, 8)


def test_an_object_that_was_left_to_another_forecaster_stays_so_until_it_asks_for_less_or_is_dead() -> None:
    yielded = shared(12, decided(8, at=NOW - MINUTE), until=timedelta(minutes=7))
    again, less = (shared(floor, yielded, until=timedelta(minutes=7)) for floor in (12, 6))
    assert (again.action, again.floor, less.action, less.floor) == (Action.LEAVE, 12, Action.SET, 8)
    dead = shared(12, yielded, until=NOW - yielded.valid_until)
    assert (dead.action, dead.floor) == (Action.SET, 8)

"""Jitter around a whole number moves a floor up once; no raise ever waits, and a need that rests is followed within the hour."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.approval import PlanState
from forecaster.decision import Decision
from forecaster.guard import guard
from forecaster.reasons import Code
from forecaster.units import whole_replicas
from forecaster.workload import Policy
from tests.values import NOW, case_of, decided, look_of, plan_of, seen_of

EAGER = Policy(hold_s=0.0, minimum=0, allow_below_original=True)
needs = st.floats(0, 60)
lasts = st.integers(0, 60)
ages_min = st.integers(1, 200)


def after(last: int, need: float, *, minutes: float = 20, policy: Policy = EAGER) -> Decision:
    """The decision for a planned need where a floor has stood for so long."""
    stood = decided(last, at=NOW - timedelta(minutes=minutes))
    return guard(case_of(plan_of([need * 10.0] * 12, policy), look_of(0.0), policy=policy, recent=(stood,)))


@pytest.mark.parametrize(
    ("last", "need", "floor"), [(6, 6.03, 7), (7, 5.97, 7), (7, 5.85, 6), (10, 5.97, 6), (1, 0.0, 0), (7, 6.0, 7), (6, 5.97, 6)]
)
def test_the_table_of_the_guard_is_what_happens(last: int, need: float, floor: int) -> None:
    assert after(last, need).floor == floor


def test_the_reason_says_how_close_it_was() -> None:
    kept = after(7, 5.97).reasons[-1]
    assert (kept.code, kept.before, kept.after) == (Code.DEAD_BAND, 6, 7)
    assert kept.detail == "5.97 are needed, too close to more than 6 for a lowering"


def test_a_need_that_rests_below_a_whole_number_is_followed_after_an_hour() -> None:
    assert [after(7, 5.97, minutes=minutes).floor for minutes in (59, 60)] == [7, 6]


def test_a_floor_that_was_found_and_not_set_by_us_is_not_kept() -> None:
    assert guard(case_of(plan_of([59.7] * 12, EAGER), look_of(0.0), policy=EAGER, seen=seen_of(floor=7, original=0))).floor == 6


def test_windows_bounds_and_plans_that_are_not_followed_move_at_once() -> None:
    least = replace(EAGER, minimum=6)
    assert after(7, 5.2, policy=least).floor == 6
    stale = case_of(None, look_of(5.97), policy=EAGER, state=PlanState.STALE, recent=(decided(7, at=NOW - timedelta(minutes=20)),))
    assert guard(stale).floor == 6


@given(lasts, needs, ages_min)
def test_a_raise_never_waits_and_at_most_one_replica_is_kept(last: int, need: float, minutes: int) -> None:
    asked = whole_replicas(need)
    found = after(last, need, minutes=minutes).floor
    assert found in {asked, asked + 1}
    assert found in {asked, last}


@given(lasts, needs, needs, ages_min)
def test_promise_4_a_higher_need_never_gives_a_lower_floor(last: int, need: float, more: float, minutes: int) -> None:
    assert after(last, need + more, minutes=minutes).floor >= after(last, need, minutes=minutes).floor


@pytest.mark.parametrize(("minutes", "raised"), [(0.5, 1), (1, 2), (5, 10), (600, 10)])
def test_what_five_minutes_left_unused_of_a_quota_adds_up_and_no_more(minutes: float, raised: int) -> None:
    policy = replace(EAGER, raise_per_min=2.0, lower_per_min=2.0)
    assert after(20, 50.5, minutes=minutes, policy=policy).floor == 20 + raised
    assert after(20, 1.5, minutes=minutes, policy=policy).floor == 20 - raised


def test_a_quota_of_less_than_one_in_five_minutes_is_earned_in_full() -> None:
    policy = replace(EAGER, raise_per_min=0.1)
    assert [after(20, 50.5, minutes=minutes, policy=policy).floor for minutes in (9, 10, 100)] == [20, 21, 21]

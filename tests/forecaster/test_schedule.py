"""The coming floors as a schedule that is carried out without us."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from forecaster.decision import Action, Decision, Seen
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.schedule import Step, schedule_of
from forecaster.workload import Policy
from tests.values import NOW

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
BINDS = Reason(code=Code.SIGNAL_BINDS, detail="rpm")
AT_ONCE = Policy(hold_s=0)


def plan_of(*replicas: int, every: timedelta = HOUR) -> Plan:
    floors = [Floor(start=NOW + i * every, until=NOW + (i + 1) * every, replicas=count, reason=BINDS) for i, count in enumerate(replicas)]
    return Plan(workload="llm", pool="main", issued_at=NOW, valid_until=floors[-1].until, floors=tuple(floors), demand=None)


def decision_of(plan: Plan | None, floor: int, *, action: Action = Action.SET, code: Code = Code.PLAN_FOLLOWED) -> Decision:
    return Decision(
        at=NOW,
        workload="llm",
        pool="main",
        target="asg:gpu@eu-west-1",
        action=action,
        floor=floor,
        wanted=floor,
        last=None,
        since=NOW,
        valid_until=plan.valid_until if plan is not None else NOW + 2 * HOUR,
        plan_id=plan.id if plan is not None else None,
        reasons=(Reason(code=code, detail="why"),),
    )


def seen(*, original: int = 2, ceiling: int | None = 20) -> Seen:
    return Seen(target="asg:gpu@eu-west-1", at=NOW, floor=2, ceiling=ceiling, original=original, ready=2, pending=0, version="1")


def told(steps: tuple[Step, ...]) -> list[tuple[timedelta, int]]:
    return [(step.start - NOW, step.replicas) for step in steps]


def test_each_change_of_the_plan_is_a_step_and_the_last_restores_the_original() -> None:
    plan = plan_of(4, 8, 8, 3)
    assert told(schedule_of(decision_of(plan, 4), plan, AT_ONCE, seen())) == [(1 * HOUR, 8), (3 * HOUR, 3), (4 * HOUR, 2)]


def test_a_step_down_waits_for_the_hold_as_a_guarded_floor_does() -> None:
    plan = plan_of(8, 3, 8)
    steps = schedule_of(decision_of(plan, 8), plan, Policy(hold_s=600), seen())
    assert told(steps) == [(70 * MINUTE, 3), (2 * HOUR, 8), (3 * HOUR, 2)]


def test_a_dip_shorter_than_the_hold_is_no_step() -> None:
    plan = plan_of(8, 3, 8, every=5 * MINUTE)
    assert told(schedule_of(decision_of(plan, 8), plan, Policy(hold_s=600), seen())) == [(15 * MINUTE, 2)]


def test_what_comes_first_is_asked_earlier_and_given_back_no_earlier() -> None:
    plan = plan_of(4, 8, 4, 4)
    steps = schedule_of(decision_of(plan, 4), plan, AT_ONCE, seen(), ahead_s=900)
    assert told(steps) == [(45 * MINUTE, 8), (2 * HOUR, 4), (4 * HOUR, 2)]


def test_a_floor_that_live_load_holds_up_stays_until_the_plan_moves() -> None:
    plan = plan_of(4, 6, 3)
    steps = schedule_of(decision_of(plan, 9, code=Code.LIVE_ABOVE_PLAN), plan, AT_ONCE, seen())
    assert told(steps) == [(1 * HOUR, 6), (2 * HOUR, 3), (3 * HOUR, 2)]


def test_steps_keep_the_bounds() -> None:
    plan = plan_of(4, 50, 1)
    steps = schedule_of(decision_of(plan, 4), plan, Policy(hold_s=0, minimum=3, maximum=30), seen(ceiling=20))
    assert told(steps) == [(1 * HOUR, 20), (2 * HOUR, 3), (3 * HOUR, 2)]


def test_an_override_and_a_lost_plan_leave_the_restoring_step_alone() -> None:
    plan = plan_of(4, 8)
    overridden = decision_of(plan, 12, code=Code.OVERRIDDEN)
    assert told(schedule_of(overridden, plan, AT_ONCE, seen())) == [(2 * HOUR, 2)]
    assert told(schedule_of(decision_of(None, 4, code=Code.PLAN_MISSING), None, AT_ONCE, seen())) == [(2 * HOUR, 2)]
    assert told(schedule_of(decision_of(None, 4, code=Code.PLAN_STALE), plan, AT_ONCE, seen())) == [(2 * HOUR, 2)]


def test_a_pause_takes_the_schedule_away() -> None:
    plan = plan_of(4, 8)
    for action in (Action.LEAVE, Action.RELEASE):
        assert schedule_of(decision_of(plan, 4, action=action, code=Code.PAUSED), plan, AT_ONCE, seen()) == ()


@given(replicas=st.lists(st.integers(0, 30), min_size=1, max_size=40), hold_s=st.integers(0, 3600), ahead_s=st.integers(0, 3600))
def test_at_no_instant_less_is_scheduled_than_planned_and_the_end_is_always_the_original(
    replicas: list[int], hold_s: int, ahead_s: int
) -> None:
    plan = plan_of(*replicas, every=5 * MINUTE)
    now = max(floor.replicas for floor in plan.floors if floor.start <= NOW + timedelta(seconds=ahead_s))
    policy = Policy(hold_s=hold_s, allow_below_original=True, minimum=0)
    steps = schedule_of(decision_of(plan, now), plan, policy, seen(ceiling=None), ahead_s=ahead_s)
    assert [step.start for step in steps] == sorted({step.start for step in steps})
    assert steps[-1] == Step(start=plan.valid_until, replicas=2)
    for floor in plan.floors[1:]:
        stands = next((step.replicas for step in reversed(steps) if step.start <= floor.start), now)
        assert stands >= floor.replicas

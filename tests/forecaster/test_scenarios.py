"""Faults that users of autoscalers met, on what is known and who may speak: docs/scenarios.md says who reported each."""

from dataclasses import replace
from datetime import timedelta

from forecaster.approval import InForce, PlanState, in_force
from forecaster.correct import correct
from forecaster.decision import Action, Paused, Ruling, RulingKind
from forecaster.guard import guard
from forecaster.reasons import Code
from forecaster.workload import Mode, Policy
from tests.forecaster.replayed import codes, follow
from tests.values import NOW, case_of, decided, look_of, looked, plan_of, seen_of

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
EAGER = Policy(hold_s=0.0)


def test_k01_an_empty_answer_holds_the_last_floor() -> None:
    quiet = plan_of([20.0] * 12)
    found = looked([float("nan")] * 30, quiet)
    decision = guard(case_of(quiet, found, recent=(decided(17, at=NOW - HOUR),)))
    assert decision.floor == 17
    assert Code.LOAD_UNKNOWN in codes(decision)


def test_k02_partial_data_after_an_outage_does_not_dip_the_floor() -> None:
    busy = plan_of([170.0] * 12)
    back = [float("nan")] * 25 + [3.0, 5.0]  # the first values after an outage are low
    decision = guard(case_of(busy, looked(back, busy), recent=(decided(17, at=NOW - HOUR),)))
    assert decision.floor == 17


def test_k03_a_source_that_never_answered_is_unknown_and_gives_the_fallback() -> None:
    case = case_of(None, look_of(None), policy=Policy(fallback=6), seen=seen_of(floor=2, original=2))
    decision = guard(case)
    assert decision.floor == 6
    assert {Code.LOAD_UNKNOWN, Code.PLAN_MISSING} <= codes(decision)


def test_k30_a_stale_plan_decays_to_the_baseline_with_an_alert() -> None:
    old = plan_of([500.0] * 12, Policy(expiry_s=600))
    now = NOW + timedelta(minutes=30)
    found = in_force((old,), (), (), Policy(mode=Mode.AUTO), now)
    assert found.state is PlanState.STALE
    quiet = replace(look_of(3.0), at=now)
    case = replace(case_of(None, quiet, policy=Policy(fallback=8)), in_force=found, recent=(decided(50, at=NOW - HOUR),))
    held = guard(case)
    assert held.floor == 50  # held for the hold span
    released = guard(replace(case, policy=replace(case.policy, hold_s=0.0), recent=()))
    assert released.floor == 8
    assert Code.PLAN_STALE in {reason.code for reason in released.alerts}


def test_k46_a_pause_keeps_what_stands_beats_everything_and_a_resume_replans() -> None:
    made = plan_of([300.0] * 12)
    pause = Ruling(at=NOW - HOUR, workload="chat", kind=RulingKind.PAUSE, author="ada", reason="incident", paused=Paused.HOLD)
    override = Ruling(at=NOW - HOUR, workload="chat", kind=RulingKind.OVERRIDE, author="ada", reason="launch", replicas=50)
    case = case_of(made, look_of(90.0), seen=seen_of(floor=7), rulings=(override, pause))
    paused = guard(case)
    assert (paused.action, paused.floor) == (Action.LEAVE, 7)
    resume = Ruling(at=NOW - MINUTE, workload="chat", kind=RulingKind.RESUME, author="ada", reason="over")
    assert guard(replace(case, rulings=(pause, resume))).floor == 90


def test_k46_an_override_replaces_the_plan_until_it_ends_and_live_load_may_still_raise_it() -> None:
    made = plan_of([300.0] * 12)
    override = Ruling(
        at=NOW - HOUR, workload="chat", kind=RulingKind.OVERRIDE, author="ada", reason="launch", replicas=12, until=NOW + HOUR
    )
    case = case_of(made, look_of(5.0), rulings=(override,), policy=EAGER)
    assert guard(case).floor == 12
    busy = replace(case, correction=correct(made, look_of(20.0), EAGER))
    assert guard(busy).floor == 20
    assert guard(replace(case, rulings=(replace(override, until=NOW),))).floor == 30


def test_an_override_is_obeyed_and_taken_back_at_once() -> None:
    made = plan_of([100.0] * 12)
    typo = Ruling(at=NOW - HOUR, workload="chat", kind=RulingKind.OVERRIDE, author="ada", reason="typo", replicas=90)
    case = case_of(made, look_of(5.0), rulings=(typo,), recent=(decided(10, at=NOW - HOUR),))
    high = guard(case)
    mended = replace(typo, at=NOW - MINUTE, replicas=12)
    lower = guard(replace(case, rulings=(typo, mended), recent=(*case.recent, high)))
    cleared = Ruling(at=NOW - MINUTE, workload="chat", kind=RulingKind.CLEAR, author="ada", reason="over")
    assert (high.floor, lower.floor, guard(replace(case, rulings=(typo, cleared), recent=(high,))).floor) == (90, 12, 10)


def test_k52_the_fallback_is_the_larger_of_last_floor_and_static_and_does_not_oscillate() -> None:
    policy = Policy(fallback=8, hold_s=0.0)
    case = case_of(None, look_of(None), policy=policy, seen=seen_of(floor=12))
    floors = [d.floor for d in follow(replace(case, recent=(decided(12, at=NOW - HOUR),)), [None] * 10, None, policy)]
    assert floors[1:] == [12] * 9 or floors == [12] * 10


def test_l02_unknown_load_never_plans_for_zero_and_still_enforces_the_minimum() -> None:
    decision = guard(case_of(None, look_of(None), policy=Policy(minimum=4), seen=seen_of(floor=0, original=0)))
    assert decision.floor == 4


def test_l35_a_late_job_applies_at_once() -> None:
    late = plan_of([300.0] * 12, start=NOW - timedelta(minutes=25), issued_at=NOW - timedelta(minutes=1))
    assert guard(case_of(late, look_of(5.0), seen=seen_of(floor=2))).floor == 30


def test_l36_a_plan_is_not_followed_past_its_end() -> None:
    short = plan_of([300.0] * 6, Policy(expiry_s=300))
    assert in_force((short,), (), (), EAGER, NOW + timedelta(minutes=4)).plan is short
    assert in_force((short,), (), (), EAGER, NOW + timedelta(minutes=5)).plan is None


def test_l37_a_target_at_zero_has_no_load_metric_and_gets_the_plan() -> None:
    policy = Policy(minimum=0, allow_below_original=True)
    made = plan_of([40.0] * 12, policy)
    decision = guard(case_of(made, look_of(None), policy=policy, seen=seen_of(floor=0, original=0)))
    assert decision.floor == 4


def test_l44_without_a_forecast_live_load_alone_is_safe() -> None:
    decision = guard(case_of(None, look_of(9.0), seen=seen_of(floor=2)))
    assert decision.floor == 9
    assert Code.PLAN_MISSING in codes(decision)


def test_l31_a_second_writer_is_named_its_higher_floor_kept_and_its_lower_one_raised() -> None:
    made = plan_of([100.0] * 12)
    higher = guard(case_of(made, look_of(5.0), seen=seen_of(floor=50, writer="kubectl-edit")))
    lower = guard(case_of(made, look_of(5.0), seen=seen_of(floor=2, writer="argocd-controller")))
    assert (higher.floor, lower.floor) == (50, 10)
    assert all("also writes the floor" in decision.alerts[0].detail for decision in (higher, lower))


def test_a_review_that_waits_holds_the_last_approved_floor_of_the_same_weekday_and_time() -> None:
    policy = Policy(mode=Mode.REVIEW, expiry_s=3_600)
    week_ago = plan_of([150.0] * 12, policy, start=NOW - timedelta(days=7))
    today = plan_of([900.0] * 12, policy)
    approval = Ruling(at=week_ago.issued_at, workload="chat", kind=RulingKind.APPROVE, author="ada", reason="ok", plan_id=week_ago.id)
    found = in_force((week_ago, today), (week_ago,), (approval,), policy, NOW)
    assert (found.state, found.waiting, found.standing) == (PlanState.AWAITS_APPROVAL, today, 15)
    waiting = guard(replace(case_of(None, look_of(3.0), policy=policy), in_force=found))
    assert waiting.floor == 15
    busy = guard(replace(case_of(None, look_of(40.0), policy=policy), in_force=found))
    assert busy.floor == 40


def test_unknown_load_with_a_fresh_plan_still_raises_for_the_ramp() -> None:
    ramp = plan_of([300.0] * 12)
    decision = guard(case_of(ramp, look_of(None), recent=(decided(8, at=NOW - HOUR),)))
    assert decision.floor == 30
    assert decision.reasons[0].detail == "rpm unknown: at least the last floor 8, the plan's 30 and the fallback 2"
    assert (
        guard(replace(case_of(ramp, look_of(None)), in_force=InForce(state=PlanState.FRESH, plan=ramp, waiting=None, standing=None))).floor
        == 30
    )

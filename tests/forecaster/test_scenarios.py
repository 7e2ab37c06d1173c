"""Faults that users of autoscalers met, on the decision: docs/scenarios.md says who reported each."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.approval import InForce, PlanState, in_force
from forecaster.calendar import FloorWindow
from forecaster.correct import correct, look
from forecaster.decision import Action, Decision, Observation, Paused, Ruling, RulingKind
from forecaster.guard import Case, guard
from forecaster.plan import Plan, plan
from forecaster.reasons import Code
from forecaster.series import Signal
from forecaster.units import whole_replicas
from forecaster.workload import Mode, Policy, Shape
from tests.values import NOW, case_of, decided, demand_of, live_of, look_of, looked, peak_of, plan_of, pool_of, seen_of, workload_of

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
EAGER = Policy(hold_s=0.0)


def codes(decision: Decision) -> set[Code]:
    return {reason.code for reason in decision.reasons}


def follow(case: Case, loads_rpm: list[float | None], the_plan: Plan | None, policy: Policy) -> list[Decision]:
    """One decision a minute, each seeing those before it, as the apply job does."""
    decisions: list[Decision] = []
    for i, load in enumerate(loads_rpm):
        now = NOW + i * MINUTE
        found = replace(look_of(None if load is None else load / 10), at=now)
        before = [*case.recent, *decisions]
        inside = [d for d in before if (now - d.at).total_seconds() <= policy.hold_s]
        recent = tuple(before[max(0, len(before) - len(inside) - 1) :])  # led by the last one before the span
        step = replace(case, now=now, correction=correct(the_plan, found, policy), recent=recent, policy=policy)
        decisions.append(guard(step))
    return decisions


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


def test_k19_more_forecast_load_means_more_replicas() -> None:
    floors = [plan_of([load]).floors[0].replicas for load in (50.0, 100.0, 200.0)]
    assert floors == [5, 10, 20]


def test_k20_fractional_replicas_round_up() -> None:
    assert plan_of([100.1]).floors[0].replicas == 11


def test_k23_a_floor_above_the_ceiling_is_clamped_alerted_and_comes_back_down() -> None:
    surge, calm = plan_of([900.0] * 12), plan_of([50.0] * 12)
    seen = seen_of(ceiling=40)
    high = guard(case_of(surge, look_of(4.0), seen=seen, policy=EAGER))
    assert high.floor == 40
    assert [reason.code for reason in high.alerts] == [Code.CEILING_BELOW_FLOOR]
    low = guard(case_of(calm, look_of(4.0), seen=replace(seen, floor=40), policy=EAGER, recent=(high,)))
    assert low.floor == 5


def test_k24_a_minimum_above_the_maximum_is_refused() -> None:
    with pytest.raises(ValueError, match=r"policy\.minimum must not be above policy\.maximum, got 9 and 3"):
        Policy(minimum=9, maximum=3)


def test_k25_a_window_that_starts_when_it_ends_is_refused_and_overlaps_take_the_larger() -> None:
    with pytest.raises(ValueError, match=r"window\.from and window\.to must differ"):
        FloorWindow(days=frozenset({0}), start_min=480, end_min=480, zone="UTC", min_replicas=3)
    windows = tuple(
        FloorWindow(days=frozenset(range(7)), start_min=start, end_min=end, zone="UTC", min_replicas=replicas)
        for start, end, replicas in ((480, 540, 9), (500, 600, 7))
    )
    made = plan_of([10.0] * 36, Policy(windows=windows))
    at = {minute: made.floor_at(NOW + minute * MINUTE) for minute in (0, 30, 60, 119, 120)}
    assert [floor.replicas if floor else None for floor in at.values()] == [9, 9, 7, 7, 1]


def test_k26_the_last_small_step_of_a_ramp_is_written() -> None:
    ten_percent_more = guard(case_of(plan_of([110.0] * 12), look_of(8.0), seen=seen_of(floor=10), recent=(decided(10, at=NOW - HOUR),)))
    assert ten_percent_more.floor == 11


def test_k27_a_ramp_goes_in_steps_and_does_not_flap() -> None:
    policy = Policy(raise_per_min=5, hold_s=600)
    ramp = plan_of([500.0] * 12, policy)
    case = case_of(ramp, look_of(5.0), policy=policy, seen=seen_of(floor=5))
    floors = [d.floor for d in follow(case, [50.0] * 12, ramp, policy)]
    assert floors == [10, 15, 20, 25, 30, 35, 40, 45, 50, 50, 50, 50]


def test_k28_the_lead_time_leaves_no_gap_and_no_overlap_at_midnight() -> None:
    start = NOW.replace(hour=23, minute=30)
    made = plan_of([100.0, 200.0, 300.0, 400.0] * 6, start=start)
    assert all(a.until == b.start for a, b in zip(made.floors, made.floors[1:], strict=False))
    assert made.floor_at(start.replace(hour=23, minute=59)) is not None
    assert made.floor_at(start.replace(hour=23, minute=59) + MINUTE) is not None


def test_k29_a_floor_of_zero_is_a_value() -> None:
    policy = Policy(minimum=0, allow_below_original=True, hold_s=0.0)
    decision = guard(case_of(plan_of([0.0] * 12), look_of(0.0), policy=policy, seen=seen_of(floor=3, original=3)))
    assert (decision.action, decision.floor) == (Action.SET, 0)


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


def test_k31_live_load_above_the_plan_wins_and_a_floor_far_too_high_decays_after_hours() -> None:
    policy = Policy(hold_s=0.0)
    made = plan_of([400.0] * 72, policy, start=NOW - 5 * HOUR)
    assert correct(made, looked([700.0] * 30, made), policy).floor >= 70
    lull = looked([40.0] * 240, made)
    assert correct(made, lull, policy).floor == 4
    lunch = looked([400.0] * 180 + [40.0] * 60, made)
    assert correct(made, lunch, policy).floor == 40


def test_k32_the_floor_of_a_window_is_released_at_its_end() -> None:
    policy = Policy(windows=(FloorWindow(days=frozenset(range(7)), start_min=420, end_min=485, zone="UTC", min_replicas=12),), hold_s=0.0)
    made = plan_of([10.0] * 24, policy)
    inside = guard(case_of(made, look_of(1.0), policy=policy))
    after = guard(case_of(made, replace(look_of(1.0), at=NOW + 10 * MINUTE), policy=policy, recent=(inside,)))
    assert (inside.floor, after.floor) == (12, 2)


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


def test_a_broken_capacity_asks_for_no_more_than_a_million_replicas() -> None:
    assert plan_of([1e12]).floors[0].replicas == 1_000_000
    assert whole_replicas(float("inf")) == 1_000_000


def test_k52_the_fallback_is_the_larger_of_last_floor_and_static_and_does_not_oscillate() -> None:
    policy = Policy(fallback=8, hold_s=0.0)
    case = case_of(None, look_of(None), policy=policy, seen=seen_of(floor=12))
    floors = [d.floor for d in follow(replace(case, recent=(decided(12, at=NOW - HOUR),)), [None] * 10, None, policy)]
    assert floors[1:] == [12] * 9 or floors == [12] * 10


def test_l02_unknown_load_never_plans_for_zero_and_still_enforces_the_minimum() -> None:
    decision = guard(case_of(None, look_of(None), policy=Policy(minimum=4), seen=seen_of(floor=0, original=0)))
    assert decision.floor == 4


def test_l19_the_floor_is_absolute_whatever_is_pending() -> None:
    made = plan_of([160.0] * 12)
    for pending in (0, 8, 16):
        assert guard(case_of(made, look_of(10.0), seen=replace(seen_of(floor=16), pending=pending))).floor == 16


def test_l20_the_floor_does_not_depend_on_how_many_replicas_run() -> None:
    made = plan_of([160.0] * 12)
    assert {guard(case_of(made, look_of(10.0), seen=replace(seen_of(), ready=ready))).floor for ready in (0, 5, 50)} == {16}


def test_l21_float_noise_at_a_whole_number_adds_no_replica() -> None:
    assert plan_of([6.04 / 2 * 2 / 0.302]).floors[0].replicas == 2
    assert plan_of([30.0 * (1 + 1e-12)]).floors[0].replicas == 3


def test_l22_one_noisy_minute_does_not_start_the_hold_anew_for_the_fleet() -> None:
    policy = Policy(hold_s=300)
    made = plan_of([100.0] * 12, policy)
    case = case_of(made, look_of(5.0), policy=policy, seen=seen_of(floor=10), recent=(decided(10, at=NOW - HOUR),))
    floors = [d.floor for d in follow(case, [50.0, 50.0, 140.0, *([50.0] * 9)], made, policy)]
    assert floors == [10, 10, 14, 14, 14, 14, 14, 14, 14, 10, 10, 10]


def test_l24_a_ceiling_below_the_minimum_gives_the_ceiling_and_an_alert() -> None:
    decision = guard(case_of(plan_of([10.0] * 12), look_of(1.0), policy=Policy(minimum=9), seen=seen_of(ceiling=5)))
    assert decision.floor == 5
    assert Code.CEILING_BELOW_FLOOR in {reason.code for reason in decision.alerts}


def test_l29_one_decision_raises_by_no_more_than_its_cap() -> None:
    policy = Policy(raise_per_min=3)
    decision = guard(case_of(plan_of([900.0] * 12, policy), look_of(90.0), policy=policy, seen=seen_of(floor=4)))
    assert decision.floor == 7
    assert Code.RAISE_LIMITED in codes(decision)


def test_l32_floors_go_down_gradually_and_never_below_what_is_in_flight() -> None:
    policy = Policy(lower_per_min=2, hold_s=0.0)
    calm = plan_of([20.0] * 60, policy)
    case = case_of(calm, look_of(2.0), policy=policy, seen=seen_of(floor=20), recent=(decided(20, at=NOW - MINUTE),))
    floors = [d.floor for d in follow(case, [20.0] * 6, calm, policy)]
    assert all(0 <= a - b <= 2 for a, b in zip([20, *floors], floors, strict=False))
    pool = pool_of(concurrency=4.0)
    streams = Observation(at=NOW, live=(live_of([20.0] * 30), live_of([26.0] * 30, signal=Signal.CONCURRENCY)))
    assert calm.demand is not None
    found = look(streams, (calm.demand,), pool, EAGER)
    assert guard(replace(case_of(calm, found, policy=EAGER), recent=(decided(20, at=NOW - HOUR),))).floor == 7


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


def test_l41_load_far_above_the_forecast_breaks_the_glass() -> None:
    made = plan_of([100.0] * 12, start=NOW - timedelta(minutes=15))
    found = correct(made, looked([240.0] * 30, made), EAGER)
    assert found.floor == 24  # three times the median forecast of 80
    assert Code.BREAK_GLASS in {reason.code for reason in found.reasons}


def test_l42_a_floor_decays_slowly() -> None:
    made = plan_of([400.0] * 72, EAGER, start=NOW - 5 * HOUR)
    floors = [correct(made, looked([320.0] * (240 - low) + [40.0] * low, made), EAGER).floor for low in (90, 130, 160, 200, 240)]
    assert floors[0] == 40
    assert floors == sorted(floors, reverse=True)
    assert floors[1] >= 36
    assert floors[-1] == 4


def test_l43_a_short_idle_does_not_undercut_the_floor() -> None:
    made = plan_of([200.0] * 12, start=NOW - timedelta(minutes=15))
    assert guard(case_of(made, looked([160.0] * 25 + [0.0] * 5, made), policy=EAGER)).floor == 20


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


def test_a_days_largest_floor_covers_its_peak_in_both_shapes() -> None:
    day = 100 + 80 * np.sin(np.linspace(0, 2 * np.pi, 288))
    for shape in Shape:
        workload = workload_of(Policy(shape=shape))
        demand = demand_of(day)
        demand = replace(demand, peaks=(peak_of(demand, 23.4),))
        made = plan(demand, workload, workload.pools[0], NOW)
        assert max(floor.replicas for floor in made.floors) == 24


def test_the_last_measured_hour_is_carried_along_a_falling_forecast_but_never_up() -> None:
    falling = plan_of([400.0] * 12 + [200.0] * 12, start=NOW - HOUR)
    rising = plan_of([200.0] * 12 + [400.0] * 12, start=NOW - HOUR)
    last_hour = live_of([300.0], until=NOW)
    last_hour = replace(last_hour, start=NOW - HOUR, step_s=3_600)
    needs = []
    for made in (falling, rising):
        assert made.demand is not None
        needs.append(look(Observation(at=NOW, live=(last_hour,)), (made.demand,), pool_of(), EAGER).signals[0].need)
    assert needs == [pytest.approx(15.0, rel=0.01), 30.0]


def test_unknown_load_with_a_fresh_plan_still_raises_for_the_ramp() -> None:
    ramp = plan_of([300.0] * 12)
    decision = guard(case_of(ramp, look_of(None), recent=(decided(8, at=NOW - HOUR),)))
    assert decision.floor == 30
    assert decision.reasons[0].detail == "rpm unknown: at least the last floor 8, the plan's 30 and the fallback 2"
    assert (
        guard(replace(case_of(ramp, look_of(None)), in_force=InForce(state=PlanState.FRESH, plan=ramp, waiting=None, standing=None))).floor
        == 30
    )

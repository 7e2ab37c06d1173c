"""The nine promises of docs/safety.md, each as a property of the real functions."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forecaster.approval import InForce, PlanState, in_force
from forecaster.case import Case
from forecaster.correct import correct
from forecaster.decision import Action, Paused, Ruling, RulingKind
from forecaster.envelope import Envelope, beyond, held, move
from forecaster.guard import bounds_of, guard
from forecaster.nowcast import SPANS_S, Seen
from forecaster.overdue import StandIn
from forecaster.plan import plan
from forecaster.reasons import Code
from forecaster.series import Series, Signal
from forecaster.units import WEEK_S
from forecaster.workload import Mode, Policy, Shape
from tests.forecaster.nowcasts import knowing, nowcasts
from tests.values import (
    NOW,
    case_of,
    decided,
    demand_of,
    look_of,
    looked,
    peak_of,
    plan_of,
    seen_of,
    workload_of,
)

loads = st.lists(st.floats(0, 2_000), min_size=4, max_size=40)
needs = st.one_of(st.none(), st.floats(0, 300))
small = st.integers(0, 60)
deviations = st.tuples(*[st.floats(-7, 7)] * len(SPANS_S))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    least, most = draw(st.one_of(st.none(), small)), draw(st.one_of(st.none(), small))
    assume(least is None or most is None or least <= most)
    return Policy(
        minimum=least,
        maximum=most,
        allow_below_original=draw(st.booleans()),
        fallback=draw(st.one_of(st.none(), small)),
        hold_s=draw(st.sampled_from([0.0, 600.0])),
        raise_per_min=draw(st.one_of(st.none(), st.floats(0.1, 50))),
        lower_per_min=draw(st.one_of(st.none(), st.floats(0.1, 50))),
        shape=draw(st.sampled_from(Shape)),
    )


@st.composite
def cases(draw: st.DrawFn, need: st.SearchStrategy[float | None] = needs) -> Case:
    policy = draw(policies())
    the_plan = draw(st.one_of(st.none(), loads.map(lambda load: plan_of(load, policy))))
    if the_plan is not None and draw(st.booleans()):
        the_plan = knowing(the_plan, draw(nowcasts()), least_ratio=draw(st.floats(0, 1)))
    found = look_of(
        draw(need),
        ratio=draw(st.one_of(st.none(), st.floats(0.01, 20))),
        lull_ratio=draw(st.floats(0, 1)),
        ahead=draw(st.one_of(st.none(), st.builds(Seen, deviations=deviations, load=st.floats(0, 3_000)))),
    )
    original = draw(small)
    seen = seen_of(
        floor=draw(small),
        original=original,
        ceiling=draw(st.one_of(st.none(), small)),
        writer=draw(st.one_of(st.none(), st.just("kubectl"))),
    )
    ready, pending = draw(st.one_of(st.just((None, None)), st.tuples(small, small)))
    seen = replace(seen, ready=ready, pending=pending, shortage=draw(st.one_of(st.none(), st.just("out of stock"))))
    recent = tuple(decided(floor, at=NOW - timedelta(minutes=9 - i)) for i, floor in enumerate(draw(st.lists(small, max_size=4))))
    state = draw(st.sampled_from([PlanState.STALE, PlanState.MISSING, PlanState.AWAITS_APPROVAL])) if the_plan is None else None
    standing_in = st.builds(StandIn, replicas=st.integers(1, 20), told=st.just("stands in"))
    return case_of(
        the_plan,
        found,
        policy=policy,
        seen=seen,
        state=state,
        recent=recent,
        past=recent,
        left=draw(st.sampled_from([None, *recent[-1:]])),
        ahead_s=draw(st.sampled_from([0.0, 600.0])),
        stands_in=draw(st.one_of(st.none(), standing_in)),
    )


@given(cases())
def test_promise_1_a_floor_is_always_within_its_bounds(case: Case) -> None:
    least, most = bounds_of(case.policy, case.seen)
    decision = guard(case)
    assert decision.floor >= (least if most is None else min(least, most))
    assert most is None or decision.floor <= most


@given(cases())
def test_promise_1_no_floor_is_below_the_original_unless_that_is_allowed_or_the_ceiling_is(case: Case) -> None:
    _, most = bounds_of(case.policy, case.seen)
    if not case.policy.allow_below_original:
        assert guard(case).floor >= min(case.seen.original, most if most is not None else case.seen.original)


@given(cases())
def test_promise_1_only_the_objects_own_ceiling_may_push_below_the_original(case: Case) -> None:
    _, most = bounds_of(case.policy, case.seen)
    if most is not None and most < case.seen.original and not case.policy.allow_below_original:
        assert case.seen.ceiling == most


@given(cases())
def test_promise_1_a_ceiling_below_what_is_asked_for_is_an_alert(case: Case) -> None:
    decision = guard(case)
    _, most = bounds_of(case.policy, case.seen)
    asked = max(
        (r.before for r in decision.reasons if r.code in {Code.MAX_BINDS, Code.CEILING_BELOW_FLOOR} and r.before is not None), default=0
    )
    if asked:
        assert most is not None
        assert asked > most
        assert decision.alerts


@given(cases(need=st.none()))
def test_promise_2_unknown_load_never_lowers_a_floor(case: Case) -> None:
    _, most = bounds_of(case.policy, case.seen)
    decision = guard(case)
    assert decision.floor >= min(case.last, most if most is not None else case.last)


@given(loads, st.lists(st.sampled_from([float("nan"), 5.0]), min_size=10, max_size=30), st.integers(0, 50))
def test_promise_2_missing_or_late_minutes_never_lower_a_floor(load: list[float], tail: list[float], last: int) -> None:
    late = [400.0] * 30 + [float("nan")] * 10 if not tail else [*tail, *([float("nan")] * 10)]
    the_plan = plan_of(load)
    case = case_of(the_plan, looked(late, the_plan), recent=(decided(last, at=NOW - timedelta(hours=1)),))
    assert guard(case).floor >= last


@given(loads, small)
def test_promise_2_a_missing_second_signal_that_is_not_supplied_blocks_nothing(load: list[float], last: int) -> None:
    the_plan = plan_of(load)
    found = looked([load[0]] * 30, the_plan)
    assert found.known
    case = case_of(the_plan, found, recent=(decided(last, at=NOW - timedelta(hours=1)),), policy=Policy(hold_s=0.0))
    assert not any(reason.code is Code.LOAD_UNKNOWN for reason in guard(case).reasons)


@given(cases(need=st.floats(0, 50)))
def test_promise_2_with_a_stale_plan_the_floor_is_at_least_fallback_and_live_need(case: Case) -> None:
    stale = replace(
        case,
        in_force=InForce(state=PlanState.STALE, plan=None, waiting=None, standing=None),
        correction=correct(None, case.correction.look, case.policy),
        policy=replace(case.policy, raise_per_min=None),
    )
    _, most = bounds_of(stale.policy, stale.seen)
    decision = guard(stale)
    need = stale.correction.look.need or 0
    wanted = max(stale.fallback, need)
    assert decision.floor >= min(wanted, most if most is not None else wanted)
    assert any(reason.code is Code.PLAN_STALE for reason in decision.alerts)


@given(cases())
def test_promise_3_the_same_input_gives_the_same_decision(case: Case) -> None:
    assert guard(case) == guard(case)


@given(cases(need=st.floats(0, 100)))
def test_promise_3_a_decision_that_is_carried_out_is_decided_again(case: Case) -> None:
    free = replace(case, policy=replace(case.policy, raise_per_min=None, lower_per_min=None), seen=replace(case.seen, writer=None))
    first = guard(free)
    again = replace(free, recent=(*free.recent, first), seen=replace(free.seen, floor=first.floor))
    second = guard(again)
    assert (second.floor, second.valid_until, second.since) == (first.floor, first.valid_until, first.since)


@given(loads, st.floats(0.5, 0.99), st.floats(1.0, 3.0), st.sampled_from(Shape))
def test_promise_4_more_load_at_the_level_never_lowers_a_plan(load: list[float], level: float, factor: float, shape: Shape) -> None:
    workload = workload_of(Policy(shape=shape))
    low = demand_of(load, level=level)
    high = replace(low, load=low.load * factor, level=min(0.99, level * 1.01))
    floors = [plan(d, workload, workload.pools[0], NOW) for d in (low, high)]
    for i in range(len(load)):
        moment = low.step_start(i)
        below, above = (p.floor_at(moment) for p in floors)
        assert below is not None
        assert above is not None
        assert above.replicas >= below.replicas


@given(loads, st.floats(0, 300), st.floats(0, 100), st.sampled_from(Shape))
def test_promise_4_a_longer_lead_time_never_lowers_a_plan(load: list[float], lead_s: float, peak: float, shape: Shape) -> None:
    workload = workload_of(Policy(shape=shape))
    short = demand_of(load)
    short = replace(short, lead_time_s=lead_s, peaks=(peak_of(short, peak),))
    longer = replace(short, lead_time_s=lead_s + 900, load=np.maximum(short.load, np.roll(short.load, -1)))
    low, high = (plan(d, workload, workload.pools[0], NOW) for d in (short, longer))
    for i in range(len(load)):
        below, above = low.floor_at(short.step_start(i)), high.floor_at(short.step_start(i))
        assert below is not None
        assert above is not None
        assert above.replicas >= below.replicas


@given(loads, st.lists(st.floats(0, 3_000), min_size=20, max_size=60), st.floats(1.0, 5.0))
def test_promise_4_more_live_load_never_lowers_a_correction(load: list[float], live: list[float], factor: float) -> None:
    the_plan = plan_of(load, start=NOW - timedelta(minutes=15))
    low, high = (correct(the_plan, looked([value * f for value in live], the_plan), Policy()).floor for f in (1.0, factor))
    assert high >= low


@given(loads, st.lists(st.floats(0, 3_000), min_size=20, max_size=60), st.integers(0, 59), st.floats(0, 500))
def test_promise_4_one_minute_more_never_lowers_a_correction(load: list[float], live: list[float], at: int, more: float) -> None:
    the_plan = plan_of(load, start=NOW - timedelta(minutes=15))
    raised = list(live)
    raised[at % len(live)] += more
    low, high = (correct(the_plan, looked(values, the_plan), Policy()).floor for values in (live, raised))
    assert high >= low


@given(cases(), st.integers(1, 60))
def test_promise_4_whole_weeks_in_utc_change_nothing_else(case: Case, weeks: int) -> None:
    load = [120.0, 340.0, 80.0, 500.0]
    shift = timedelta(seconds=weeks * WEEK_S)
    here, there = plan_of(load, case.policy), plan_of(load, case.policy, start=NOW + shift)
    assert [(f.start + shift, f.until + shift, f.replicas) for f in here.floors] == [(f.start, f.until, f.replicas) for f in there.floors]
    looks = [looked([77.0] * 30, p, now=now) for p, now in ((here, NOW), (there, NOW + shift))]
    assert correct(here, looks[0], case.policy).floor == correct(there, looks[1], case.policy).floor


@given(loads, loads)
def test_promise_9_plans_beyond_the_envelope_are_held_and_others_are_not(old: list[float], new: list[float]) -> None:
    before, after = plan_of(old), plan_of(new, issued_at=NOW + timedelta(minutes=1))
    made = move(before, after, NOW + timedelta(minutes=1), unanswered=False)
    judged = held(after, *beyond([made], Envelope(replicas_ratio=0.5)))
    end = min(before.floors[-1].until, after.floors[-1].until)
    moments = [NOW + timedelta(minutes=m) for m in range(1, int((end - NOW).total_seconds() // 60))]
    hours = [sum(f.replicas for m in moments if (f := p.floor_at(m)) is not None) for p in (before, after)]
    assume(hours[0] > 0)
    change = abs(hours[1] - hours[0]) / hours[0]
    assert judged.held == (change > 0.5) or change == pytest.approx(0.5, abs=1e-6)
    assert judged.held == any(reason.code is Code.ENVELOPE for reason in judged.reasons)


def test_promise_9_silence_is_no_consent() -> None:
    later = plan_of([900.0] * 12, issued_at=NOW + timedelta(days=4))
    made = [move(None, later, later.issued_at, unanswered=unanswered) for unanswered in (True, False)]
    assert [bool(why) for why in beyond(made, Envelope())] == [True, False]


def test_promise_9_live_load_raises_the_floor_of_a_held_plan() -> None:
    held = replace(plan_of([900.0] * 12), held=True)
    state = in_force((held,), (), (), Policy(mode=Mode.AUTO), NOW)
    assert state.state is PlanState.AWAITS_APPROVAL
    case = replace(case_of(None, look_of(30.0)), in_force=state)
    assert guard(case).floor == 30


@given(cases(), st.sampled_from(Paused))
def test_promise_9_the_annotation_is_obeyed_before_all_else(case: Case, paused: Paused) -> None:
    decision = guard(replace(case, seen=replace(case.seen, paused=paused)))
    assert decision.action is (Action.LEAVE if paused is Paused.HOLD else Action.RELEASE)
    assert decision.floor == (case.seen.floor if paused is Paused.HOLD else case.seen.original)


@given(cases(need=st.floats(0, 50)), st.booleans())
def test_promise_9_hold_when_blocks_lowering_only_and_expires_by_itself(case: Case, stuck: bool) -> None:
    values = np.ones(120)
    values[0] = 1.0 if stuck else 0.0
    condition = Series(signal=Signal.CONDITION, start=NOW - timedelta(hours=2), step_s=60, mean=values, peak=values)
    free = replace(case, policy=replace(case.policy, hold_s=0.0, raise_per_min=None, lower_per_min=None), recent=case.recent[-1:])
    without, held = guard(free), guard(replace(free, conditions=(("rollout", condition),)))
    if stuck or without.floor >= free.last:
        assert held.floor == without.floor
    else:
        assert held.floor >= without.floor
    assert stuck or not any(reason.code is Code.HOLD_WHEN_EXPIRED for reason in held.reasons)


@given(st.lists(loads, min_size=1, max_size=4), st.integers(0, 200))
def test_promise_8_a_plan_expires(all_loads: list[list[float]], minutes: int) -> None:
    plans = tuple(plan_of(load, Policy(expiry_s=1_800), issued_at=NOW + timedelta(minutes=i)) for i, load in enumerate(all_loads))
    now = NOW + timedelta(minutes=minutes)
    found = in_force(plans, (), (), Policy(mode=Mode.AUTO), now)
    assert (found.plan is None) == (all(now >= p.valid_until for p in plans if p.issued_at <= now))
    assert found.plan is None or found.plan.valid_until > now


@given(loads)
def test_promise_4_floors_of_a_plan_are_contiguous_from_its_start_to_its_end(load: list[float]) -> None:
    made = plan_of(load)
    assert made.demand is not None
    assert made.floors[0].start == made.demand.start
    assert made.floors[-1].until == made.demand.end
    assert all(a.until == b.start for a, b in pairwise(made.floors))


def test_a_rejected_plan_is_never_followed() -> None:
    rejected = plan_of([100.0] * 12)
    ruling = Ruling(at=NOW, workload="chat", kind=RulingKind.REJECT, author="ada", reason="no", plan_id=rejected.id)
    for mode in Mode:
        assert in_force((rejected,), (), (ruling,), Policy(mode=mode), NOW).plan is None

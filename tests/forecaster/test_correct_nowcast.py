"""A floor under live load of which deviations were learned: it follows the quantile of the minutes ahead, up and, where it may, down."""

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.calendar import FloorWindow
from forecaster.correct import Correction, correct
from forecaster.decision import Action, Observation
from forecaster.guard import guard
from forecaster.look import look
from forecaster.nowcast import Nowcast
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.series import Series, Signal
from forecaster.workload import Blend, Policy, Shape
from tests.forecaster.nowcasts import knowing, nowcast_of, nowcasts
from tests.values import NOW, case_of, decided, live_of, looked, plan_of, pool_of, seen_of

HOUR = timedelta(hours=1)
FOLLOWS = nowcast_of(weights=(0.5, 0.25, 0.25))
"""All of a deviation that is there over all spans lasts; P95 lies 0.2 above it in logarithms."""
DEAF = nowcast_of(weights=(0.0, 0.0, 0.0))
STANDS = Blend(live_may_lower=False)
ALL_DAY = FloorWindow(days=frozenset(range(7)), start_min=0, end_min=1_440, zone="UTC", min_replicas=22)

loads = st.lists(st.floats(0, 2_000), min_size=10, max_size=10).map(lambda load: load * 5)
minutes = st.lists(st.floats(0, 3_000), min_size=10, max_size=10).map(lambda live: live * 15)
known = st.one_of(nowcasts(), st.sampled_from([FOLLOWS, DEAF]))
policies = st.builds(
    Policy,
    minimum=st.none() | st.integers(0, 30),
    windows=st.sampled_from([(), (ALL_DAY,)]),
    shape=st.sampled_from(Shape),
    blend=st.builds(Blend, live_may_lower=st.booleans()),
)


def flat(policy: Policy | None = None, nowcast: Nowcast | None = FOLLOWS, *, least_ratio: float = 0.4) -> Plan:
    """25 replicas are planned at P95 and 20 in the median, from three hours ago on."""
    return knowing(plan_of([250.0] * 60, policy, start=NOW - 3 * HOUR), nowcast, least_ratio=least_ratio)


def under(rpm: float, plan: Plan, policy: Policy | None = None) -> Correction:
    """The correction after three hours at that load."""
    return correct(plan, looked([rpm] * 180, plan, policy), policy or Policy())


def codes(found: Correction) -> list[Code]:
    return [reason.code for reason in found.reasons]


def p95(rpm: float) -> int:
    """What FOLLOWS asks for at P95 after hours at that load."""
    return math.ceil(((rpm + 0.5) * math.exp(0.2) - 0.5) / 10)


# up and down


def test_live_load_above_the_forecast_raises_the_floor_to_the_quantile_ahead() -> None:
    found = under(240.0, flat())
    assert found.floor == p95(240.0) == 30
    assert codes(found) == [Code.PLAN_FOLLOWED, Code.LIVE_ABOVE_PLAN]
    assert found.reasons[-1].detail == "after its last minutes, P95 of rpm over the next 15 min asks for 30"
    assert (found.reasons[-1].before, found.reasons[-1].after) == (25, 30)
    assert math.ceil(found.need) == 30


def test_live_load_below_the_forecast_lowers_the_floor_to_the_quantile_ahead() -> None:
    found = under(150.0, flat())
    assert found.floor == p95(150.0) == 19
    assert codes(found) == [Code.PLAN_FOLLOWED, Code.LIVE_BELOW_PLAN]
    assert math.ceil(found.need) == 19


def test_a_workload_whose_deviations_say_nothing_keeps_the_quantile_of_its_forecast() -> None:
    assert {under(rpm, flat(nowcast=DEAF)).floor for rpm in (150.0, 240.0)} == {p95(200.0)}


def test_the_floor_is_not_below_the_low_quantile_of_the_forecast() -> None:
    found = under(30.0, flat(least_ratio=0.7))
    assert found.planned is not None
    lowered = next(reason for reason in found.reasons if reason.code is Code.LIVE_BELOW_PLAN)
    assert lowered.after == 18
    assert lowered.detail.endswith("asks for 4, and P24 of the day as it was forecast for 18")


def test_a_lull_of_hours_still_decays_below_it() -> None:
    """A quiet quarter of an hour is no reason to go, hours below half of the forecast are."""
    plan = flat(least_ratio=0.7)
    quarter, hours = [200.0] * 165 + [30.0] * 15, [30.0] * 180
    assert correct(plan, looked(quarter, plan), Policy()).floor == 18
    assert correct(plan, looked(hours, plan), Policy()).floor < 18


def test_the_floor_is_never_below_what_the_last_minutes_need() -> None:
    """A deviation that is known not to last is still there."""
    falling = nowcast_of(weights=(0.0, 0.0, 0.0), base=-1.0)
    assert under(240.0, flat(nowcast=falling)).floor >= 24


# where it may not go down


@pytest.mark.parametrize(
    ("policy", "planned"),
    [
        (Policy(blend=STANDS), 25),
        (Policy(shape=Shape.DAILY_PEAK), 25),
        (Policy(windows=(replace(ALL_DAY, min_replicas=40),)), 40),
        (Policy(minimum=40), 40),
        (Policy(maximum=15), 15),
    ],
    ids=["told not to", "shape daily-peak", "a window", "a minimum", "a maximum"],
)
def test_a_floor_that_a_person_set_stands_and_is_raised_all_the_same(policy: Policy, planned: int) -> None:
    below, above = (under(rpm, flat(policy), policy) for rpm in (110.0, 450.0))
    assert below.floor == planned
    assert codes(below) == [Code.PLAN_FOLLOWED]
    assert above.floor >= p95(450.0) > planned
    assert Code.LIVE_ABOVE_PLAN in codes(above)


def test_an_open_window_that_is_below_the_plan_is_still_a_floor() -> None:
    policy = Policy(windows=(ALL_DAY,), hold_s=0.0)
    plan = flat(policy)
    decision = guard(case_of(plan, looked([110.0] * 180, plan, policy), policy=policy, seen=seen_of(original=2)))
    assert decision.floor == 22
    assert Code.WINDOW_BINDS in {reason.code for reason in decision.reasons}


def test_unknown_live_load_leaves_the_plan() -> None:
    plan = flat()
    silent = Observation(at=NOW, live=(live_of([110.0] * 180, until=NOW - timedelta(minutes=10)),))
    assert plan.demand is not None
    found = correct(plan, look(silent, (plan.demand,), pool_of(), Policy()), Policy())
    assert found.floor == 25
    assert codes(found) == [Code.PLAN_FOLLOWED]


def test_less_live_load_than_a_span_needs_leaves_the_plan_and_what_gains_say() -> None:
    """The plan began four minutes ago and there was none before it: the median of hours is not known, that of minutes is."""
    plan = knowing(plan_of([250.0] * 60, start=NOW), FOLLOWS)
    found = under(110.0, plan)
    assert found.look.signals[0].seen is None
    assert found.floor == 25


def test_a_plan_from_before_nowcasts_were_learned_is_corrected_as_it_was() -> None:
    plan = plan_of([250.0] * 60, start=NOW - 3 * HOUR)
    assert [under(rpm, made).floor for made in (plan, knowing(plan, None)) for rpm in (150.0, 300.0)] == [25, 30, 25, 30]
    assert under(150.0, flat()).floor < 25


# what else live load asks for


def test_breaking_the_glass_raises_above_the_quantile() -> None:
    """Twice the forecast for minutes: a deaf nowcast says nothing of it, and the plan is taken for wrong."""
    plan = flat(nowcast=DEAF)
    found = correct(plan, looked([200.0] * 165 + [400.0] * 15, plan), Policy())
    assert codes(found)[-1] is Code.BREAK_GLASS
    assert found.floor >= 40


def hourly(rpm: float) -> Correction:
    """Live load in buckets of an hour."""
    plan = flat(nowcast=DEAF)
    live = Series(signal=Signal.RPM, start=NOW - 3 * HOUR, step_s=3_600, mean=np.full(3, rpm), peak=np.full(3, rpm))
    assert plan.demand is not None
    return correct(plan, look(Observation(at=NOW, live=(live,)), (plan.demand,), pool_of(), Policy()), Policy())


def test_an_hour_is_not_the_last_minutes_and_breaks_no_glass() -> None:
    """What is known of the hour ahead is what the nowcast makes of the hour behind."""
    found = hourly(400.0)
    assert found.floor == p95(200.0)
    assert not {Code.BREAK_GLASS, Code.LIVE_ABOVE_PLAN} & set(codes(found)[1:])


# promises


@given(loads, minutes, st.integers(0, 149), st.floats(0, 2_000), known, policies)
def test_promise_4_one_minute_more_never_lowers_a_correction(  # noqa: PLR0917  one argument a strategy
    load: list[float], live: list[float], at: int, more: float, nowcast: Nowcast, policy: Policy
) -> None:
    plan = knowing(plan_of(load, policy, start=NOW - 3 * HOUR), nowcast)
    raised = live.copy()
    raised[at] += more
    low, high = (correct(plan, looked(values, plan, policy), policy).floor for values in (live, raised))
    assert high >= low


@given(loads, minutes, st.floats(1, 5), known, policies, st.booleans())
def test_promise_4_more_live_load_never_lowers_a_correction_also_over_a_new_plan(  # noqa: PLR0917  one argument a strategy
    load: list[float], live: list[float], factor: float, nowcast: Nowcast, policy: Policy, follows: bool
) -> None:
    old = knowing(plan_of(load, policy, start=NOW - 3 * HOUR), nowcast)
    new = knowing(plan_of(load[::-1], policy, start=NOW - timedelta(minutes=5)), nowcast)
    plan, earlier = (new, (old,)) if follows else (old, ())
    low, high = (correct(plan, looked([x * f for x in live], plan, policy, earlier=earlier), policy).floor for f in (1.0, factor))
    assert high >= low


@given(loads, minutes, st.floats(1, 3), st.floats(1, 3), st.sampled_from([0.5, 0.8, 0.95]), known, policies)
def test_promise_4_a_higher_level_never_lowers_a_decision(  # noqa: PLR0917  one argument a strategy
    load: list[float], live: list[float], more: float, least: float, level: float, nowcast: Nowcast, policy: Policy
) -> None:
    """Before hold and step limits: windows and bounds that a correction leaves to the guard are counted."""
    policy = replace(policy, hold_s=0.0)
    floors = []
    for by, at in ((1.0, level), (more, 0.5 + level / 2)):
        made = plan_of(np.array(load) * by, policy, start=NOW - 3 * HOUR)
        assert made.demand is not None
        medians = np.array([load]) * 0.8
        demand = replace(made.demand, level=at, expected=medians, expected_max=medians)
        plan = replace(made, demand=replace(demand, nowcasts=(nowcast,), least=medians * 0.3 * (least if by > 1 else 1.0)))
        floors.append(guard(case_of(plan, looked(live, plan, policy), policy=policy)).floor)
    assert floors[1] >= floors[0]


@given(loads, minutes, st.integers(6, 20), st.integers(0, 60), known, policies)
def test_promise_2_load_that_is_late_never_lowers_a_floor(  # noqa: PLR0917  one argument a strategy
    load: list[float], live: list[float], late_min: int, last: int, nowcast: Nowcast, policy: Policy
) -> None:
    """Neither the last one nor the one that the load would have got had it come."""
    plan = knowing(plan_of(load, policy, start=NOW - 3 * HOUR), nowcast)
    missing = [*live[:-late_min], *[math.nan] * late_min]
    decision = guard(case_of(plan, looked(missing, plan, policy), policy=policy, recent=(decided(last, at=NOW - HOUR),)))
    most = 100 if policy.maximum is None else policy.maximum
    assert decision.floor >= min(last, most)
    assert decision.action is not Action.RELEASE


@given(loads, minutes, known, policies, st.integers(1, 60))
def test_promise_4_whole_weeks_in_utc_change_nothing(
    load: list[float], live: list[float], nowcast: Nowcast, policy: Policy, weeks: int
) -> None:
    floors = []
    for now in (NOW, NOW + timedelta(weeks=weeks)):
        plan = knowing(plan_of(load, policy, start=now - 3 * HOUR), nowcast)
        floors.append(correct(plan, looked(live, plan, policy, now=now), policy).floor)
    assert floors[0] == floors[1]


@given(loads, minutes, known, st.floats(0, 1))
def test_the_low_quantile_of_the_forecast_only_ever_raises(load: list[float], live: list[float], nowcast: Nowcast, ratio: float) -> None:
    plans = [knowing(plan_of(load, start=NOW - 3 * HOUR), nowcast, least_ratio=least) for least in (0.0, ratio)]
    without, with_it = (correct(plan, looked(live, plan), Policy()).floor for plan in plans)
    assert with_it >= without


@given(loads, minutes, known)
def test_where_live_load_may_not_lower_the_floor_is_the_higher_one(load: list[float], live: list[float], nowcast: Nowcast) -> None:
    plan = knowing(plan_of(load, start=NOW - 3 * HOUR), nowcast)
    found = looked(live, plan)
    low, high = (correct(plan, found, Policy(blend=blend)).floor for blend in (Blend(), STANDS))
    assert high >= low

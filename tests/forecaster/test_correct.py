"""Live load against the plan, with the gains that the plan carries, over plans that follow each other."""

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.correct import Correction, correct
from forecaster.gains import Gains, fading
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.workload import Blend, Policy
from tests.values import CARRY_RPM, NOW, looked, plan_of

HOUR = timedelta(hours=1)
LEARNED = Gains(leads_s=(0, 600, 1_800), short=(0.6, 0.4, 0.1), long=(0.3, 0.2, 0.1), days=9, cut=(0.4, 0.3, 0.1))
NOTHING_LASTS = Gains(leads_s=(0,), short=(0.0,), long=(0.0,), days=14, cut=(-0.01,))
QUIET = 0.05 * CARRY_RPM
EAGER = Policy(blend=Blend(break_glass_ratio=3.0))

loads = st.lists(st.floats(0, 2_000), min_size=10, max_size=10).map(lambda load: load * 5)
minutes = st.lists(st.floats(0, 3_000), min_size=10, max_size=10).map(lambda live: live * 15)
gains = st.sampled_from([LEARNED, NOTHING_LASTS, fading(600), None])


def learned(plan: Plan, gains: Gains | None) -> Plan:
    """The plan of a workload with such gains."""
    assert plan.demand is not None
    return replace(plan, demand=replace(plan.demand, gains=(gains,)))


def carried(found: Correction) -> list[int | None]:
    """What the reasons that speak of a deviation ask for."""
    return [reason.after for reason in found.reasons if "x the forecast" in reason.detail]


def test_the_largest_median_ahead_rises_by_what_the_gains_leave_of_the_deviation() -> None:
    """200 RPM now, 400 in ten minutes, twice the forecast for hours: 60 % of the logarithm is expected to be there then."""
    ramp = learned(plan_of([250.0] * 36 + [250.0, 250.0, 500.0] + [500.0] * 9, start=NOW - 3 * HOUR), LEARNED)
    found = correct(ramp, looked([400.0] * 180, ramp, EAGER), EAGER)
    assert found.planned is not None
    ratio = (400 + QUIET) / (200 + QUIET)
    expected = (400 + QUIET) * ratio**0.6 - QUIET
    assert carried(found) == [math.ceil(expected / CARRY_RPM)]
    assert found.reasons[-1].detail == (
        "live rpm is 2.00 x the forecast over 15 min; in the past 60% of such a deviation was still there 10 min later"
    )


def test_a_workload_whose_deviations_do_not_last_gets_no_more_than_the_last_minutes_need() -> None:
    flat = learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), NOTHING_LASTS)
    found = correct(flat, looked([200.0] * 165 + [290.0] * 15, flat, EAGER), EAGER)
    assert carried(found) == []
    assert found.floor == 29


def test_a_deviation_of_hours_is_carried_further_than_one_of_minutes() -> None:
    flat = learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), LEARNED)
    hours, minutes = (correct(flat, looked(live, flat, EAGER), EAGER) for live in ([300.0] * 180, [200.0] * 165 + [300.0] * 15))
    assert carried(hours) == [math.ceil(((200 + QUIET) * ((300 + QUIET) / (200 + QUIET)) ** 0.9 - QUIET) / CARRY_RPM)]
    assert carried(hours) > carried(minutes)


def test_a_plan_from_before_gains_were_learned_fades_by_the_half_life() -> None:
    made = [plan_of([250.0] * 60, start=NOW - 3 * HOUR), learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), None)]
    made.append(learned(made[0], fading(EAGER.blend.fade_half_life_s)))
    floors = [correct(plan, looked([300.0] * 180, plan, EAGER), EAGER) for plan in made]
    assert [carried(found) for found in floors] == [[30], [30], [30]]


def test_load_below_the_forecast_is_carried_nowhere() -> None:
    flat = learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), LEARNED)
    assert carried(correct(flat, looked([150.0] * 180, flat), Policy())) == []


def test_a_new_forecast_that_knows_no_better_goes_on_with_the_deviation_so_far() -> None:
    old = learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), LEARNED)
    new = learned(plan_of([250.0] * 36), LEARNED)
    kept, renewed = (correct(plan, looked([300.0] * 180, plan, earlier=before), Policy()) for plan, before in ((old, ()), (new, (old,))))
    assert carried(renewed) == carried(kept)
    assert carried(kept)


def test_what_a_new_forecast_has_learned_already_is_no_deviation_from_it() -> None:
    """A launch is entered as a factor of three while the load is three times the old forecast: nine times is not asked for."""
    old, new = plan_of([250.0] * 60, start=NOW - 3 * HOUR), plan_of([750.0] * 36)
    found = correct(new, looked([600.0] * 180, new, earlier=(old,)), Policy())
    assert found.floor == 75
    assert [reason.code for reason in found.reasons] == [Code.PLAN_FOLLOWED]


def test_an_earlier_plan_that_ends_where_the_new_one_begins_counts_as_it_is() -> None:
    yesterday = plan_of([250.0] * 36, start=NOW - 3 * HOUR)
    today = learned(plan_of([250.0] * 36), LEARNED)
    assert carried(correct(today, looked([300.0] * 180, today, earlier=(yesterday,)), EAGER))


def test_a_plan_without_any_before_it_waits_for_the_first_minutes() -> None:
    first = learned(plan_of([250.0] * 36), LEARNED)
    assert looked([300.0] * 180, first).signals[0].ratio is None
    assert carried(correct(first, looked([300.0] * 180, first), Policy())) == []


def test_a_forecast_of_nothing_is_lifted_by_what_came() -> None:
    """Zero times any ratio is zero: the share of a replica that is added to both sides lets a new load be carried, too."""
    empty = plan_of([0.0] * 60, start=NOW - 3 * HOUR)
    found = correct(empty, looked([100.0] * 180, empty), Policy())
    assert found.floor == 10
    assert Code.BREAK_GLASS in {reason.code for reason in found.reasons}


def test_live_load_is_read_as_far_back_as_gains_look() -> None:
    assert Blend(decay_after_s=600).live_span_s == pytest.approx(7_200)
    assert Blend().live_span_s == pytest.approx(4 * 3_600)


@given(loads, minutes, st.integers(0, 149), st.floats(0, 2_000), gains, st.booleans())
def test_promise_4_one_minute_more_never_lowers_a_correction_whatever_was_learned(  # noqa: PLR0917  one argument a strategy
    load: list[float], live: list[float], at: int, more: float, gains: Gains | None, follows: bool
) -> None:
    old = learned(plan_of(load, start=NOW - 3 * HOUR), gains)
    the_plan, earlier = (learned(plan_of(load[::-1], start=NOW - timedelta(minutes=5)), gains), (old,)) if follows else (old, ())
    raised = live.copy()
    raised[at] += more
    low, high = (correct(the_plan, looked(values, the_plan, earlier=earlier), Policy()).floor for values in (live, raised))
    assert high >= low


@given(loads, minutes, gains)
def test_gains_only_ever_raise_a_floor(load: list[float], live: list[float], gains: Gains | None) -> None:
    the_plan = learned(plan_of(load, start=NOW - 3 * HOUR), gains)
    none = learned(the_plan, NOTHING_LASTS)
    found, bare = (correct(plan, looked(live, plan), EAGER).floor for plan in (the_plan, none))
    assert found >= bare


def test_missing_minutes_change_no_ratio() -> None:
    flat = learned(plan_of([250.0] * 60, start=NOW - 3 * HOUR), LEARNED)
    holes = np.full(180, 300.0)
    holes[20:150:3] = np.nan
    assert carried(correct(flat, looked(holes, flat), Policy())) == carried(correct(flat, looked([300.0] * 180, flat), Policy()))

"""Faults that users of autoscalers met, on live load against the plan: docs/scenarios.md says who reported each."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.correct import correct
from forecaster.decision import Observation
from forecaster.guard import guard
from forecaster.look import look
from forecaster.reasons import Code
from forecaster.workload import Policy
from tests.values import NOW, case_of, live_of, looked, plan_of, pool_of

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
EAGER = Policy(hold_s=0.0)


def test_k31_live_load_above_the_plan_wins_and_a_floor_far_too_high_decays_after_hours() -> None:
    policy = Policy(hold_s=0.0)
    made = plan_of([400.0] * 72, policy, start=NOW - 5 * HOUR)
    assert correct(made, looked([700.0] * 30, made), policy).floor >= 70
    lull = looked([40.0] * 240, made)
    assert correct(made, lull, policy).floor == 4
    lunch = looked([400.0] * 180 + [40.0] * 60, made)
    assert correct(made, lunch, policy).floor == 40


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

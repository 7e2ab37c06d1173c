"""Faults that users of autoscalers met, on the plan and how a floor moves: docs/scenarios.md says who reported each."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.calendar import FloorWindow
from forecaster.decision import Action, Observation
from forecaster.guard import guard
from forecaster.look import look
from forecaster.plan import plan
from forecaster.reasons import Code
from forecaster.series import Signal
from forecaster.units import whole_replicas
from forecaster.workload import Policy, Shape
from tests.forecaster.replayed import codes, follow
from tests.values import NOW, case_of, decided, demand_of, live_of, look_of, peak_of, plan_of, pool_of, seen_of, workload_of

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
EAGER = Policy(hold_s=0.0)


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


def test_k32_the_floor_of_a_window_is_released_at_its_end() -> None:
    policy = Policy(windows=(FloorWindow(days=frozenset(range(7)), start_min=420, end_min=485, zone="UTC", min_replicas=12),), hold_s=0.0)
    made = plan_of([10.0] * 24, policy)
    inside = guard(case_of(made, look_of(1.0), policy=policy))
    after = guard(case_of(made, replace(look_of(1.0), at=NOW + 10 * MINUTE), policy=policy, recent=(inside,)))
    assert (inside.floor, after.floor) == (12, 2)


def test_a_broken_capacity_asks_for_no_more_than_a_million_replicas() -> None:
    assert plan_of([1e12]).floors[0].replicas == 1_000_000
    assert whole_replicas(float("inf")) == 1_000_000


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


def test_a_days_largest_floor_covers_its_peak_in_both_shapes() -> None:
    day = 100 + 80 * np.sin(np.linspace(0, 2 * np.pi, 288))
    for shape in Shape:
        workload = workload_of(Policy(shape=shape))
        demand = demand_of(day)
        demand = replace(demand, peaks=(peak_of(demand, 23.4),))
        made = plan(demand, workload, workload.pools[0], NOW)
        assert max(floor.replicas for floor in made.floors) == 24

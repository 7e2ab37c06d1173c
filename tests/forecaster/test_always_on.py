"""Always-on pools, and those that take what is left of the load: in plans, by live load, and in accounts."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.always_on import always_on_plan, is_blind, looked_at, own_expected, own_load, own_series, served_ratio, sized
from forecaster.calendar import FloorWindow
from forecaster.capacity import Capacity
from forecaster.correct import correct
from forecaster.decision import Observation
from forecaster.guard import bounds_of
from forecaster.look import look
from forecaster.margin import Margin
from forecaster.plan import Plan, plan
from forecaster.queueing import WaitSlo
from forecaster.reasons import ALERTS, Code
from forecaster.series import Floats, Signal, Window
from forecaster.workload import Policy, Pool, Workload
from tests.forecaster.pools import burst, of, reserved
from tests.values import NOW, demand_of, live_of, pool_of, seen_of

HOUR = timedelta(hours=1)
loads = st.lists(st.integers(0, 3_000).map(float), min_size=1, max_size=20)
counts = st.integers(1, 20)


def before(workload: Workload, pool: Pool, **overdue: int) -> float:
    return sized(workload, pool, overdue).before


def planned(load: list[float], workload: Workload, pool: Pool, **overdue: int) -> Plan:
    """The plan of a pool of which one replica carries 10 requests a minute."""
    needed = replace(demand_of(load, start=NOW - HOUR), margin=sized(workload, pool, overdue).margin)
    return plan(needed, workload, pool, NOW - HOUR)


def test_a_pool_that_comes_after_none_is_as_it_was() -> None:
    alone = pool_of()
    assert sized(of(alone), alone) is alone
    assert alone.follows_load
    assert not reserved().follows_load


def test_what_always_on_replicas_carry_counts_in_replicas_of_the_pool_after_them() -> None:
    first, second = reserved(8), burst()
    assert before(of(first, second), second) == 16.0
    assert sized(of(first, second), second).margin == Margin(before=16.0)


def test_it_counts_by_the_signal_in_which_an_always_on_replica_carries_least() -> None:
    first = reserved(8, rpm=None)
    first = replace(first, capacity=Capacity(rpm=100, concurrency=10))
    second = replace(burst(), capacity=Capacity(rpm=50, concurrency=20))
    assert before(of(first, second), second) == 4.0


def test_several_always_on_pools_before_one_add_up_and_several_pools_after_one_have_their_shares_of_it() -> None:
    first, other = reserved(8), replace(reserved(4), name="committed")
    both = burst(after=("reserved", "committed"))
    assert before(of(first, other, both), both) == 24.0
    large, small = burst(share_ratio=0.6), burst(name="spot", share_ratio=0.2)
    assert before(of(first, large, small), large) == pytest.approx(12)
    assert before(of(first, large, small), small) == pytest.approx(4)


def test_spare_ones_of_an_always_on_pool_are_among_those_that_it_holds_and_carry_nothing() -> None:
    first, second = reserved(8, spare=1), burst()
    assert before(of(first, second), second) == 14.0
    assert first.margin == Margin()


@pytest.mark.parametrize(("overdue", "left"), [(0, 14.0), (1, 14.0), (3, 10.0), (20, 0.0)])
def test_overdue_always_on_replicas_are_made_up_for_as_far_as_they_are_not_spare(overdue: int, left: float) -> None:
    first, second = reserved(8, spare=1), burst()
    assert before(of(first, second), second, reserved=overdue) == left


def test_what_preemptions_take_of_either_pool_counts() -> None:
    first, second = reserved(8), burst(preempted_per_hour=3.0)  # at ten minutes to another, one half is away
    found = sized(of(first, second), second)
    assert (found.capacity.rpm, found.before) == (25, 32.0)


@pytest.mark.parametrize("pools", [(reserved(rpm=None), burst()), (reserved(), burst(rpm=None))])
def test_while_a_capacity_is_not_known_nothing_is_taken_off(pools: tuple[Pool, Pool]) -> None:
    assert before(of(*pools), pools[1]) == 0.0


@given(loads, counts, st.integers(0, 4))
def test_both_pools_together_carry_the_load_at_the_level_and_one_replica_less_would_not(load: list[float], count: int, spare: int) -> None:
    first, second = reserved(count, rpm=10), burst(rpm=10, spare=spare)
    made = planned(load, of(first, second), second)
    for i, rpm in enumerate(load):
        floor = made.floor_at(NOW - HOUR + timedelta(seconds=300 * i))
        assert floor is not None
        asked = max(0, -(-int(rpm) // 10) - count)
        assert floor.replicas == (asked + spare if asked else 0)


@given(loads, counts)
def test_a_higher_load_lowers_no_floor_of_a_burst_pool_and_more_always_on_raises_none(load: list[float], count: int) -> None:
    def floors(values: list[float], n: int) -> list[int]:
        first, second = reserved(n, rpm=10), burst(rpm=10)
        made = planned(values, of(first, second), second)
        return [f.replicas for i in range(len(load)) if (f := made.floor_at(NOW - HOUR + timedelta(seconds=300 * i))) is not None]

    here = floors(load, count)
    assert all(a <= b for a, b in zip(here, floors([rpm + 35 for rpm in load], count), strict=True))
    assert all(a >= b for a, b in zip(here, floors(load, count + 2), strict=True))


def test_a_floor_tells_what_stands_before_it() -> None:
    first, second = reserved(8, rpm=10), burst(rpm=10, spare=1)
    (floor, *_) = planned([115.0] * 12, of(first, second), second).floors
    assert floor.replicas == 5
    assert floor.reason.detail.endswith("a replica carries 10; 4 for the load and 1 spare, beside 8 before it")


def test_waits_are_those_of_one_queue_before_both_pools() -> None:
    slo = WaitSlo(wait_p95_s=1.0, service_s=6.0)
    alone = burst(rpm=10, after=(), slo=slo)
    (whole, *_) = planned([95.0] * 12, of(alone), alone).floors
    first, second = reserved(8, rpm=10), burst(rpm=10, slo=slo)
    (floor, *_) = planned([95.0] * 12, of(first, second), second).floors
    assert (floor.replicas, floor.reason.code) == (whole.replicas - 8, Code.QUEUEING_BINDS)


def test_live_load_is_answered_with_what_is_left_of_it_and_deviations_are_those_of_the_whole() -> None:
    first, second = reserved(8, rpm=10), burst(rpm=10)
    workload = of(first, second)
    made = planned([100.0] * 40, workload, second)
    assert made.demand is not None
    found = look(Observation(at=NOW, live=(live_of([240.0] * 180),)), (made.demand,), sized(workload, second), Policy())
    (signal,) = found.signals
    assert signal.ratio == pytest.approx(3.0, rel=0.01)  # over the median of 80, not over what is left of it
    assert found.need == 16
    corrected = correct(made, found, Policy())
    assert corrected.floor == 16
    assert Code.BREAK_GLASS in {reason.code for reason in corrected.reasons}


@pytest.mark.parametrize(("rpm", "overdue", "floor"), [(100.0, 0, 2), (100.0, 3, 5), (40.0, 3, 0), (40.0, 6, 2)])
def test_what_overdue_always_on_replicas_do_not_carry_is_asked_of_the_pool_after_them_once(rpm: float, overdue: int, floor: int) -> None:
    first, second = reserved(8, rpm=10), burst(rpm=10)
    workload = of(first, second)
    made = planned([rpm] * 40, workload, second)
    assert made.demand is not None
    now = sized(workload, second, {"reserved": overdue})
    live = (live_of([0.8 * rpm] * 180),)
    found = correct(made, look(Observation(at=NOW, live=live), (made.demand,), now, Policy()), Policy())
    assert found.floor == floor
    raised = [reason for reason in found.reasons if reason.code is Code.STANDS_IN]
    assert bool(raised) == (floor > max(0, int(rpm / 10) - 8))
    assert Code.STANDS_IN in ALERTS
    for reason in raised:
        assert reason.detail == f"stands in for pools before it: what {overdue} replicas of its own would carry is missing there"


def test_a_backlog_is_served_by_the_pools_before_it_too() -> None:
    first, second = reserved(8, rpm=10), burst(rpm=10)
    queue = live_of([100.0] * 5, signal=Signal.QUEUE_DEPTH)
    found = look(Observation(at=NOW, live=(live_of([100.0] * 10), queue)), (), sized(of(first, second), second), Policy())
    assert found.backlog is not None
    assert found.backlog.asked == pytest.approx(10 + 2 - 8)  # ten minutes' work of one replica within five
    assert found.backlog.asked_beside(1, (30.0, 60.0), 600.0) == pytest.approx(3.0)


SPAN = Window(start=NOW, end=NOW + 24 * HOUR)


def test_the_floor_of_an_always_on_pool_is_what_it_holds_whatever_the_load() -> None:
    pool = reserved(8, rpm=None, spare=1)
    made = always_on_plan(of(pool), pool, SPAN, NOW, None)
    (floor,) = made.floors
    assert (floor.start, floor.until, floor.replicas) == (SPAN.start, SPAN.end, 8)
    assert (floor.reason.code, floor.reason.detail) == (Code.ALWAYS_ON, "8 are always on, 1 of them spare, whatever the load")
    assert made.valid_until == SPAN.end


def test_a_window_that_asks_for_more_stands_over_it_as_over_every_pool() -> None:
    noon = FloorWindow(days=frozenset(range(7)), start_min=720, end_min=780, zone="UTC", min_replicas=10)
    pool = reserved(8)
    made = always_on_plan(of(pool, policy=Policy(windows=(noon,))), pool, SPAN, NOW, None)
    assert [floor.replicas for floor in made.floors] == [8, 10, 8]


def test_without_any_plan_it_stands_by_its_minimum() -> None:
    pool, other = reserved(8), burst()
    workload = of(pool, other, policy=Policy(minimum=2))
    assert bounds_of(workload.policy_of(pool), seen_of(original=1))[0] == 8
    assert workload.policy_of(other) is workload.policy


@pytest.mark.parametrize(("rpm", "need"), [(300.0, 3), (10_000.0, 7)])
def test_live_load_says_of_an_always_on_pool_what_it_carries_and_moves_it_no_further(rpm: float, need: int) -> None:
    pool = reserved(8, spare=1)
    made = always_on_plan(of(pool), pool, Window(start=NOW - HOUR, end=NOW + HOUR), NOW - HOUR, demand_of([100.0] * 24, start=NOW - HOUR))
    queue = live_of([500.0] * 5, signal=Signal.QUEUE_DEPTH)
    found = looked_at(look(Observation(at=NOW, live=(live_of([rpm] * 180), queue)), (), pool, Policy()), pool)
    assert found.need == need
    assert correct(made, found, Policy()).floor == 8


def test_an_unknown_load_stays_unknown_and_a_pool_that_follows_it_is_looked_at_as_ever() -> None:
    pool, other = reserved(8), burst()
    nothing = Observation(at=NOW, live=(live_of([np.nan] * 30),))
    assert not looked_at(look(nothing, (), pool, Policy()), pool).known
    seen = look(Observation(at=NOW, live=(live_of([80.0] * 30),)), (), other, Policy())
    assert looked_at(seen, other) is seen


def test_what_nobody_said_the_capacity_of_is_not_judged_by_live_load() -> None:
    assert is_blind(reserved(8, rpm=None))
    assert not is_blind(reserved(8))
    assert not is_blind(burst(rpm=None))  # that one is held where it is, and reported


def test_always_on_pools_are_decided_on_before_those_that_stand_in() -> None:
    first, second, third = reserved(8), burst(), burst(name="third", after=(), stands_in_for="burst")
    assert [pool.name for pool in of(third, second, first).in_order] == ["reserved", "burst", "third"]


def shares(workload: Workload, load: list[float]) -> list[Floats]:
    return [own_load(workload, pool, Signal.RPM, np.array(load)) for pool in workload.pools]


def test_accounts_give_each_pool_what_it_carries_of_the_load_of_both() -> None:
    workload = of(reserved(8), burst())
    first, second = shares(workload, [600.0, 1_000.0, np.nan])
    np.testing.assert_array_equal(first, [600, 800, np.nan])
    np.testing.assert_array_equal(second, [0, 200, np.nan])


@given(loads, counts, counts, st.sampled_from([1.0, 0.8]))
def test_what_pools_are_given_in_accounts_adds_up_to_the_load_that_they_serve(load: list[float], n: int, m: int, share: float) -> None:
    first, other = reserved(n), replace(reserved(m, rpm=70), name="committed")
    large, small = burst(after=("reserved", "committed"), share_ratio=share / 2), burst(name="spot", share_ratio=share / 2)
    workload = of(first, other, large, small)
    assert served_ratio(workload) == pytest.approx(share)
    np.testing.assert_allclose(sum(shares(workload, load)), np.array(load) * share, atol=1e-9)
    assert all((part >= 0).all() for part in shares(workload, load))


def test_a_pool_without_others_has_its_share() -> None:
    alone = replace(pool_of(share=0.25))
    np.testing.assert_array_equal(own_load(of(alone), alone, Signal.RPM, np.array([100.0, np.nan])), [25, np.nan])
    assert served_ratio(of(alone)) == 0.25
    lone = reserved(8, share_ratio=0.5)  # nobody comes after it: its share is its own
    np.testing.assert_array_equal(own_load(of(lone), lone, Signal.RPM, np.array([100.0])), [50])


def test_what_is_expected_of_each_pool_adds_up_to_what_is_expected_of_both() -> None:
    first, second = reserved(8, rpm=10, spare=1), burst(rpm=10)
    load = demand_of([50.0, 200.0], median_ratio=0.8)
    of_first = own_expected(load, first, Signal.RPM)
    of_second = own_expected(replace(load, margin=sized(of(first, second), second).margin), second, Signal.RPM)
    assert (of_first.tolist(), of_second.tolist()) == ([40, 70], [0, 90])


def test_a_series_is_split_by_bucket() -> None:
    workload = of(reserved(8), burst())
    found = own_series(workload, workload.pools[1], live_of([600.0, 1_000.0]))
    assert found.mean.tolist() == found.peak.tolist() == [0, 200]

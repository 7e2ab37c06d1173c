"""Waits by queueing: against the textbook, against a simulated queue, and in the plan."""

import heapq
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.capacity import Capacity
from forecaster.plan import plan
from forecaster.queueing import WaitSlo, check_kept, delayed, in_service_of, least_replicas, slots_of
from forecaster.reasons import Code
from forecaster.series import Signal
from tests.values import NOW, demand_of, peak_of, pool_of, workload_of

SLO = WaitSlo(wait_p95_s=2.0, service_s=8.0)
loads = st.floats(0, 300)


def waits_of(slots: int, in_service: float, service_s: float, requests: int = 150_000) -> np.ndarray:
    """The waits of an M/M/c queue, request by request."""
    rng = np.random.default_rng(7)
    arrivals = np.cumsum(rng.exponential(service_s / in_service, requests)).tolist()
    free = [0.0] * slots
    waits = []
    for arrival, service in zip(arrivals, rng.exponential(service_s, requests).tolist(), strict=True):
        start = max(arrival, heapq.heappop(free))
        waits.append(start - arrival)
        heapq.heappush(free, start + service)
    return np.array(waits)


@pytest.mark.parametrize(("slots", "in_service", "waits"), [(1, 0.5, 0.5), (2, 1.0, 1 / 3), (5, 4.0, 0.5541), (100, 90.0, 0.2171)])
def test_the_share_that_waits_is_that_of_the_textbook(slots: int, in_service: float, waits: float) -> None:
    assert delayed(slots, in_service) == pytest.approx(waits, abs=5e-4)


def test_a_pool_without_a_slot_to_spare_makes_everybody_wait_for_ever() -> None:
    assert delayed(3, 3.0) == 1.0
    assert SLO.wait_s(3, 3.0) == math.inf


def test_the_p95_wait_is_that_of_a_simulated_queue() -> None:
    measured = float(np.quantile(waits_of(5, 3.5, 8.0), 0.95))
    assert SLO.wait_s(5, 3.5) == pytest.approx(measured, rel=0.1)


def test_the_least_replicas_keep_the_promise_and_one_fewer_does_not() -> None:
    for in_service in (0.5, 3.0, 17.0, 120.0):
        least = int(least_replicas(np.array([in_service]), 2, SLO)[0])
        assert SLO.wait_s(2 * least, in_service) <= SLO.wait_p95_s
        assert SLO.wait_s(2 * (least - 1), in_service) > SLO.wait_p95_s


def test_requests_that_vary_more_need_more() -> None:
    calm, wild = (int(least_replicas(np.array([10.0]), 1, replace(SLO, variability_ratio=v))[0]) for v in (0.5, 8.0))
    assert calm < wild


def test_thousands_of_slots_are_a_few_more_than_their_load() -> None:
    found = least_replicas(np.array([4_000.0, 40_000.0]), 1, SLO)
    assert (found > [4_000, 40_000]).all()
    assert (found < [4_100, 40_400]).all()


@given(st.lists(loads, min_size=2, max_size=20), st.integers(1, 8), st.floats(0.01, 100), st.floats(0.1, 20))
def test_more_load_never_needs_fewer_and_never_fewer_than_it_fills(load: list[float], slots: int, wait_s: float, varies: float) -> None:
    ordered = np.sort(load)
    found = least_replicas(ordered, slots, WaitSlo(wait_p95_s=wait_s, service_s=8.0, variability_ratio=varies))
    assert (np.diff(found) >= 0).all()
    assert (found * slots >= ordered * (1 - 1e-9)).all()


def test_slots_are_the_concurrency_or_what_the_rate_keeps_in_service() -> None:
    assert slots_of(Capacity(rpm=60, concurrency=16), SLO) == 16
    assert slots_of(Capacity(rpm=60), SLO) == 8
    assert slots_of(Capacity(tokens=500), SLO) is None


def test_tokens_alone_tell_no_arrivals() -> None:
    assert in_service_of(SLO, {Signal.TOKENS: 500.0}) is None
    assert in_service_of(SLO, {Signal.CONCURRENCY: 16.0}) == (Signal.CONCURRENCY, 16.0)


def test_an_slo_that_no_load_at_capacity_can_meet_is_one_clear_sentence() -> None:
    with pytest.raises(ValueError, match=r"no load of 60 requests/min a replica can meet the SLO: 4 requests in flight of 8 s each are 30"):
        check_kept(Capacity(rpm=60, concurrency=4), SLO)
    with pytest.raises(ValueError, match=r"slo needs capacity\.rpm or capacity\.concurrency"):
        check_kept(Capacity(tokens=500), SLO)
    with pytest.raises(ValueError, match=r"slo\.wait_p95_s must be above 0 seconds"):
        WaitSlo(wait_p95_s=0, service_s=8)


def test_a_small_pool_gets_what_keeps_its_waits_short_and_the_plan_says_that_queueing_binds() -> None:
    pool = replace(pool_of(rpm=7.5), slo=SLO)
    demand = replace(demand_of([20.0] * 12), carry=(7.5,))
    made, bare = (plan(demand, workload_of(), each, NOW).floors[0] for each in (pool, pool_of(rpm=7.5)))
    assert (bare.replicas, bare.reason.code) == (3, Code.SIGNAL_BINDS)
    assert (made.replicas, made.reason.code) == (6, Code.QUEUEING_BINDS)
    assert made.reason.detail == (
        "queueing binds: P95 of the 15 min from 2026-03-02T08:00Z fills 2.667 replicas, and 6 keep 95% of waits within 2 s"
    )


def test_the_days_peak_is_kept_from_waiting_too() -> None:
    pool = replace(pool_of(rpm=7.5), slo=SLO)
    quiet = replace(demand_of([7.5] * 12), carry=(7.5,))
    demand = replace(quiet, peaks=(peak_of(quiet, 2.6),))
    assert max(floor.replicas for floor in plan(demand, workload_of(), pool, NOW).floors) == 6


def test_where_tokens_alone_are_known_the_promise_changes_nothing() -> None:
    tokens = replace(demand_of([20.0] * 12), signals=(Signal.TOKENS,))
    pool = replace(pool_of(), capacity=Capacity(rpm=1, tokens=10), slo=SLO)
    assert plan(tokens, workload_of(), pool, NOW).floors[0].replicas == 2


@given(st.lists(st.floats(0, 500), min_size=4, max_size=20), st.floats(1, 3))
def test_promise_4_holds_with_a_promise_about_waits(load: list[float], factor: float) -> None:
    pool = replace(pool_of(), slo=SLO)
    low, high = (plan(demand_of(np.array(load) * f), workload_of(), pool, NOW) for f in (1.0, factor))
    instants = [demand_of(load).step_start(i) for i in range(len(load))]
    floors = [[f.replicas for f in map(made.floor_at, instants) if f is not None] for made in (low, high)]
    assert all(below <= above for below, above in zip(*floors, strict=True))

"""GPUs that pools share: who gets how many, as rules and as properties over any set of pools."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as any_of
from hypothesis import strategies as st

from forecaster.budget import Ask, Budget, Standing, ceilings, given, likely, odds
from forecaster.claim import Claim
from tests.values import demand_of

small = st.integers(0, 12)


def ask(replicas: int, *, minimum: int = 0, gpus: int = 1, priority: int = 0, worth: float | np.ndarray = 1.0) -> Ask:
    claim = Claim(budget="h100", gpus_per_replica=gpus, priority=priority)
    return Ask(claim=claim, replicas=replicas, minimum=minimum, worth=np.broadcast_to(worth, (replicas,)).astype(float))


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    replicas = draw(small)
    worth = sorted(draw(st.lists(st.floats(0, 10), min_size=replicas, max_size=replicas)), reverse=True)
    gpus, priority = draw(st.sampled_from([1, 2, 8])), draw(st.integers(-1, 1))
    return ask(replicas, minimum=draw(small), gpus=gpus, priority=priority, worth=np.array(worth))


@st.composite
def standings(draw: st.DrawFn) -> Standing:
    claim = Claim(budget="h100", gpus_per_replica=draw(st.sampled_from([1, 2, 8])), priority=draw(st.integers(-1, 1)))
    maximum = draw(st.one_of(st.none(), small))
    wanted = draw(st.one_of(st.none(), small))
    return Standing(claim=claim, minimum=draw(st.integers(0, 3)), share=draw(small), wanted=wanted, most=maximum)


def taken(pools: Sequence[Ask | Standing], replicas: tuple[int, ...]) -> int:
    return sum(pool.claim.gpus_per_replica * n for pool, n in zip(pools, replicas, strict=True))


def test_a_higher_priority_has_all_before_a_lower_one_has_more_than_its_minimum() -> None:
    assert given(32, [ask(24, priority=1), ask(18)]) == (24, 8)
    assert given(32, [ask(24, priority=1), ask(18, minimum=12)]) == (20, 12)
    assert given(32, [ask(24), ask(18, priority=1)]) == (14, 18)


def test_pools_of_one_priority_that_are_alike_have_the_same_part_of_what_they_ask_for() -> None:
    assert given(30, [ask(20), ask(20)]) == (15, 15)
    assert given(21, [ask(28), ask(14)]) == (14, 7)


def test_within_a_priority_the_replica_whose_load_is_likelier_comes_first() -> None:
    steady, bursty = np.array([1.0, 0.9, 0.9, 0.9]), np.array([1.0, 0.6, 0.3, 0.1])
    assert given(5, [ask(4, worth=bursty), ask(4, worth=steady)]) == (1, 4)


def test_a_replica_of_many_gpus_must_be_worth_as_much_as_the_small_ones_in_its_place() -> None:
    assert given(8, [ask(1, gpus=8, worth=4.0), ask(8, worth=1.0)]) == (0, 8)
    assert given(8, [ask(1, gpus=8, worth=16.0), ask(8, worth=1.0)]) == (1, 0)


def test_minimums_stand_even_where_they_are_more_than_there_is() -> None:
    assert given(10, [ask(24, minimum=8, priority=1), ask(18, minimum=6)]) == (8, 6)


@any_of(st.lists(asks(), min_size=1, max_size=6), st.integers(0, 150), st.integers(0, 40))
def test_a_larger_budget_lowers_no_floor(pools: list[Ask], gpus: int, more: int) -> None:
    fewer, larger = given(gpus, pools), given(gpus + more, pools)
    assert all(a <= b for a, b in zip(fewer, larger, strict=True))


@any_of(st.lists(asks(), min_size=1, max_size=6), st.integers(0, 150))
def test_nobody_has_more_than_it_asks_for_or_less_than_its_minimum_and_the_sum_fits_unless_minimums_do_not(
    pools: list[Ask], gpus: int
) -> None:
    found = given(gpus, pools)
    least = tuple(min(pool.replicas, pool.minimum) for pool in pools)
    assert all(low <= n <= pool.replicas for low, n, pool in zip(least, found, pools, strict=True))
    assert taken(pools, found) <= max(gpus, taken(pools, least))
    assert found == given(gpus, pools)


@any_of(st.lists(asks(), min_size=1, max_size=6))
def test_where_there_is_enough_everybody_has_what_it_asks_for(pools: list[Ask]) -> None:
    asked = tuple(pool.replicas for pool in pools)
    assert given(taken(pools, asked), pools) == asked


@any_of(st.integers(1, 40), st.integers(2, 5), st.integers(0, 200))
def test_equal_pools_differ_by_one_replica_at_most(replicas: int, count: int, gpus: int) -> None:
    found = given(gpus, [ask(replicas) for _ in range(count)])
    assert max(found) - min(found) <= 1


def test_a_replica_is_as_likely_needed_as_the_load_exceeds_those_before_it() -> None:
    found = likely(odds(demand_of([200.0])), 0, 24)  # P95 fills 20 replicas, the median 16
    assert found[0] == 1
    assert found[16] == pytest.approx(0.5)
    assert found[20] == pytest.approx(0.05)
    assert all(a >= b for a, b in pairwise(found.tolist()))
    assert likely(None, None, 3).tolist() == [0, 0, 0]


def standing(
    share: int, *, wanted: int | None = None, minimum: int = 0, gpus: int = 1, priority: int = 0, most: int | None = None
) -> Standing:
    claim = Claim(budget="h100", gpus_per_replica=gpus, priority=priority)
    return Standing(claim=claim, minimum=minimum, share=share, wanted=wanted, most=most)


def test_a_pools_share_of_the_plan_is_its_ceiling_where_others_leave_nothing() -> None:
    assert ceilings(30, [standing(20, wanted=28), standing(10, wanted=10)]) == (20, 10)


def test_what_another_pool_does_not_need_now_goes_to_the_raise_that_live_load_asks_for() -> None:
    assert ceilings(30, [standing(20, wanted=28), standing(10, wanted=2)]) == (28, 2)


def test_a_pool_has_its_share_back_before_another_has_more_than_its_own() -> None:
    assert ceilings(30, [standing(20, wanted=28, priority=1), standing(10, wanted=10)]) == (20, 10)


def test_what_nobody_asked_for_is_room_for_all_in_proportion_so_that_most_raises_wait_for_nothing() -> None:
    assert ceilings(45, [standing(20), standing(10)]) == (30, 15)
    assert ceilings(45, [standing(20, most=22), standing(10)]) == (22, 23)


@any_of(st.lists(standings(), min_size=1, max_size=6), st.integers(0, 150), st.integers(0, 40))
def test_ceilings_fit_together_and_a_larger_budget_lowers_none(pools: list[Standing], gpus: int, more: int) -> None:
    found = ceilings(gpus, pools)
    assert taken(pools, found) <= max(gpus, taken(pools, tuple(pool.minimum for pool in pools)))
    assert all(n >= pool.minimum for n, pool in zip(found, pools, strict=True))
    assert all(a <= b for a, b in zip(found, ceilings(gpus + more, pools), strict=True))


def test_a_budget_and_a_claim_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"budget\.gpus must be above 0 GPUs, got 0"):
        Budget(name="h100", gpus=0)
    with pytest.raises(ValueError, match=r"claim\.gpus_per_replica must be above 0 GPUs, got 0"):
        Claim(budget="h100", gpus_per_replica=0)

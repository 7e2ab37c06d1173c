"""Which replayed policy is recommended."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.choice import PRICES, cheapest_in_time, price_in_time


def choose(late: list[float], hours: list[float], limit: float = 0.001) -> int:
    return cheapest_in_time(np.array(late), np.array(hours), limit)


def test_the_cheapest_of_those_in_time_is_chosen() -> None:
    assert choose([0.0, 0.001, 0.0011], [30, 20, 10]) == 1


def test_where_none_is_in_time_lateness_decides_and_the_last_hundredths_of_it_do_not() -> None:
    assert choose([0.5, 0.0100, 0.0105], [1, 90, 30]) == 2
    assert choose([0.5, 0.0100, 0.0120], [1, 90, 30]) == 1


def test_the_tolerance_never_lets_a_late_policy_in_where_one_is_in_time() -> None:
    assert choose([0.00095, 0.00104], [20, 10]) == 0


def test_of_equally_cheap_policies_the_least_late_is_chosen_and_of_equal_ones_the_first() -> None:
    assert choose([0.0005, 0.0001, 0.0001], [10, 10, 10]) == 1


THREE = (50.0, 100.0, 200.0)


def price(late: list[float], paid_min: list[float], limit: float = 0.001, prices: tuple[float, ...] = THREE) -> float:
    """Of 1,000 minutes of work in all: one minute of it late is a thousandth."""
    late_min = np.array(late)
    return price_in_time(late_min / 1_000, late_min, np.array(paid_min), limit, prices)


def cheapest(late: list[float], paid_min: list[float], limit: float = 0.001) -> int:
    """The policy that costs least at the price that was found."""
    return int(np.argmin(np.array(paid_min) + price(late, paid_min, limit) * np.array(late)))


def test_at_the_lowest_price_the_cheapest_is_recommended_if_it_is_in_time() -> None:
    """One minute late costs 50: more than 40 minutes of a replica and less than 60."""
    assert price([1.0, 0.0], [1_000.0, 1_040.0]) == price([1.0, 0.0], [1_000.0, 1_060.0]) == 50.0
    assert cheapest([1.0, 0.0], [1_000.0, 1_040.0]) == 1
    assert cheapest([1.0, 0.0], [1_000.0, 1_060.0]) == 0


@pytest.mark.parametrize(("dearer_min", "found", "chosen"), [(40.0, 50.0, 1), (80.0, 100.0, 1), (180.0, 200.0, 1), (220.0, 200.0, 0)])
def test_the_price_is_raised_until_what_is_cheapest_at_it_is_in_time(dearer_min: float, found: float, chosen: int) -> None:
    """Two minutes late are over the limit, one is not: being in time costs so much more."""
    late, paid = [2.0, 1.0], [1_000.0, 1_000.0 + dearer_min]
    assert price(late, paid) == found
    assert cheapest(late, paid) == chosen


def test_what_is_in_time_by_a_hair_and_dear_is_not_recommended_for_that_alone() -> None:
    """One crowd puts the first a hair over the limit: at no price does anyone pay as much as the second asks."""
    assert cheapest([1.01, 1.0], [1_000.0, 2_000.0]) == 0


def test_where_none_is_in_time_the_dearest_price_decides() -> None:
    for dear in (1_150.0, 1_300.0):
        assert price([90.0, 30.0, 29.0], [1_000.0, 1_000.0, dear]) == 200.0
    assert cheapest([90.0, 30.0, 29.0], [1_000.0, 1_000.0, 1_150.0]) == 2
    assert cheapest([90.0, 30.0, 29.0], [1_000.0, 1_000.0, 1_300.0]) == 1


def test_a_limit_of_nothing_is_met_by_nothing_late() -> None:
    assert price([0.3, 0.0], [1_000.0, 1_025.0], limit=0.0) == 100.0


def test_prices_rise_from_what_a_minute_of_a_replica_costs() -> None:
    assert PRICES[0] > 1
    assert list(PRICES) == sorted(set(PRICES))


def test_a_price_that_a_person_named_stands_alone() -> None:
    assert price([2.0, 1.0], [1_000.0, 1_040.0], prices=(7.0,)) == 7.0


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(1, 1e5)), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.001, 0.01, 1.0]),
)
def test_no_other_policy_is_both_cheaper_and_less_late(policies: list[tuple[float, float]], limit: float) -> None:
    late, paid = (list(of) for of in zip(*policies, strict=True))
    best = cheapest(late, paid, limit)
    assert not any(a < late[best] and b < paid[best] * (1 - 1e-6) for a, b in policies)

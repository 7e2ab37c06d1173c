"""Which replayed policy is recommended."""

import numpy as np

from forecaster.simulate.choice import cheapest_in_time


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

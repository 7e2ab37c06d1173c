"""How many always-on replicas are worth their price."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.base_load import Rates, at, cheapest

HALF = Rates(always_on=2.0, on_demand=4.0)
loads = st.lists(st.integers(0, 300).map(lambda tenths: tenths / 10), min_size=1, max_size=30).map(np.array)
rates = st.builds(Rates, always_on=st.floats(0.5, 5), on_demand=st.floats(0.5, 10), ratio=st.sampled_from([0.5, 1.0, 2.0]))


def day(low_h: int, low: float = 5.0, high: float = 18.0) -> np.ndarray:
    return np.array([low] * low_h + [high] * (24 - low_h))


@pytest.mark.parametrize(("low_h", "replicas"), [(14, 5), (10, 18), (12, 5)])
def test_the_next_one_must_be_used_for_a_part_of_the_time_that_is_the_ratio_of_both_prices(low_h: int, replicas: int) -> None:
    found = cheapest(day(low_h), HALF)
    assert found is not None
    assert found.replicas == replicas
    beside = (18 - replicas) * (24 - low_h) / 24
    assert found.hourly == pytest.approx(2 * replicas + 4 * beside)


def test_what_one_stands_for_counts_in_replicas_on_demand() -> None:
    found = cheapest(day(10), Rates(always_on=2.0, on_demand=4.0, ratio=2.0))
    assert found is not None
    assert found.replicas == 9


def test_where_always_on_is_no_cheaper_there_is_none() -> None:
    found = cheapest(day(1), Rates(always_on=4.1, on_demand=4.0))
    assert found is not None
    assert found.replicas == 0


def test_hours_that_are_not_known_say_nothing() -> None:
    gap = np.append(day(14), [np.nan] * 40)
    assert cheapest(gap, HALF) == cheapest(day(14), HALF)
    assert cheapest(np.array([np.nan]), HALF) is None


@given(loads, rates, st.integers(0, 80))
def test_no_other_number_would_have_cost_less(needs: np.ndarray, of: Rates, other: int) -> None:
    found = cheapest(needs, of)
    assert found is not None
    assert found.hourly <= at(needs, other, of).hourly + 1e-9


@given(loads, rates, st.floats(1, 3))
def test_a_dearer_replica_on_demand_never_makes_fewer_always_on_ones_worth_it(needs: np.ndarray, of: Rates, factor: float) -> None:
    dearer = Rates(always_on=of.always_on, on_demand=of.on_demand * factor, ratio=of.ratio)
    here, there = cheapest(needs, of), cheapest(needs, dearer)
    assert here is not None
    assert there is not None
    assert there.replicas >= here.replicas or at(needs, here.replicas, dearer).hourly == pytest.approx(there.hourly)


def test_a_price_must_be_above_nothing() -> None:
    with pytest.raises(ValueError, match=r"rates\.on_demand must be above 0"):
        Rates(always_on=1.0, on_demand=0.0)

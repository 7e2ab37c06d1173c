"""What of a load is a pool's own: the rows of the table, and rules over any load."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.margin import WHOLE, Margin
from forecaster.units import whole_replicas, whole_replicas_each

needs = st.floats(0, 500).map(lambda need: round(need, 3))  # a load that is a billionth of a replica above a whole one is noise
margins = st.builds(Margin, before=st.floats(0, 300).map(lambda before: round(before, 3)), spare=st.integers(0, 9))


@pytest.mark.parametrize(
    ("need", "margin", "floor"),
    [
        (11.2, Margin(spare=2), 14),
        (11.2, Margin(before=8), 4),
        (11.2, Margin(before=8, spare=2), 6),
        (7.5, Margin(before=8, spare=2), 0),
        (0.0, Margin(spare=2), 0),
    ],
)
def test_the_rows_of_the_table(need: float, margin: Margin, floor: int) -> None:
    assert whole_replicas(margin.asked(need)) == floor


@given(needs)
def test_without_spare_and_with_nothing_before_it_a_pool_is_asked_for_the_whole_need(need: float) -> None:
    assert WHOLE.asked(need) == need


@given(needs, margins)
def test_spare_replicas_are_exactly_so_many_more_wherever_the_load_leaves_anything_to_the_pool(need: float, margin: Margin) -> None:
    bare = whole_replicas(Margin(before=margin.before).asked(need))
    assert whole_replicas(margin.asked(need)) == (bare + margin.spare if bare else 0)


@given(needs, needs, margins)
def test_more_load_never_asks_for_less(one: float, other: float, margin: Margin) -> None:
    assert margin.asked(min(one, other)) <= margin.asked(max(one, other))


@given(needs, margins, st.floats(0, 300), st.integers(0, 9))
def test_more_before_it_never_asks_for_more_and_more_spare_never_for_less(need: float, margin: Margin, more: float, spare: int) -> None:
    assert Margin(before=margin.before + more, spare=margin.spare).asked(need) <= margin.asked(need)
    assert Margin(before=margin.before, spare=margin.spare + spare).asked(need) >= margin.asked(need)


@given(st.lists(needs, min_size=1, max_size=30), margins, st.floats(0, 1))
def test_a_quantile_of_the_load_is_the_same_quantile_of_what_is_left_of_it(loads: list[float], margin: Margin, level: float) -> None:
    ordered = np.sort(np.array(loads))
    i = min(len(loads) - 1, math.floor(level * len(loads)))
    assert np.sort(margin.left_each(np.array(loads)))[i] == margin.left(float(ordered[i]))


@given(st.lists(needs, min_size=1, max_size=30), margins)
def test_an_array_is_asked_as_each_of_its_numbers(loads: list[float], margin: Margin) -> None:
    left = whole_replicas_each(margin.left_each(np.array(loads)))
    assert left.tolist() == [whole_replicas(margin.left(load)) for load in loads]


@pytest.mark.parametrize(
    ("margin", "told", "explained"),
    [
        (WHOLE, "", ""),
        (Margin(spare=2), "; 12 for the load and 2 spare", ", and 2 spare on top"),
        (Margin(before=8.5), "; beside 8.5 before it", ", less 8.5 carried before it"),
        (Margin(before=8, spare=2), "; 12 for the load and 2 spare, beside 8 before it", ", less 8 carried before it, and 2 spare on top"),
    ],
)
def test_what_is_spare_and_what_others_carry_is_told(margin: Margin, told: str, explained: str) -> None:
    assert (margin.told(14), margin.explained(20)) == (told, explained)
    assert Margin(before=20, spare=2).explained(20) == ", all of them carried before it,"


@pytest.mark.parametrize("wrong", [{"before": -1.0}, {"spare": -1}, {"before": math.nan}])
def test_less_than_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"margin\.(before|spare) must be at least 0 replicas"):
        Margin(**wrong)  # type: ignore[arg-type]  # a wrong value is the point

"""The search for a knee: whatever it is, it is bracketed closely, in few steps, and the search always ends."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.bisection import Ended, Judged, Search, next_rpm

SEARCH = Search(first_rpm=100, least_rpm=10, most_rpm=10_000)


def searched(search: Search, knee_rpm: float) -> tuple[Ended, list[Judged]]:
    """What a replica that carries up to its knee answers until the search ends."""
    judged: list[Judged] = []
    while not isinstance(rpm := next_rpm(search, judged), Ended):
        judged.append(Judged(rpm=rpm, holds=rpm <= knee_rpm))
    return rpm, judged


def test_it_begins_where_it_is_told() -> None:
    assert next_rpm(SEARCH, []) == 100


def test_it_leaps_up_while_loads_hold_and_halves_once_one_broke() -> None:
    judged = [Judged(rpm=100, holds=True)]
    assert next_rpm(SEARCH, judged) == 200
    judged += [Judged(rpm=200, holds=True), Judged(rpm=400, holds=False)]
    assert next_rpm(SEARCH, judged) == pytest.approx(math.sqrt(200 * 400))


def test_it_leaps_down_where_the_first_breaks() -> None:
    assert next_rpm(SEARCH, [Judged(rpm=100, holds=False)]) == 50


def test_where_the_least_breaks_nothing_is_found() -> None:
    assert searched(SEARCH, knee_rpm=9) == (Ended.NEVER_HELD, [Judged(rpm=rpm, holds=False) for rpm in (100, 50, 25, 12.5, 10)])


def test_where_the_most_holds_the_knee_is_beyond() -> None:
    ended, judged = searched(SEARCH, knee_rpm=1e6)
    assert (ended, judged[-1].rpm) == (Ended.NEVER_BROKE, 10_000)


def test_a_load_that_breaks_below_one_that_holds_had_bad_luck() -> None:
    judged = [Judged(rpm=100, holds=False), Judged(rpm=50, holds=True), Judged(rpm=120, holds=True)]
    assert next_rpm(SEARCH, judged) == 240


def test_it_ends_after_most_steps_however_wide_the_bracket() -> None:
    ended, judged = searched(Search(first_rpm=100, least_rpm=10, most_rpm=10_000, most_steps=3), knee_rpm=150)
    assert (ended, len(judged)) == (Ended.STEPS_SPENT, 3)


@given(
    knee_rpm=st.floats(10, 9_999),
    first_rpm=st.floats(10, 10_000),
    growth_ratio=st.floats(1.5, 4),
    bracket_ratio=st.floats(1.01, 1.5),
)
def test_every_knee_between_the_bounds_is_bracketed(knee_rpm: float, first_rpm: float, growth_ratio: float, bracket_ratio: float) -> None:
    search = Search(
        first_rpm=first_rpm, least_rpm=10, most_rpm=10_000, growth_ratio=growth_ratio, bracket_ratio=bracket_ratio, most_steps=40
    )
    ended, judged = searched(search, knee_rpm)
    held = max(each.rpm for each in judged if each.holds)
    broke = min(each.rpm for each in judged if not each.holds)
    assert ended is Ended.FOUND
    assert held <= knee_rpm < broke <= held * bracket_ratio


@given(holds=st.lists(st.booleans(), min_size=40, max_size=40), first_rpm=st.floats(10, 10_000))
def test_whatever_is_answered_it_stays_between_its_bounds_repeats_no_load_and_ends(holds: list[bool], first_rpm: float) -> None:
    search = Search(first_rpm=first_rpm, least_rpm=10, most_rpm=10_000)
    judged: list[Judged] = []
    while not isinstance(rpm := next_rpm(search, judged), Ended):
        assert 10 <= rpm <= 10_000
        assert rpm not in [each.rpm for each in judged]
        judged.append(Judged(rpm=rpm, holds=holds[len(judged)]))
    assert len(judged) <= search.most_steps


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"first_rpm": 5.0}, "begins between its bounds"),
        ({"least_rpm": 0.0}, "least_rpm must be above 0"),
        ({"growth_ratio": 1.0}, "growth_ratio must be above 1"),
        ({"bracket_ratio": math.nan}, "bracket_ratio must be above 1"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Search(**{"first_rpm": 100.0, "least_rpm": 10.0, "most_rpm": 10_000.0, **wrong})  # type: ignore[arg-type]  # one of them is wrong

"""What is recommended after a replay, and when one is due."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.recommendation import Grid, Recommendation, Rules, Tried, is_due, level_now, settled
from forecaster.series import Floats, Window

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = Rules(late_limit_ratio=0.001, gain_ratio=0.03)
LEVELS, TARGETS = (0.5, 0.9), (0.6, 0.8)
HOURS = np.array([[1_000.0, 900.0], [1_050.0, 950.0]])
LATE = np.array([[0.0005, 0.002], [0.0, 0.0008]])


def grid(hours: Floats = HOURS, late: Floats = LATE, *, best: tuple[int, int] = (1, 1), costs: Floats | None = None) -> Grid:
    """Two levels under two targets; without prices a pair costs its hours."""
    costs = hours if costs is None else costs
    return Grid(levels=LEVELS, targets=TARGETS, late_ratio=late, replica_hours=hours, cost_hours=costs, days=14, best=best)


def made(pair: tuple[float, float] = (0.9, 0.8), now: tuple[float, float] = (0.9, 0.6), **changes: object) -> Recommendation:
    """A choice for `pair` where `now` stands in production."""
    tried = grid()
    usual = Recommendation(
        at=NOW,
        since=NOW,
        covers=Window(start=NOW - 14 * DAY, end=NOW),
        days=14,
        late_limit_ratio=0.001,
        price=None,
        pair=tried.at(*pair),
        as_it_is=tried.at(*now),
        level=pair[0],
        least_late_ratio=0.0,
        aim="as you say",
        remedy="turn it",
    )
    return replace(usual, **changes)  # type: ignore[arg-type]  # each by its own name


def chosen(found: Grid, standing: tuple[float, float] | None, price: float | None = None) -> tuple[float, float]:
    pair = settled(found, None if standing is None else made(standing), RULES, price)
    return pair.level, pair.target


def test_where_nothing_stands_the_best_is_recommended() -> None:
    assert chosen(grid(), None) == (0.9, 0.8)


def test_a_pair_that_saves_enough_replaces_the_one_that_stands() -> None:
    assert chosen(grid(), (0.9, 0.6)) == (0.9, 0.8)


@pytest.mark.parametrize(("hours", "expected"), [(970.0, (0.9, 0.8)), (970.1, (0.5, 0.6))])
def test_three_percent_are_enough_and_less_leaves_what_stands(hours: float, expected: tuple[float, float]) -> None:
    assert chosen(grid(np.array([[1_000.0, 900.0], [1_050.0, hours]])), (0.5, 0.6)) == expected


def test_a_pair_that_is_late_too_often_gives_way_to_a_dearer_one() -> None:
    assert chosen(grid(best=(1, 0)), (0.5, 0.8)) == (0.9, 0.6)


def test_where_another_is_no_less_late_what_stands_stays_late() -> None:
    late = np.array([[0.5, 0.2], [0.4, 0.3]])
    assert chosen(grid(late=late), (0.5, 0.8)) == (0.5, 0.8)


def test_with_prices_nothing_is_too_late_and_costs_decide() -> None:
    costs = np.array([[1_100.0, 1_000.0], [1_150.0, 990.0]])
    assert chosen(grid(costs=costs), (0.5, 0.8), price=10.0) == (0.5, 0.8)
    assert chosen(grid(costs=costs), (0.5, 0.8)) == (0.9, 0.8)


def test_a_frontier_has_nothing_that_is_dearer_and_no_less_late() -> None:
    assert [(pair.level, pair.target) for pair in grid().frontier()] == [(0.5, 0.8), (0.9, 0.8), (0.5, 0.6), (0.9, 0.6)]
    late = np.array([[0.0009, 0.002], [0.0, 0.0008]])
    assert [(pair.level, pair.target) for pair in grid(late=late).frontier()] == [(0.5, 0.8), (0.9, 0.8), (0.9, 0.6)]


def test_the_level_to_plan_at_is_that_of_the_pair_or_what_the_target_as_it_is_asks_for() -> None:
    hot = grid(costs=np.array([[1_000.0, 1_500.0], [1_050.0, 960.0]]))
    cool = grid().at(0.5, 0.6)
    assert level_now(hot, cool, 0.8, None, RULES) == 0.9
    assert level_now(hot, cool, 0.6, None, RULES) == 0.5
    assert level_now(hot, hot.at(0.9, 0.8), 0.6, None, RULES) == 0.9


def test_a_level_that_stands_is_left_alone_for_a_small_gain() -> None:
    near = grid(costs=np.array([[1_000.0, 950.0], [1_020.0, 960.0]]))
    assert level_now(near, near.at(0.5, 0.6), 0.6, 0.9, RULES) == 0.9
    assert level_now(near, near.at(0.5, 0.6), 0.6, 0.95, RULES) == 0.5  # a level that was not tried stands for nothing


@pytest.mark.parametrize(
    ("days", "after", "due"),
    [
        (0, timedelta(hours=23), False),
        (0, DAY, True),
        (8, 1.9 * DAY, False),
        (8, 2 * DAY, True),
        (20, 4.9 * DAY, False),
        (20, 5 * DAY, True),
        (28, 6.9 * DAY, False),
        (28, 7 * DAY, True),
    ],
)
def test_a_pool_is_due_weekly_and_sooner_while_it_is_young(days: int, after: timedelta, due: bool) -> None:
    assert is_due(NOW, days, RULES, NOW + after) is due


def test_a_pool_that_was_never_looked_at_is_due() -> None:
    assert is_due(None, 0, RULES, NOW)


def test_a_shorter_interval_outranks_the_growth_of_a_young_history() -> None:
    assert is_due(NOW, 20, replace(RULES, every_s=3_600), NOW + timedelta(hours=1))


def test_a_recommendation_is_told_against_what_stands() -> None:
    assert made().told == (
        "P90 and HPA target 80%, by replay of 14 days to 2026-03-01: 9.5% fewer replica-hours than as it is (P90 and HPA target 60%), "
        "0.08% late instead of 0.00%"
    )
    assert "5.6% more replica-hours" in made((0.9, 0.8), (0.5, 0.8)).told
    assert made((0.9, 0.6)).told.endswith(": as it is, 0.00% late")


def test_a_limit_that_no_pair_keeps_is_told_with_the_least_lateness() -> None:
    late = made((0.5, 0.8), least_late_ratio=0.0015)
    assert not late.in_time
    assert late.told.endswith("; no pair keeps late requests within 0.10%, the least is 0.15%")


def test_with_prices_costs_are_told_and_no_limit() -> None:
    priced = made((0.5, 0.8), price=20.0, least_late_ratio=0.0015)
    assert priced.in_time
    assert "14.3% less cost than as it is" in priced.told


def test_what_cost_nothing_has_no_share_that_is_saved() -> None:
    free = Tried(level=0.9, target=0.6, late_ratio=0.0, replica_hours=0.0, cost_hours=0.0)
    assert made(as_it_is=free).saved_ratio is None


@pytest.mark.parametrize("changes", [{"late_limit_ratio": -0.1}, {"gain_ratio": -1}, {"every_s": 0}, {"workloads": -1}])
def test_rules_that_make_no_sense_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="operating_point"):
        replace(RULES, **changes)  # type: ignore[arg-type]  # each by its own name


def test_a_grid_has_one_value_a_pair() -> None:
    with pytest.raises(ValueError, match="one row a level"):
        grid(HOURS[:1])

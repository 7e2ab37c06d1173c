"""Level and target are chosen together, and on nothing but the days before."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.backtest.operating_point import Candidates, OperatingPoint, cheapest_pair, choose, choose_pair, operating_points
from forecaster.backtest.settings import Settings
from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet, Ints, Outcome
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial

MIDNIGHT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)
LEVELS = (0.5, 0.9)
SETTINGS = Settings(least_days=1, levels=LEVELS, targets=(0.5, 1.0))


def trial(load: Floats, first_day: int = 1) -> Trial:
    minutes = MinuteLoad(start=MIDNIGHT, rpm=load)
    return Trial(minutes=minutes, start=MIDNIGHT + first_day * DAY, end=minutes.end, fleet=Fleet(replica_rpm=10), late_limit_ratio=0.001)


def candidates(low: list[int], high: list[int], first_day: int = 1) -> Candidates:
    """One floor a day for each of the two levels."""
    floors: Ints = np.array([low, high])
    return Candidates(start=MIDNIGHT + first_day * DAY, step_s=86_400, levels=LEVELS, floors=floors)


def jumping(days: int) -> Floats:
    """100 a minute, and 200 from noon to one."""
    load = np.full(days * 1_440, 100.0)
    hour = (np.arange(load.size) % 1_440) // 60
    load[hour == 12] = 200.0
    return load


def test_the_cheapest_pair_in_time_is_chosen() -> None:
    """A jump to twice the load is met by half utilisation, or by a floor of 20 under full utilisation: the floor costs as much a day."""
    load = jumping(3)
    assert choose_pair(trial(load), candidates([1, 1], [20, 20]), (0.5, 1.0)) == OperatingPoint(level=0.9, target=1.0)


def test_where_the_target_alone_is_in_time_the_lower_level_saves_replicas() -> None:
    load = np.full(3 * 1_440, 100.0)
    assert choose_pair(trial(load), candidates([1, 1], [20, 20]), (0.5, 1.0)) == OperatingPoint(level=0.5, target=1.0)


def midnights(first_day: int, days: int) -> list[datetime]:
    return [MIDNIGHT + (first_day + day) * DAY for day in range(days)]


def test_the_target_stays_and_the_level_follows_the_days_before() -> None:
    load = np.full(6 * 1_440, 100.0)
    load[3 * 1_440 :] = jumping(3)
    points = operating_points(trial(load, first_day=2), candidates([1] * 5, [20] * 5), SETTINGS, midnights(2, 4), level=0.95)
    assert [point.target for point in points] == [1.0] * 4
    assert [point.level for point in points] == [0.5, 0.5, 0.9, 0.9]


def test_no_day_moves_the_level_of_an_earlier_one() -> None:
    calm, stormy = np.full(6 * 1_440, 100.0), np.full(6 * 1_440, 100.0)
    stormy[4 * 1_440 :] = jumping(2)
    points = [
        operating_points(trial(load, first_day=2), candidates([1] * 5, [20] * 5), SETTINGS, midnights(2, 4), level=0.95)
        for load in (calm, stormy)
    ]
    assert points[0][:3] == points[1][:3]


def test_what_was_not_known_at_midnight_moves_no_level() -> None:
    """The jump at noon of the third day was in an outage that lasted over the next midnight."""
    load = np.full(6 * 1_440, 100.0)
    load[3 * 1_440 : 4 * 1_440] = jumping(1)
    known = midnights(2, 4)
    known[2] -= timedelta(hours=13)
    points = operating_points(trial(load, first_day=2), candidates([1] * 5, [20] * 5), SETTINGS, known, level=0.95)
    assert [point.level for point in points] == [0.5, 0.5, 0.5, 0.9]


def test_an_outage_longer_than_the_trailing_days_leaves_the_level_as_it_was() -> None:
    load = np.full(6 * 1_440, 100.0)
    load[1_440 : 2 * 1_440] = jumping(1)
    brief = Settings(least_days=1, levels=LEVELS, targets=(1.0,), trailing_days=1)
    known = [MIDNIGHT + 2 * DAY] * 4
    points = operating_points(trial(load, first_day=2), candidates([1] * 5, [20] * 5), brief, known, level=0.95)
    assert [point.level for point in points] == [0.9] * 4


def test_without_an_early_forecast_the_autoscaler_alone_finds_its_target() -> None:
    points = operating_points(trial(jumping(2)), candidates([1], [20]), SETTINGS, midnights(1, 1), level=0.95)
    assert points == (OperatingPoint(level=0.95, target=0.5),)


def test_days_longer_ago_than_the_trailing_ones_are_forgotten() -> None:
    load = np.full(8 * 1_440, 100.0)
    load[3 * 1_440 : 4 * 1_440] = jumping(1)
    brief = Settings(least_days=1, levels=LEVELS, targets=(1.0,), trailing_days=2)
    points = operating_points(trial(load, first_day=2), candidates([1] * 7, [20] * 7), brief, midnights(2, 6), level=0.95)
    assert [point.level for point in points] == [0.5, 0.5, 0.9, 0.9, 0.5, 0.5]


def test_of_pairs_that_cost_nearly_the_same_the_coolest_autoscaler_is_chosen_at_its_best_level() -> None:
    """Rows are levels, columns targets from cool to hot."""
    assert cheapest_pair(np.array([[103.0, 101.9, 100.0], [104.0, 102.5, 150.0]])) == (0, 1)
    assert cheapest_pair(np.array([[103.0, 160.0, 100.0], [101.0, 101.0, 150.0]])) == (1, 0)
    assert cheapest_pair(np.array([[103.0, 102.1, 100.0], [104.0, 102.5, 150.0]])) == (0, 2)


def outcome_of(late: list[float], paid_min: list[float], days: int) -> Outcome:
    """Two rows of equal days of 10,000 arrivals each."""
    return Outcome(
        arrivals=np.full(days, 10_000.0),
        late=np.repeat(np.array(late)[:, None], days, axis=1),
        paid_min=np.repeat(np.array(paid_min)[:, None], days, axis=1),
        changes=np.zeros((2, days)),
        backlog=np.zeros(2),
    )


@pytest.mark.parametrize(("days", "row"), [(1, 1), (3, 1), (12, 0)])
def test_the_fewer_days_were_seen_the_more_is_to_spare(days: int, row: int) -> None:
    """8 of 10,000 late are 0.8 of the limit; 12 days are held to 0.8 of it, 3 to half and one to a quarter.

    At 50 replica-minutes for each of late work the first is the cheaper row, at 100 the second: of 10 requests a minute 8 are 0.8 minutes.
    """
    seen = outcome_of([8.0, 0.0], [100.0, 150.0], days)
    assert choose(seen, trial(np.full(3 * 1_440, 100.0))) == row


def test_until_there_is_a_week_of_days_the_policys_level_stands() -> None:
    load = trial(np.full(10 * 1_440, 100.0), first_day=2)
    usual = Settings(levels=LEVELS, targets=(1.0,))
    points = operating_points(load, candidates([1] * 9, [20] * 9), usual, midnights(2, 8), level=0.95)
    assert [point.level for point in points] == [0.95] * 6 + [0.5] * 2

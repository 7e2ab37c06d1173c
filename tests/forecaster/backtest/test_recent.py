"""Pairs tried on a pool's own last days: a generated history with ramps and noise, on the real forecast, floors and replay."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest

from forecaster.backtest.recent import LEVELS, TARGETS, Days, tried
from forecaster.forecast import STANDARD_LEVELS
from forecaster.recommendation import Grid
from forecaster.series import Series, Signal
from forecaster.workload import Policy
from tests.values import pool_of

FIRST = datetime(2026, 2, 16, tzinfo=UTC)  # a Monday
BEFORE, DAYS = 3, 2
NOISE_RATIO = 0.1


def load() -> Series:
    """Five-minute means of a service with a steep morning, and their largest minute."""
    at = np.arange((BEFORE + DAYS) * 288)
    hour = at % 288 / 12
    shape = 40 + 360 * np.clip((hour - 7) / 1.5, 0, 1) * np.clip((20 - hour) / 2, 0, 1)
    mean = shape * np.random.default_rng(5).lognormal(0, NOISE_RATIO, at.size)
    return Series(signal=Signal.RPM, start=FIRST - timedelta(days=BEFORE), step_s=300, mean=mean, peak=mean * 1.2)


def days(**changes: object) -> Days:
    usual = Days(
        load=load(),
        first=FIRST,
        counts=(True,) * DAYS,
        pool=pool_of(),
        policy=Policy(),
        lead_time_s=600,
        late_limit_ratio=0.001,
        model="seasonal_naive",
    )
    return replace(usual, **changes)  # type: ignore[arg-type]  # each by its own name


@cache
def usual() -> Grid:
    return tried(days())


def test_every_candidate_is_a_level_that_plans_can_follow() -> None:
    assert set(LEVELS) <= set(STANDARD_LEVELS)
    assert (usual().levels, usual().targets, usual().days) == (LEVELS, TARGETS, DAYS)


def test_a_hotter_autoscaler_costs_less_and_a_higher_level_is_less_late() -> None:
    assert (np.diff(usual().replica_hours, axis=1) < 0).all()
    assert (usual().late_ratio[-1] <= usual().late_ratio[0]).all()


def test_the_best_is_in_time_and_far_cheaper_than_a_cool_autoscaler() -> None:
    found = usual()
    best = found.at(found.levels[found.best[0]], found.targets[found.best[1]])
    assert best.late_ratio <= 0.001
    assert best.replica_hours < 0.85 * found.at(0.95, 0.6).replica_hours


def test_a_day_that_does_not_count_is_in_no_sum() -> None:
    first, second = tried(days(counts=(True, False))), tried(days(counts=(False, True)))
    assert (first.days, second.days) == (1, 1)
    assert first.replica_hours + second.replica_hours == pytest.approx(usual().replica_hours)


def test_pairs_that_stand_are_tried_beside_the_candidates() -> None:
    found = tried(days(also=((0.3, 0.62),)))
    assert found.at(0.3, 0.62).replica_hours > 0
    assert (0.3 in found.levels, 0.62 in found.targets) == (True, True)


def test_a_price_of_late_requests_takes_the_limits_place() -> None:
    free, dear = (tried(days(price=price)) for price in (0.01, 100_000.0))
    assert free.replica_hours[free.best] < 1.02 * free.replica_hours.min()  # of nearly equal ones the coolest
    assert dear.late_ratio[dear.best] == dear.late_ratio.min()
    assert dear.replica_hours[dear.best] > usual().replica_hours[usual().best]
    late_hours = usual().late_ratio * float(load().between(FIRST, load().end).mean.sum() * 5) / 10 / 60
    assert free.cost_hours == pytest.approx(free.replica_hours + 0.01 * late_hours, rel=0.01)


def test_a_limit_that_some_pair_keeps_is_kept_whatever_it_costs() -> None:
    late = np.unique(usual().late_ratio)
    strict = tried(days(late_limit_ratio=float(late[1])))
    assert strict.late_ratio[strict.best] <= late[1] < usual().late_ratio[usual().best]
    assert strict.replica_hours[strict.best] > usual().replica_hours[usual().best]


def test_a_share_of_the_load_asks_for_a_share_of_the_replicas() -> None:
    half = tried(days(pool=pool_of(share=0.5)))
    assert half.replica_hours.min() == pytest.approx(usual().replica_hours.min() / 2, rel=0.1)


def test_growth_that_is_expected_is_not_in_days_that_have_been() -> None:
    grown = tried(days(policy=Policy(growth_ratio=3.0)))
    assert (grown.replica_hours == usual().replica_hours).all()


def test_days_need_a_word_each_and_one_that_counts() -> None:
    for counts in ((True,), (False,) * DAYS, ()):
        with pytest.raises(ValueError, match="days need one word each"):
            days(counts=counts)


def test_a_load_without_a_capacity_is_refused() -> None:
    concurrency = replace(load(), signal=Signal.CONCURRENCY)
    with pytest.raises((ValueError, AssertionError), match="capacity"):
        tried(days(load=concurrency))

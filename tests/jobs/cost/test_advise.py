"""Advice from what a real line left in a store."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from forecaster.advice import Verdict
from forecaster.capacity import HOW_TO_TELL
from forecaster.marks import Mark, MarkKind
from forecaster.recommendation import Recommendation, Tried
from forecaster.series import Floats, Signal, Window
from jobs.cost.advise import Advised, advise
from jobs.fleet import Fleet
from jobs.forecast import fetch_fleet, forecast_fleet
from jobs.recommendations import Looked, keep_looks
from jobs.savings import Asked, whole_days
from tests.jobs.cost.test_account import section
from tests.jobs.kept_days import seen_ready
from tests.jobs.world import NOW, World, daily_rpm, write_trace

MIDNIGHT = NOW.replace(hour=0, minute=0)
DAYS = 4
QUICK = {"model": "seasonal_naive"}


@pytest.fixture
def world(world: World) -> World:
    """With a model that costs nothing: what it misses is not what these rules are about."""
    world.config["forecast"] = QUICK
    return world


def forecast_days(fleet: Fleet, days: int = DAYS) -> None:
    """A forecast at each midnight, and what came after it."""
    for day in range(days, -1, -1):
        forecast_fleet(fleet, MIDNIGHT - timedelta(days=day))
    fetch_fleet(fleet, MIDNIGHT)


def advised(fleet: Fleet, days: int = DAYS) -> Advised:
    (found,) = advise(fleet, fleet.members, Asked(window=whole_days(NOW, days)), NOW)
    return found


def rows_of(loads: Floats) -> list[tuple[datetime, float]]:
    return [(at, load * 5) for (at, _), load in zip(daily_rpm(), loads, strict=True)]


def by_hour(shape: Sequence[float]) -> Floats:
    return np.array([shape[at.hour] for at, _ in daily_rpm()])


def test_a_morning_that_comes_at_once_each_day_is_worth_pre_scaling(world: World) -> None:
    write_trace(world.folder / "load.csv", rows_of(by_hour([100.0] * 8 + [1_500.0] * 12 + [100.0] * 4)))
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.PRE_SCALE
    assert found.figures.variance.predictable_ratio > 0.95
    assert found.figures.variance.days == DAYS
    assert (found.figures.late_ratio or 0) > 0.001


def test_bursts_that_no_one_foresees_are_queued(world: World) -> None:
    rng = np.random.default_rng(3)
    count = len(daily_rpm())
    write_trace(world.folder / "load.csv", rows_of(np.where(rng.random(count) < 0.1, 2_000.0, 300.0)))
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.QUEUE
    assert found.figures.variance.bursty_ratio > 0.8


def test_a_slow_day_needs_no_floors(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.QUEUE
    assert "in time" in found.because
    assert found.figures.busiest_ratio is None


def test_an_operating_point_that_saves_makes_floors_worth_it_where_the_autoscaler_is_in_time(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        keep_looks(fleet.store, {("chat", "gpu"): Looked(at=MIDNIGHT, made=(recommended(saved_ratio=0.2),))})
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.PRE_SCALE
    assert found.figures.point_saved_ratio == pytest.approx(0.2)


def recommended(*, saved_ratio: float) -> Recommendation:
    """A hotter autoscaler above floors, which takes so much less."""
    as_it_is = Tried(level=0.95, target=0.7, late_ratio=0.0, replica_hours=100.0, cost_hours=100.0)
    return Recommendation(
        at=MIDNIGHT,
        since=MIDNIGHT,
        covers=Window(start=MIDNIGHT - timedelta(days=7), end=MIDNIGHT),
        days=7,
        late_limit_ratio=0.001,
        price=None,
        pair=replace(as_it_is, target=0.9, replica_hours=100 * (1 - saved_ratio)),
        as_it_is=as_it_is,
        level=0.95,
        least_late_ratio=0.0,
        aim="as you say",
        remedy="set it",
    )


def test_replicas_that_are_never_filled_come_before_any_scaling(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        seen_ready(fleet.store, np.full(DAYS * 288, 30.0), MIDNIGHT)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.OPTIMISE
    assert found.figures.busiest_ratio == pytest.approx(0.36, abs=0.03)
    assert (found.figures.idle_ratio or 0) > 0.8


def test_a_replica_that_is_larger_than_the_load_comes_before_any_scaling(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["pools"][0]["capacity"] = {"rpm": 5_000}
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.OPTIMISE
    assert "use smaller replicas" in found.because


def test_calls_that_are_repeated_come_before_any_scaling(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["task"] = {"calls": 3, "retries": 0.25}
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.OPTIMISE
    assert found.figures.lost_ratio == pytest.approx(0.25)


def test_a_load_that_counts_no_requests_is_judged_by_how_often_it_outgrows_the_autoscaler(world: World) -> None:
    write_trace(world.folder / "load.csv", rows_of(by_hour([100.0] * 8 + [1_500.0] * 12 + [100.0] * 4)))
    world.workload("chat", mode="observe")
    section(world)["signals"] = {"concurrency": {"query": "value", "unit": "count"}}
    section(world)["pools"][0]["capacity"] = {"concurrency": 500}
    with world.fleet() as fleet:
        forecast_days(fleet)
        found = advised(fleet).advice
    assert found is not None
    assert found.verdict is Verdict.PRE_SCALE
    assert found.figures.late_ratio is None
    assert found.figures.outrun_ratio > 0.001


def test_days_without_forecasts_are_too_little_history(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        found = advised(fleet)
    assert found.advice is None
    assert found.missing.startswith("too little history: from 2026-02-26 to 2026-03-01 fewer than 3 days have both a kept forecast")


def test_a_span_without_load_or_capacity_is_said_in_a_sentence(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        assert advised(fleet).missing == "no rpm was kept of these days; `forecaster fetch` brings what the source has"
    del section(world)["pools"][0]["capacity"]
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        assert advised(fleet).missing == f"pool gpu has no capacity for its load; {HOW_TO_TELL}"


def test_days_that_are_marked_as_lies_say_nothing_of_the_load(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        forecast_days(fleet)
        day = MIDNIGHT - timedelta(days=1)
        span = Window(start=day, end=MIDNIGHT)
        fleet.store.append_marks("chat", [Mark(kind=MarkKind.OUTAGE, span=span, signal=Signal.RPM, at=MIDNIGHT, author="ada")])
        found = advised(fleet).advice
    assert found is not None
    assert found.figures.variance.days == DAYS - 1


def with_always_on(world: World, count: int, **more: object) -> None:
    """Two kinds of replicas for a load of 500 by day for ten hours and of 100 else: always on at 2, on demand at 4."""
    write_trace(world.folder / "load.csv", rows_of(by_hour([95.0] * 8 + [495.0] * 10 + [95.0] * 6)))
    world.workload("chat", mode="observe")
    world.config["prices"] = {"currency": "USD", "gpu_hour": 4}
    pools = section(world)["pools"]
    (on_demand,) = pools
    (target,) = on_demand["targets"]
    first = {"name": "reserved", "always_on": count, "gpu_hour": 2, "targets": [{**target, "name": "reserved"}]}
    section(world)["pools"] = [{**on_demand, **first, **more}, {**on_demand, "after": "reserved"}]


@pytest.mark.parametrize(
    ("count", "more", "told"),
    [
        (1, {}, "1 x reserved always on costs least for the load as it was: 8.667 USD an hour with gpu"),
        (3, {"spare": 1}, "2 x reserved always on would have cost least .*: 10.67 USD an hour with gpu, where 3 cost 11 USD an hour"),
        (1, {"gpu_hour": 0.1}, "5 x reserved always on would have cost least .*: 0.5 USD an hour with gpu, where 1 cost 6.767 USD an hour"),
    ],
)
def test_the_number_of_always_on_replicas_that_would_have_cost_least_is_told(
    world: World, count: int, more: dict[str, object], told: str
) -> None:
    with_always_on(world, count, **more)
    with world.fleet() as fleet:
        forecast_days(fleet)
        (sentence,) = advised(fleet).always_on
    assert re.fullmatch(told, sentence)


def test_without_prices_nothing_is_told_of_always_on_replicas(world: World) -> None:
    with_always_on(world, 1)
    del world.config["prices"]
    for pool in section(world)["pools"]:
        pool.pop("gpu_hour", None)
    with world.fleet() as fleet:
        forecast_days(fleet)
        assert advised(fleet).always_on == ()

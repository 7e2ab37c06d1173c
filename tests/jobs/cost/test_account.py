"""Unit costs from what a real line left in a store, and tasks from the workload's own source."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forecaster.errors import NothingKept
from forecaster.series import Floats
from forecaster.unit_cost import Used
from jobs.cost.account import Cost, compare, costs
from jobs.cost.asked import weighed
from jobs.fleet import Fleet
from jobs.forecast import fetch_fleet
from jobs.savings import whole_days
from tests.jobs.kept_days import decided, seen_ready
from tests.jobs.world import NOW, World, daily_rpm

MIDNIGHT = NOW.replace(hour=0, minute=0)
PRICES = {"currency": "EUR", "gpu_hour": 2.0}
COLUMNS = "timestamp,value,input,output,calls"


def section(world: World, name: str = "chat") -> Any:
    """A workload of the file as it will be written."""
    workloads: Any = world.config["workloads"]
    return next(each for each in workloads if each["name"] == name)


def write_columns(path: Path) -> None:
    """The daily load with lengths; at night a task takes 10 calls, by day 2."""
    rows = [f"{at.isoformat()},{count:.1f},800,200,{10 if at.hour < 7 else 2}" for at, count in daily_rpm()]
    path.write_text("\n".join([COLUMNS, *rows]) + "\n")


def with_lengths(world: World, name: str = "chat") -> None:
    for signal in ("input", "output"):
        section(world, name)["signals"][f"{signal}_length"] = {"query": signal, "unit": "count"}


def found(fleet: Fleet, days: int = 2, name: str = "chat") -> Cost:
    members = [member for member in fleet.members if member.workload.name == name]
    (row,) = costs(fleet.store, members, whole_days(NOW, days)).rows
    return row


def served(days: int) -> float:
    """Requests of the last whole days, as the trace has them."""
    return sum(count for at, count in daily_rpm() if MIDNIGHT - timedelta(days=days) <= at < MIDNIGHT)


def test_replicas_that_were_seen_ready_are_paid_by_the_requests_of_the_days(world: World) -> None:
    world.workload("chat", mode="observe")
    world.config["prices"] = PRICES
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(2 * 288, 10.0), MIDNIGHT)
        row = found(fleet)
    assert (row.days, row.hours_of, row.used.hours, row.used.spend) == (2, "ready", 480, 960)
    assert row.used.requests == pytest.approx(served(2), rel=1e-3)
    assert row.best.call == pytest.approx(960 / served(2), rel=1e-3)
    assert row.used.busy_hours == pytest.approx(served(2) / 6_000, rel=1e-3)
    assert (row.best.token, row.best.task) == (None, None)


def test_floors_stand_in_on_days_on_which_nobody_saw_replicas(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        decided(fleet.store, [6] * 2 * 96, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet)
    assert (row.days, row.hours_of, row.used.hours) == (2, "ready and floors", 24 * 16)


def test_a_day_without_replicas_is_left_out_of_both_sides(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet)
    assert (row.days, row.asked_days, row.used.hours) == (1, 2, 240)
    assert row.used.requests == pytest.approx(served(1), rel=1e-3)


def test_without_prices_costs_are_in_replica_hours(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet, 1)
    assert (row.in_money, row.currency, row.used.spend) == (None, None, None)
    assert row.best.call == pytest.approx(240 / served(1), rel=1e-3)


def test_each_pool_has_its_price_and_one_that_nobody_saw_leaves_the_whole_unknown(world: World) -> None:
    world.workload("chat", mode="observe")
    world.config["prices"] = PRICES
    (pool,) = section(world)["pools"]
    target = {"type": "recording", "name": "spot"}
    section(world)["pools"] = [{**pool, "share": 0.5}, {**pool, "name": "spot", "share": 0.5, "gpu_hour": 0.5, "targets": [target]}]
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(2 * 288, 4.0), MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 8.0), MIDNIGHT, name="chat/spot")
        row = found(fleet)
    assert (row.days, row.used.hours, row.used.spend) == (1, 24 * 12, 24 * (4 * 2.0 + 8 * 0.5))


def test_a_part_that_is_served_elsewhere_is_not_paid_here(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["pools"][0]["share"] = 0.25
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        assert found(fleet, 1).used.requests == pytest.approx(served(1) / 4, rel=1e-3)


def test_pools_with_room_for_more_than_all_of_the_load_are_filled_by_all_of_it_once(world: World) -> None:
    world.workload("chat", mode="observe")
    (pool,) = section(world)["pools"]
    section(world)["pools"] = [pool, {**pool, "name": "spare", "targets": [{"type": "recording", "name": "spare"}]}]
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        for name in ("chat/gpu", "chat/spare"):
            seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT, name=name)
        used = found(fleet, 1).used
    assert used.requests == pytest.approx(served(1), rel=1e-3)
    assert used.busy_hours == pytest.approx(served(1) / 6_000, rel=1e-3)


def test_tokens_are_requests_times_their_lengths(world: World) -> None:
    world.workload("chat", mode="observe")
    world.config["prices"] = PRICES
    write_columns(world.folder / "load.csv")
    with_lengths(world)
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet, 1)
    assert row.used.input_tokens == pytest.approx(served(1) * 800, rel=1e-3)
    assert row.used.tokens == pytest.approx(served(1) * 1_000, rel=1e-3)
    assert row.best.output_token == pytest.approx(480 / (served(1) * 200), rel=1e-3)


def test_a_workload_that_is_measured_in_tokens_alone_has_a_cost_of_tokens(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["signals"] = {"tokens": {"query": "value", "unit": "per_second"}}
    section(world)["pools"][0]["capacity"] = {"tokens": 500}
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet, 1)
    assert row.used.tokens == pytest.approx(served(1) * 300, rel=1e-3)  # the trace's numbers as tokens a second, for 300 seconds each
    assert row.best.token == pytest.approx(240 / (served(1) * 300), rel=1e-3)
    assert row.best.call is None


def test_a_task_that_the_source_tells_of_is_weighed_by_requests(world: World) -> None:
    world.workload("chat", mode="observe")
    write_columns(world.folder / "load.csv")
    section(world)["task"] = {"calls": {"query": "calls"}, "completion": 0.8, "retries": 0.1}
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet, 1)
    by_night = sum(count for at, count in daily_rpm() if MIDNIGHT - timedelta(days=1) <= at < MIDNIGHT and at.hour < 7)
    tasks_begun = by_night / 10 + (served(1) - by_night) / 2
    assert row.task is not None
    assert row.task.calls == pytest.approx(served(1) / tasks_begun, rel=1e-3)
    assert row.best.task == pytest.approx(240 / (tasks_begun * 0.8), rel=1e-3)
    assert row.best.retries == pytest.approx(0.08 * (row.best.task or 0))


def test_a_task_that_the_source_does_not_know_is_said_and_the_rest_is_told(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["task"] = {"calls": {"query": "cals"}}
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        row = found(fleet, 1)
    assert (row.task, row.best.task) == (None, None)
    assert row.best.call is not None
    (told,) = row.told
    assert told.startswith("what a task takes is not known, its calls could not be read: ")
    assert "cals" in told


def test_an_answer_out_of_its_range_is_no_task(world: World) -> None:
    world.workload("chat", mode="observe")
    section(world)["task"] = {"calls": 4, "completion": {"query": "value"}}
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        (told,) = found(fleet, 1).told
    assert told.startswith("what a task takes is not known: task.completion must be above 0 and at most 1, got ")


def test_replicas_that_carry_more_than_is_said_of_them_are_told(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 1.0), MIDNIGHT)
        (told,) = found(fleet, 1).told
    assert "of what its replicas carry" in told


@pytest.mark.parametrize(
    ("load", "replicas", "said"),
    [
        (True, False, "no day from 2026-02-28 to 2026-03-01 on which replicas were seen ready or floors were decided"),
        (False, True, "no whole day of requests or tokens was kept from 2026-02-28 to 2026-03-01"),
    ],
)
def test_a_span_without_history_is_said_in_a_sentence(world: World, *, load: bool, replicas: bool, said: str) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        if load:
            fetch_fleet(fleet, MIDNIGHT)
        if replicas:
            seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        with pytest.raises(NothingKept, match=said):
            found(fleet)


def test_a_workload_without_history_leaves_the_others_their_costs(world: World) -> None:
    world.workload("chat", mode="observe")
    world.workload("search", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
        account = costs(fleet.store, fleet.members, whole_days(NOW, 2))
    assert [row.workload for row in account.rows] == ["chat"]
    (sentence,) = account.left_out
    assert sentence.startswith("search: no day")


def test_half_again_the_price_at_half_the_calls_is_three_quarters_from_end_to_end(world: World) -> None:
    world.config["prices"] = PRICES
    for name, calls, price in (("chat", 4, 2.0), ("chat-int8", 2, 3.0)):
        world.workload(name, mode="observe")
        section(world, name)["task"] = {"calls": calls}
        section(world, name)["pools"][0]["gpu_hour"] = price
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        for name in ("chat/gpu", "chat-int8/gpu"):
            seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT, name=name)
        first, second = (found(fleet, 1, name) for name in ("chat", "chat-int8"))
    assert compare(first, second).ratio == pytest.approx(0.75)


NIGHT_AND_DAY = np.array([1.0, 9.0])


@pytest.mark.parametrize(
    ("answers", "load", "over_calls", "expected"),
    [
        (np.array([10.0, 2.0]), NIGHT_AND_DAY, True, 10 / (1 / 10 + 9 / 2)),
        (np.array([0.5, 0.1]), NIGHT_AND_DAY, False, 0.14),
        (np.array([0.5, np.nan]), NIGHT_AND_DAY, False, 0.5),
        (np.array([0.5, 0.1]), np.array([np.nan, np.nan]), False, 0.3),
        (np.array([0.0, 2.0]), NIGHT_AND_DAY, True, 2.0),
        (np.array([0.0, 0.0]), NIGHT_AND_DAY, True, None),
        (np.array([np.nan, np.nan]), NIGHT_AND_DAY, False, None),
        (np.array([0.0, 0.0]), NIGHT_AND_DAY, False, 0.0),
    ],
)
def test_answers_count_by_the_requests_of_their_hours(answers: Floats, load: Floats, expected: float | None, *, over_calls: bool) -> None:
    assert weighed(answers, load, over_calls=over_calls) == (None if expected is None else pytest.approx(expected))


def test_nothing_is_known_of_a_workload_that_nobody_looked_at() -> None:
    assert Used().utilisation_ratio is None

"""Work that may wait, down the whole line: planned in what a live pool leaves of a budget, written, and worked off."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forecaster.reasons import Code
from jobs.apply import apply_fleet
from jobs.cli.main import app
from jobs.config.reading import read_config
from jobs.forecast import forecast_fleet
from tests.jobs.config.samples import faults_of, with_workload
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)
HOUR = 60 * MINUTE


def with_bulk(world: World, bulk: dict[str, object], *, gpus: int = 20) -> None:
    """A workload with a live pool and one for work that may wait, which share a budget."""
    world.workload("chat", min=1, allow_below_original=True)
    world.config["budgets"] = {"h100": {"gpus": gpus}}
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    (live,) = workloads[-1]["pools"]
    (target,) = live["targets"]
    batch = {"name": "batch", "budget": "h100", "bulk": bulk, "targets": [{**target, "name": "chat-batch"}]}
    workloads[-1]["pools"] = [{**live, "budget": "h100"}, batch]
    world.api.add_hpa("serving", "chat-batch", min_replicas=1, max_replicas=40)


def test_bulk_work_runs_in_the_trough_of_the_night_and_leaves_the_day_to_live_load(world: World) -> None:
    with_bulk(world, {"replica_hours": 100, "deadline": "06:00", "span": "12h"})
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        live, batch = draft.plans
        for hours in range(36):
            at = NOW + hours * HOUR
            both = [plan.floor_at(at) for plan in (live, batch)]
            assert sum(floor.replicas for floor in both if floor is not None) <= 20
        assert draft.problems == ()
        day, night = (batch.floor_at(NOW + hours * HOUR) for hours in (5, 13))
        assert day is not None
        assert night is not None
        assert day.replicas == 1
        assert night.replicas > 10
        assert night.reason.code is Code.BULK
        apply_fleet(fleet, NOW)
        (cycle,) = apply_fleet(fleet, NOW + MINUTE)
        assert cycle.problems == ()
        now = batch.floor_at(NOW + MINUTE)
        assert now is not None
        assert world.floor("chat-batch") == now.replicas


def test_what_was_done_is_asked_for_no_more(world: World) -> None:
    with_bulk(world, {"replica_hours": 30, "deadline": "06:00"})
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        for minutes in range(0, 120, 5):
            apply_fleet(fleet, NOW + minutes * MINUTE)
        (draft,) = forecast_fleet(fleet, NOW + 2 * HOUR)
        batch = next(plan for plan in draft.plans if plan.pool == "batch")
        first = next(floor for floor in batch.floors if floor.reason.code is Code.BULK and floor.replicas)
    told = re.search(r"leaves: ([\d.]+) of 30 replica-hours are left to do by 2026-03-03T06:00:00Z", first.reason.detail)
    assert told is not None
    assert 5 < float(told[1]) < 29


def test_work_that_cannot_be_done_in_time_is_told_with_the_plan(world: World) -> None:
    with_bulk(world, {"requests": 6_000_000, "rpm": 100, "deadline": "2026-03-03T06:00", "zone": "Europe/Berlin"})
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
    batch = next(plan for plan in draft.plans if plan.pool == "batch")
    (late,) = (reason for reason in batch.reasons if reason.code is Code.BULK_LATE)
    assert "of 1,000 replica-hours of chat/batch are not done by 2026-03-03T05:00:00Z" in late.detail


def test_bulk_work_keeps_no_account_of_live_load_from_being_told(world: World) -> None:
    with_bulk(world, {"replica_hours": 20, "deadline": "06:00"})
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
    at = ["--config", str(world.path), "--now", (NOW + 24 * HOUR).isoformat()]
    told = CliRunner().invoke(app, ["savings", *at])
    assert "has no capacity" not in told.stderr
    assert "chat" in told.stdout


POOL = "{name: gpu, capacity: {rpm: 60},"
LIVE = "{name: live, capacity: {rpm: 60}, targets: [{type: recording, name: live}]}, {name: gpu,"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("bulk: {replica_hours: 8, deadline: '06:00'}", "has bulk work and no budget"),
        ("budget: h100, bulk: {deadline: '06:00'}", "say the work once"),
        ("budget: h100, bulk: {requests: 100, deadline: '06:00'}", "say the work once"),
        ("budget: h100, bulk: {replica_hours: 8, tokens: 5, tokens_per_s: 1, deadline: '06:00'}", "say the work once"),
        ("budget: h100, bulk: {replica_hours: 8, deadline: soon}", "a time is written like 2026-12-01T09:00"),
        ("budget: h100, bulk: {replica_hours: 8, deadline: '25:00'}", "a time of day is written HH:MM"),
        ("budget: h100, capacity: {rpm: 60}, bulk: {replica_hours: 8, deadline: '06:00'}", "bulk and capacity contradict each other"),
    ],
)
def test_bulk_work_that_is_not_clear_is_one_sentence(tmp_path: Path, written: str, told: str) -> None:
    faults = faults_of(tmp_path, with_workload(POOL, f"{LIVE} {written},") + "budgets: {h100: {gpus: 8}}\n")
    assert any(told in fault for fault in faults)


def test_tokens_over_the_speed_of_a_replica_are_replica_seconds(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    written = "budget: h100, bulk: {tokens: 7200000, tokens_per_s: 2000, deadline: '06:00', span: 8h}"
    path.write_text(with_workload(POOL, f"{LIVE} {written},") + "budgets: {h100: {gpus: 8}}\n")
    _, pool = read_config(path).workloads[0].to_core().pools
    assert pool.bulk is not None
    assert (pool.bulk.work_s, pool.bulk.daily_min, pool.bulk.span_s) == (3_600, 360, 28_800)


def test_a_workload_that_serves_no_live_load_is_refused(tmp_path: Path) -> None:
    written = with_workload(POOL, "{name: gpu, budget: h100, bulk: {replica_hours: 8, deadline: '06:00'},")
    (fault,) = faults_of(tmp_path, written + "budgets: {h100: {gpus: 8}}\n")
    assert "has bulk work only: one of its pools must serve its live load" in fault

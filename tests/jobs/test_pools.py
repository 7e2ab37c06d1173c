"""Always-on, burst and spot pools of one workload down the whole line."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.series import Signal
from forecaster.unit_cost import summed
from jobs.apply import Cycle, apply_fleet
from jobs.cli.main import app
from jobs.cost.days import days_of
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.ledger import ledger
from jobs.ready import ready_replicas
from jobs.savings import Asked, account, whole_days
from tests.jobs.config.samples import faults_of, with_workload
from tests.jobs.kept_days import seen_ready, watched_days
from tests.jobs.world import NOW, World

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def pooled(world: World, **burst: object) -> None:
    """A workload with 4 reserved replicas that are always on, of 100 requests a minute each, and a pool on demand after them."""
    world.workload("chat", min=0, allow_below_original=True)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    (on_demand,) = workloads[-1]["pools"]
    (target,) = on_demand["targets"]
    reserved = {"name": "reserved", "capacity": {"rpm": 100}, "always_on": 4, "targets": [{**target, "name": "chat-reserved"}]}
    on_demand |= {"name": "on-demand", "after": "reserved", **burst}
    workloads[-1]["pools"] = [reserved, on_demand]
    world.api.add_hpa("serving", "chat-reserved", min_replicas=1, max_replicas=40, scales="Deployment/reserved")


@contextmanager
def recorded(world: World) -> Iterator[Fleet]:
    """The fleet over targets that record what would be written."""
    with world.fleet(rehearse="all") as fleet:
        yield fleet


def floors(cycle: Cycle) -> dict[str, int]:
    return {record.decision.pool: record.decision.floor for record in cycle.records}


def plans(fleet: Fleet) -> dict[str, Plan]:
    (draft,) = forecast_fleet(fleet, NOW)
    return {plan.pool: plan for plan in draft.plans}


def test_over_a_day_the_always_on_pool_stands_and_the_burst_pool_follows_the_ramp_so_that_both_carry_the_load(world: World) -> None:
    pooled(world)
    with recorded(world) as fleet:
        found = plans(fleet)
        assert {floor.replicas for floor in found["reserved"].floors} == {4}
        demand = found["on-demand"].demand
        assert demand is not None
        seen = []
        for i in range(0, 24 * 12, 6):
            at = demand.step_start(i)
            floor = found["on-demand"].floor_at(at)
            assert floor is not None
            assert (4 + floor.replicas) * 100 >= demand.load[0, i]
            seen.append(floor.replicas)
        assert min(seen) == 0  # 100 requests a minute at night are less than what 4 carry
        assert max(seen) >= math.ceil(1_000 / 100) - 4
        live = []
        for minutes in range(0, 300, 10):
            (cycle,) = apply_fleet(fleet, NOW + minutes * MINUTE)
            assert not cycle.problems
            live.append(floors(cycle))
    assert {each["reserved"] for each in live} == {4}
    assert 6 <= live[-1]["on-demand"] <= 9
    assert live[0]["on-demand"] < live[-1]["on-demand"]


def test_an_always_on_pool_stands_without_a_forecast_and_says_why_with_one(world: World) -> None:
    pooled(world)
    with recorded(world) as fleet:
        (cycle,) = apply_fleet(fleet, NOW)
        assert floors(cycle)["reserved"] == 4
        plans(fleet)
        (cycle,) = apply_fleet(fleet, NOW + MINUTE)
        (record,) = (record for record in cycle.records if record.decision.pool == "reserved")
        assert record.decision.reasons[0].detail == "4 are always on, whatever the load"


def test_an_always_on_pool_of_which_nobody_said_what_it_carries_stands_as_well_and_is_no_alert(world: World) -> None:
    pooled(world)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    del workloads[-1]["pools"][0]["capacity"]
    with recorded(world) as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        assert not draft.failures
        (cycle,) = apply_fleet(fleet, NOW)
    assert floors(cycle)["reserved"] == 4
    assert not any(record.decision.alerts for record in cycle.records)


def test_while_the_load_is_unknown_an_always_on_pool_stands(world: World) -> None:
    pooled(world)
    with recorded(world) as fleet:
        plans(fleet)
        (cycle,) = apply_fleet(fleet, NOW + 10 * 24 * HOUR)  # the trace has ended, and so has the plan
    assert floors(cycle)["reserved"] == 4


def test_k_spare_replicas_stand_on_top_of_what_is_left_for_the_burst_pool(world: World) -> None:
    pooled(world)
    with recorded(world) as fleet:
        bare = plans(fleet)["on-demand"]
    pooled_again = world.config["workloads"]
    assert isinstance(pooled_again, list)
    pooled_again[-1]["pools"][1]["spare"] = 2
    with recorded(world) as fleet:
        spare = plans(fleet)["on-demand"]
    for hours in range(24):
        before, after = bare.floor_at(NOW + hours * HOUR), spare.floor_at(NOW + hours * HOUR)
        assert before is not None
        assert after is not None
        assert after.replicas == (before.replicas + 2 if before.replicas else 0)
    assert any("for the load and 2 spare, beside 4 before it" in floor.reason.detail for floor in spare.floors)


def test_a_spot_pool_comes_after_an_always_on_one_as_well(world: World) -> None:
    pooled(world, spot={"preempted_per_hour": 3})  # one half is away
    with recorded(world) as fleet:
        found = plans(fleet)["on-demand"]
    floor = found.floor_at(NOW + 4 * HOUR)
    assert floor is not None
    assert floor.replicas >= 2 * 6
    assert Code.SPOT_LOSSES in {reason.code for reason in found.reasons}


def test_under_a_budget_what_is_always_on_is_a_minimum(world: World) -> None:
    pooled(world)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    for pool in workloads[-1]["pools"]:
        pool |= {"budget": "h100"}
    workloads[-1]["pools"][1]["priority"] = 5
    world.config["budgets"] = {"h100": {"gpus": 6}}
    with recorded(world) as fleet:
        found = plans(fleet)
        assert {floor.replicas for floor in found["reserved"].floors} == {4}
        assert max(floor.replicas for floor in found["on-demand"].floors) == 2
        (cycle,) = apply_fleet(fleet, NOW + 2 * HOUR)
        assert floors(cycle)["reserved"] == 4
        assert floors(cycle)["on-demand"] <= 2


def test_overdue_always_on_replicas_are_made_up_for_by_the_pool_after_them_once(world: World) -> None:
    pooled(world, stands_in_for="reserved")
    seen = {}
    with world.fleet() as fleet:
        plans(fleet)
        for ready in (4, 2):
            world.api.add_workload("serving", "reserved", replicas=4, ready=ready)
            for minutes in range(0, 180, 10) if ready == 4 else (180,):
                (cycle,) = apply_fleet(fleet, NOW + minutes * MINUTE)
            seen[ready] = cycle
    (before, after), reasons = (floors(seen[ready]) for ready in (4, 2)), {r.decision.pool: r.decision.reasons for r in seen[2].records}
    assert before["reserved"] == after["reserved"] == 4
    assert after["on-demand"] == before["on-demand"] + 2
    assert Code.OVERDUE in {reason.code for reason in reasons["reserved"]}
    told = "stands in for pools before it: what 2 replicas of its own would carry is missing there"
    assert told in {reason.detail for reason in reasons["on-demand"]}


def test_what_a_ceiling_or_a_pause_keeps_of_an_always_on_pool_is_made_up_for_as_well(world: World) -> None:
    pooled(world)
    seen = {}
    with world.fleet() as fleet:
        plans(fleet)
        for minutes in range(0, 180, 10):
            (seen["whole"],) = apply_fleet(fleet, NOW + minutes * MINUTE)
        world.api.add_hpa("serving", "chat-reserved", min_replicas=1, max_replicas=3, scales="Deployment/reserved")
        (seen["ceiling"],) = apply_fleet(fleet, NOW + 180 * MINUTE)
        paused = {"forecaster/paused": "hold"}
        world.api.add_hpa("serving", "chat-reserved", min_replicas=1, max_replicas=9, scales="Deployment/reserved", annotations=paused)
        (seen["pause"],) = apply_fleet(fleet, NOW + 181 * MINUTE)
    found = {name: floors(cycle) for name, cycle in seen.items()}
    assert [found[name]["reserved"] for name in ("whole", "ceiling", "pause")] == [4, 3, 1]
    assert found["ceiling"]["on-demand"] == found["whole"]["on-demand"] + 1
    assert found["pause"]["on-demand"] == found["whole"]["on-demand"] + 3


def test_accounts_count_each_request_once_and_all_hours_of_what_is_always_on(world: World) -> None:
    pooled(world, gpu_hour=4)
    world.config["prices"] = {"currency": "EUR", "gpu_hour": 2}
    midnight = NOW.replace(hour=0, minute=0)
    with world.fleet() as fleet:
        watched_days(fleet, midnight, 1, every=timedelta(hours=2))
        for pool, ready in (("reserved", 4.0), ("on-demand", 5.0)):
            seen_ready(fleet.store, np.full(288, ready), midnight, name=f"chat/{pool}")
        day, (member,) = whole_days(NOW, 1), fleet.members
        records = fleet.store.records("chat", day)
        used = summed(days_of(ready_replicas(fleet.store), member, records, day).used)
        found = account(fleet.store, fleet.members, Asked(window=day)).rows[0]
        requests = fleet.store.history("chat", Signal.RPM, day, 300).mean.sum() * 5
        pages = {page.pool: page for page in ledger(fleet.store, fleet.members, midnight, 1).pages}
    assert used.requests == pytest.approx(requests)
    assert used.busy_hours == pytest.approx(requests / 60 / 100)  # a replica of either pool carries 100 a minute
    assert (used.hours, used.spend) == (9 * 24, 24 * (4 * 2 + 5 * 4))
    assert found.spent.requests == pytest.approx(requests, rel=0.01)
    assert found.spent.reactive_hours is not None
    assert found.spent.reactive_hours >= 4 * 24 + 24  # bought whether used or not, and one beside them at least
    assert found.money is not None
    assert found.money.actual == used.spend
    assert pages["on-demand"].ramps
    assert not pages["reserved"].ramps


def test_the_views_of_a_fleet_with_pools_say_which_is_always_on_and_what_is_left_for_the_other(world: World) -> None:
    pooled(world, spare=1)
    run, at = CliRunner(), ["--config", str(world.path), "--now", (NOW + 3 * HOUR).isoformat()]
    assert run.invoke(app, ["run", "--config", str(world.path), "--now", NOW.isoformat()]).exit_code == 0
    assert run.invoke(app, ["apply", *at]).exit_code == 0
    told = {name: run.invoke(app, [*name.split(), *at]) for name in ("status", "review chat", "explain chat", "plan", "check")}
    failed = {name: result.output for name, result in told.items() if result.exit_code}
    assert not failed, failed
    explained = told["explain chat"].stdout.replace("\n", " ")
    assert "are needed, less 4 carried before it, and 1 spare on top" in explained
    assert "4 are always on, whatever the load" in explained
    assert "for the load and 1 spare, beside 4 before it" in told["plan"].stdout.replace("\n", " ")


def test_promises_hold_of_both_kinds_of_pools_on_the_users_own_objects(world: World) -> None:
    pooled(world)
    run, at = CliRunner(), ["--config", str(world.path), "--now", NOW.isoformat()]
    assert run.invoke(app, ["run", *at]).exit_code == 0
    drilled = run.invoke(app, ["check", "--drill", *at])
    assert drilled.exit_code == 0, drilled.output


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("after: other", "pool gpu comes after other, which is no always-on pool of the workload; always on: none (`always_on: N`)"),
        ("always_on: 4, after: [gpu]", "pool gpu is always on and cannot come after another"),
        ("always_on: 4, spare: 4", "pool gpu is always on with 4 replicas, of which 4 cannot be spare; lower spare"),
        ("always_on: 0", "always_on"),
        ("spare: -1", "spare"),
    ],
)
def test_pools_that_contradict_themselves_are_refused_when_the_configuration_is_read(tmp_path: Path, settings: str, told: str) -> None:
    (fault,) = faults_of(tmp_path, with_workload("{name: gpu, ", f"{{name: gpu, {settings}, "))
    assert told in fault


@pytest.mark.parametrize(("policy", "told"), [("min: 5", "min is 5"), ("max: 3", "max is 3")])
def test_bounds_that_contradict_what_is_always_on_are_refused(tmp_path: Path, policy: str, told: str) -> None:
    written = with_workload("{name: gpu, ", "{name: gpu, always_on: 4, ")
    (fault,) = faults_of(tmp_path, f"{written}    policy: {{{policy}}}\n")
    assert f"pool gpu is always on with 4 replicas and {told}: bounds outrank it; change one of both" in fault


def test_pools_without_a_signal_in_common_are_refused(tmp_path: Path) -> None:
    other = "{name: od, after: gpu, capacity: {tokens: 900}, targets: [{type: recording, name: od}]}"
    (fault,) = faults_of(tmp_path, with_workload("pools: [{name: gpu, ", f"pools: [{other}, {{name: gpu, always_on: 4, "))
    assert "pool od comes after gpu, and no signal has a capacity in both: give both one" in fault


def test_a_budget_below_what_is_always_on_is_refused(tmp_path: Path) -> None:
    written = with_workload("{name: gpu, ", "{name: gpu, always_on: 4, budget: h100, ")
    (fault,) = faults_of(tmp_path, f"{written}budgets: {{h100: {{gpus: 3}}}}\n")
    assert "3 GPUs are fewer than the minimums of its pools take together, 4 (4 x 1 of chat/gpu)" in fault

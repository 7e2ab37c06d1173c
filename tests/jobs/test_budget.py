"""A budget of GPUs over a whole fleet: plans are cut before they are kept, and live raises before any workload is decided on."""

from datetime import timedelta

from typer.testing import CliRunner

from forecaster.reasons import Code
from jobs.apply import apply_fleet
from jobs.budget import rooms
from jobs.cli.main import app
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)


def sharing(world: World, name: str, *, priority: int = 0, **policy: object) -> None:
    """A workload whose pool shares the budget."""
    world.workload(name, **policy)  # type: ignore[arg-type]  # any key of a policy
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[-1]["pools"][0] |= {"budget": "h100", "priority": priority}


def test_l28_a_fleet_whose_plans_exceed_its_budget_is_cut_before_they_are_kept(world: World) -> None:
    sharing(world, "chat", priority=1)
    sharing(world, "batch", min=4)
    world.config["budgets"] = {"h100": {"gpus": 16}}
    with world.fleet() as fleet:
        chat, batch = forecast_fleet(fleet, NOW)
        later = NOW + timedelta(hours=4)
        kept = {draft.name: draft.plans[0].floor_at(later) for draft in (chat, batch)}
        assert kept["chat"] is not None
        assert kept["batch"] is not None
        assert kept["chat"].replicas > 10
        assert kept["chat"].replicas + kept["batch"].replicas == 16
        assert kept["batch"].reason.code is Code.BUDGET_BINDS
        (told, *_) = (reason for reason in batch.plans[0].reasons if reason.code is Code.BUDGET_BINDS)
        assert "h100 needed, 16 in quota" in told.detail
        assert all(reason.code is not Code.BUDGET_BINDS for reason in chat.plans[0].reasons)
        again = plan_fleet(fleet, NOW)
        assert [draft.plans[0].floors for draft in again] == [draft.plans[0].floors for draft in (chat, batch)]


def test_what_was_found_at_adoption_is_kept_even_where_the_policy_says_no_minimum(world: World) -> None:
    sharing(world, "chat", priority=1)
    sharing(world, "batch")
    world.config["budgets"] = {"h100": {"gpus": 8}}
    with world.fleet() as fleet:
        _, batch = forecast_fleet(fleet, NOW)
    assert min(floor.replicas for floor in batch.plans[0].floors) == 2


def test_at_an_apply_all_floors_fit_into_the_budget_and_doing_it_again_writes_nothing(world: World) -> None:
    sharing(world, "chat", priority=1)
    sharing(world, "batch")
    world.config["budgets"] = {"h100": {"gpus": 16}}
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        for minutes in range(0, 150, 10):
            apply_fleet(fleet, NOW + minutes * MINUTE)
            assert world.floor("chat") + world.floor("batch") <= 16
        assert world.floor("chat") > world.floor("batch") >= 2
        again = apply_fleet(fleet, NOW + 140 * MINUTE)
    assert not any(record.applied is not None and record.applied.written for cycle in again for record in cycle.records)


def test_rooms_do_not_depend_on_what_was_decided_at_the_very_instant(world: World) -> None:
    sharing(world, "chat", priority=1)
    sharing(world, "batch")
    world.config["budgets"] = {"h100": {"gpus": 16}}
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        before = rooms(fleet, NOW + MINUTE)
        apply_fleet(fleet, NOW + MINUTE)
        assert rooms(fleet, NOW + MINUTE) == before
        assert sum(room.most for room in before.values()) == 16


def test_a_fleet_without_a_budget_asks_the_store_for_nothing_more(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        assert rooms(fleet, NOW) == {}


def test_the_commands_tell_the_shortfall(world: World) -> None:
    sharing(world, "chat", priority=1)
    sharing(world, "batch")
    world.config["budgets"] = {"h100": {"gpus": 12}}
    at = ["--config", str(world.path), "--now", NOW.isoformat()]
    run = CliRunner()
    made = run.invoke(app, ["forecast", *at])
    assert "h100 needed, 12 in quota: " in made.stderr
    planned = run.invoke(app, ["plan", *at])
    assert "budget h100 of 12 GPUs gives" in planned.stdout.replace("\n", " ")
    assert "h100 needed, 12 in quota: " in planned.stderr
    assert "h100 needed, 12 in quota: " in run.invoke(app, ["review", *at]).stdout.replace("\n", " ")
    peak = NOW + timedelta(hours=3)
    run.invoke(app, ["apply", "--config", str(world.path), "--now", peak.isoformat()])
    shown = run.invoke(app, ["explain", "batch", "--config", str(world.path), "--now", peak.isoformat()])
    assert "budget h100 of 12 GPUs" in shown.stdout.replace("\n", " ")

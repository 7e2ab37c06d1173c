"""Tomorrow with every cache empty, when a flush costs least, and how it becomes a part of the plan."""

import json
import re
import shlex
from datetime import datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from forecaster.errors import ConfigRejected
from forecaster.units import HOUR_S, iso
from jobs.capacity.flushed import Flush, flush
from jobs.cli.main import app
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.cached import LEAST, cached
from tests.jobs.cli.process import Ended
from tests.jobs.world import NOW, World

QUICK = {"model": "seasonal_naive"}


def flushed(world: World, *, refill_s: float = HOUR_S) -> Flush:
    world.config |= {"forecast": QUICK}
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        return flush(fleet, fleet.members[0], refill_s, NOW)


def command(world: World, *arguments: str) -> Ended:
    done = CliRunner().invoke(app, [*arguments, "--config", str(world.path), "--now", iso(NOW)], catch_exceptions=False)
    return Ended(code=done.exit_code, out=done.stdout, err=done.stderr)


def test_with_every_cache_empty_the_floors_are_those_of_all_arrivals(world: World) -> None:
    cached(world, responses={})
    found = flushed(world)
    (cold,) = found.pools
    assert found.factor == pytest.approx(1 / (1 - LEAST))
    assert cold.planned.most == pytest.approx(cold.emptied.most * (1 - LEAST), abs=1)
    assert cold.more == cold.emptied.most - cold.planned.most
    assert cold.cut == ""
    assert found.day == NOW.date() + timedelta(days=1)


def test_a_flush_costs_least_at_night_and_most_by_day(world: World) -> None:
    cached(world, responses={})
    found = flushed(world)
    (cold,) = found.pools
    assert found.best is not None
    assert found.best.start.hour < 6 or found.best.start.hour >= 20
    assert cold.more_then <= 1
    assert cold.more >= 4
    assert 8 <= cold.emptied.at.hour < 20


def test_a_cache_that_takes_long_to_fill_is_flushed_where_the_whole_of_that_is_quiet(world: World) -> None:
    cached(world, responses={})
    found = flushed(world, refill_s=5 * HOUR_S)
    assert found.best is not None
    assert found.best.length_s == 5 * HOUR_S
    assert found.best.end.hour <= 8


def test_what_the_maximum_and_the_budget_have_no_room_for_is_told(world: World) -> None:
    cached(world, responses={})
    workloads: Any = world.config["workloads"]
    workloads[-1]["policy"]["max"] = 8
    workloads[-1]["pools"][0] |= {"budget": "h100", "gpus_per_replica": 2}
    world.config["budgets"] = {"h100": {"gpus": 20}}
    (cold,) = flushed(world).pools
    assert cold.cut == f"max is 8; {2 * cold.emptied.most} GPUs, 20 in budget h100"


def test_requests_in_flight_come_back_with_those_that_a_cache_answered(world: World) -> None:
    cached(world, responses={})
    workloads: Any = world.config["workloads"]
    workloads[-1]["signals"]["concurrency"] = {"query": "value", "unit": "count"}
    workloads[-1]["pools"][0]["capacity"] = {"concurrency": 500}
    found = flushed(world)
    (cold,) = found.pools
    assert found.factor == pytest.approx(2.0)  # usually half of all are answered
    assert cold.emptied.most == pytest.approx(2 * cold.planned.most, abs=1)


def test_a_cache_that_nothing_is_known_of_has_nothing_to_lose_and_a_sentence_says_so(world: World) -> None:
    cached(world, since=timedelta(hours=20), responses={})
    found = flushed(world)
    assert (found.pools, found.best) == ((), None)
    assert found.doubt.startswith("its hits were measured for less than a day")


def test_the_command_that_is_told_makes_the_flush_a_part_of_the_plan(world: World) -> None:
    cached(world, responses={})
    world.config |= {"forecast": QUICK}
    assert command(world, "forecast").code == 0
    done = command(world, "capacity", "flushed", "chat")
    (told,) = [line for line in done.err.splitlines() if line.strip().startswith("forecaster calendar add")]
    (row,) = json.loads(command(world, "capacity", "flushed", "--json").out)
    best = datetime.fromisoformat(row["best"])
    before = replicas_at(world, best)
    assert command(world, *shlex.split(told)[1:]).code == 0
    assert replicas_at(world, best) == before + row["more_then"]


def test_hours_of_a_flush_are_told_with_their_zone(world: World) -> None:
    cached(world, responses={})
    world.config |= {"forecast": QUICK}
    assert command(world, "forecast").code == 0
    done = command(world, "capacity", "flushed", "chat")
    assert len(re.findall(r"\d\d:\d\d UTC ", done.out)) == 2
    assert re.search(r"a flush at \d\d:\d\d UTC asks for", done.err)


def replicas_at(world: World, at: datetime) -> int:
    with world.fleet() as fleet:
        (draft,) = plan_fleet(fleet, NOW)
    floor = draft.plans[0].floor_at(at)
    assert floor is not None
    return floor.replicas


def test_caches_fill_within_a_day_or_have_other_hits_by_then(world: World) -> None:
    cached(world, responses={})
    with pytest.raises(ConfigRejected, match="--refill must be from 1m to 24h, got 3d"):
        command(world, "capacity", "flushed", "--refill", "3d")
    with pytest.raises(ConfigRejected, match="--refill: a duration is written like"):
        command(world, "capacity", "flushed", "--refill", "soon")


def test_without_a_cache_there_is_nothing_to_flush(world: World) -> None:
    world.workload("chat")
    done = command(world, "capacity", "flushed")
    assert done.code == 0
    assert "no workload has a `cache`" in done.out

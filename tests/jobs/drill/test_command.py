"""`forecaster check --drill` as a command: tables for people, JSON for programs, and an exit code that says whether a promise failed."""

import json

import pytest

from forecaster.units import iso
from jobs.drill.outcome import Promise
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.drill.rehearsed import foreseen, well_granted
from tests.jobs.world import NOW, World


def drill(world: World, *arguments: str) -> Ended:
    return forecaster(world.folder, "check", "--drill", *arguments, "--config", str(world.path), "--now", iso(NOW))


def test_people_read_a_table_for_each_workload_and_target_and_a_count_of_what_came_of_it(world: World) -> None:
    world.workload("chat", mode="observe")
    well_granted(world)
    foreseen(world)
    done = drill(world)
    assert done.code == 0
    titles = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert titles == ["the fleet", "chat", "chat on kubernetes-hpa:serving/chat"]
    assert all(str(promise) in done.out for promise in Promise)
    assert done.err == f"{len(Promise)} pass, 0 warning, 0 fail, 0 not applicable; none of your objects was written\n"
    assert world.api.writes == ()


def test_programs_read_a_row_each_and_exit_code_3_where_a_promise_failed(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    world.api.forbid("patch")
    done = drill(world, "chat", "--json")
    rows = json.loads(done.out)
    assert done.code == 3
    assert {row["workload"] for row in rows} == {"the fleet", "chat"}
    assert set(rows[0]) == {"workload", "where", "promise", "result", "evidence"}
    assert [row["promise"] for row in rows if row["result"] == "fail"] == ["7 rights are enough"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("lost",), 2, "there is no workload 'lost'"),
        (("--discover",), 2, "--drill and --discover are two things"),
    ],
)
def test_what_cannot_be_drilled_is_a_sentence(world: World, arguments: tuple[str, ...], code: int, says: str) -> None:
    world.workload("chat")
    done = drill(world, *arguments)
    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_a_workload_without_drill_is_asked_back(world: World) -> None:
    world.workload("chat")
    done = forecaster(world.folder, "check", "chat", "--config", str(world.path))
    assert done.code == 2
    assert "is for --drill" in done.err

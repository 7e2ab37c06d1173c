"""`check` as a command: a row each, and an exit code that says whether anything failed."""

import json

from forecaster.units import iso
from tests.jobs.cli.process import forecaster
from tests.jobs.world import NOW, World


def test_warnings_are_no_failure_and_json_is_for_programs(world: World) -> None:
    world.workload("chat", expiry="30m")
    done = forecaster(world.folder, "check", "--config", str(world.path), "--now", iso(NOW), "--json")
    rows = json.loads(done.out)
    assert done.code == 0
    assert done.err == ""
    assert {row["state"] for row in rows} == {"ok", "warning"}
    assert set(rows[0]) == {"what", "where", "state", "sentence"}
    assert not (world.folder / "forecaster.db").exists()


def test_anything_that_failed_is_exit_code_1_and_the_rest_is_told_too(world: World) -> None:
    world.workload("chat")
    world.workload("code", trace="absent.csv")
    done = forecaster(world.folder, "check", "--config", str(world.path), "--now", iso(NOW), "--output", "csv")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0] == "what,where,state,sentence"
    assert sum(",failed," in line for line in lines) == 1
    assert sum(",ok," in line for line in lines) > 5


def test_a_configuration_that_cannot_be_used_is_exit_code_2_and_its_faults_are_rows(world: World) -> None:
    world.workload("chat", levl=0.9)
    done = forecaster(world.folder, "check", "--config", str(world.path), "--json")
    (row,) = json.loads(done.out)
    assert done.code == 2
    assert row["state"] == "failed"
    assert row["sentence"].endswith("workloads[0].policy.levl: is no known key; did you mean level?")


def test_without_a_file_there_is_nothing_to_check(world: World) -> None:
    done = forecaster(world.folder, "check")
    assert done.code == 2
    assert done.err.startswith("forecaster: forecaster.yaml: there is no configuration file; write one with `forecaster init`")
    assert done.out == ""

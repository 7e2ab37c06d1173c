"""`forecaster levers` as people and cron run it."""

import json

from tests.jobs.cli.process import forecaster
from tests.jobs.levers.stage import Stage


def deep(stage: Stage) -> None:
    stage.tiers["rules"] = [{"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}, "set": {"batch": 8}}]
    stage.world.config["tiers"] = stage.tiers
    stage.engine.waiting = 50
    assert stage.world.path.is_file()


def test_a_dry_run_says_what_would_be_moved_and_moves_nothing(stage: Stage) -> None:
    deep(stage)
    ended = forecaster(stage.world.folder, "levers", "--dry-run", "--json")
    said = json.loads(ended.out)
    (batch,) = [one for one in said["levers"] if one["name"] == "batch"]
    assert (ended.code, batch["before"], batch["after"], batch["written"]) == (0, "32", 8, False)
    assert said["readings"] == {"p99": None, "queue": 50.0, "errors": None}
    assert stage.batch == "32"


def test_one_run_moves_the_next_takes_back_and_release_needs_no_calm(stage: Stage) -> None:
    deep(stage)
    moved = forecaster(stage.world.folder, "levers")
    assert (moved.code, stage.batch) == (0, "8")
    assert "deep takes step 1 of 1" in moved.err
    released = forecaster(stage.world.folder, "levers", "--release")
    assert (released.code, stage.batch) == (0, "32")
    assert "batch goes back from 8 to 32" in " ".join(released.out.split())


def test_what_was_released_is_left_alone_until_it_is_resumed(stage: Stage) -> None:
    deep(stage)
    told = "are left alone: `forecaster levers --resume` moves them again"
    assert told in forecaster(stage.world.folder, "levers", "--release").err
    assert told in forecaster(stage.world.folder, "levers").err
    assert told in forecaster(stage.world.folder, "status").err
    assert json.loads(forecaster(stage.world.folder, "levers", "--dry-run", "--json").out)["levers"] == []
    assert stage.batch == "32"
    assert "are moved again" in forecaster(stage.world.folder, "levers", "--resume").err
    assert "nothing to resume" in forecaster(stage.world.folder, "levers", "--resume").err
    forecaster(stage.world.folder, "levers")
    assert stage.batch == "8"


def test_what_cannot_be_put_back_is_one_sentence_and_not_exit_code_0(stage: Stage) -> None:
    deep(stage)
    forecaster(stage.world.folder, "levers")
    stage.world.api.remove("configmaps", "serving", "engine")
    ended = forecaster(stage.world.folder, "levers", "--release")
    assert ended.code == 1
    assert "forecaster: batch cannot be put back to 32, it was set to 8" in ended.err
    assert "Traceback" not in ended.err


def test_without_the_section_it_says_where_to_read_on(stage: Stage) -> None:
    ended = forecaster(stage.world.path.parent, "levers")
    assert ended.code == 2
    assert "there is no section `tiers`" in ended.err

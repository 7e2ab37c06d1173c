"""Levers in the drill: each rehearsed on its own object as far as its API lets one, none moved."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kube.paths import parse, spell
from connectors.levers.kubernetes_field import MARK
from forecaster.units import iso
from jobs.drill.outcome import Promise
from tests.jobs.cli.process import forecaster
from tests.jobs.drill.rehearsed import well_granted
from tests.jobs.levers.engine import Engine
from tests.jobs.levers.stage import Stage
from tests.jobs.world import NOW, World, daily_rpm, write_trace
from tests.kube_api import KubeApi
from tests.lever_receiver import LeverReceiver

REHEARSED = {Promise.SEEN, Promise.TAKEN, Promise.RIGHTS, Promise.EXCESS, Promise.ORIGINAL, Promise.WATCHDOG, Promise.UNTOUCHED}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    write_trace(tmp_path / "load.csv", daily_rpm(days=1))
    with KubeApi() as api, Engine() as engine, LeverReceiver() as gateway:
        built = Stage.built(World(folder=tmp_path, api=api), engine, gateway)
        built.tiers["rules"] = [{"name": "slow", "when": {"signal": "p99", "above": 2}, "set": {"batch": 8, "rate": 60}}]
        well_granted(built.world)
        yield built


def drilled(stage: Stage, *named: str) -> tuple[int, dict[str, dict[str, tuple[str, str]]]]:
    """The exit code, and by lever what came of each promise; nothing was written."""
    stage.world.config["tiers"] = stage.tiers
    path, before = stage.world.path, dict(stage.gateway.values)
    done = forecaster(stage.world.folder, "check", "--drill", *named, "--config", str(path), "--now", iso(NOW), "--json")
    assert (stage.world.api.writes, stage.gateway.posts, stage.gateway.values) == ((), [], before)
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for row in json.loads(done.out):
        if row["workload"] == "levers":
            found.setdefault(row["where"], {})[row["promise"]] = (row["result"], row["evidence"])
    return done.code, found


def test_a_lever_on_an_api_server_is_tried_with_every_value_that_a_rule_sets_it_to(stage: Stage) -> None:
    code, found = drilled(stage)
    assert code == 0
    batch = found["batch"]
    assert set(batch) == {str(promise) for promise in REHEARSED}
    assert batch[Promise.SEEN] == ("pass", "stands at 32, not ours")
    assert batch[Promise.TAKEN] == ("pass", "a dry run takes 8 with our mark, and the release; as field manager forecaster")
    assert batch[Promise.RIGHTS][0] == "pass"
    assert batch[Promise.ORIGINAL] == ("pass", "after 8 a release puts 32 back")
    assert batch[Promise.WATCHDOG] == ("pass", "nothing before 2026-03-02T08:30:00Z, then would be put back, 8 -> 32")
    assert batch[Promise.UNTOUCHED] == ("pass", "32, and the same mark before and after")


def test_of_a_lever_that_is_moved_the_watchdog_would_put_the_original_back(stage: Stage) -> None:
    stage.world.config["tiers"] = stage.tiers | {"mode": "auto"}
    mark = {"field": "data.max_batch", "original": "32", "value": 8, "until": "2026-03-02T08:00:00Z"}
    path = spell(parse("data.max_batch"))
    annotations = {f"{MARK}{hashlib.sha256(path.encode()).hexdigest()[:10]}": json.dumps(mark)}
    stage.world.api.put("configmaps", "serving", "engine", metadata={"annotations": annotations}, data={"max_batch": "8", "cache": "false"})
    batch = drilled(stage)[1]["batch"]
    assert batch[Promise.SEEN] == ("pass", "stands at 8, ours until 2026-03-02T08:00:00Z, original 32")
    assert batch[Promise.WATCHDOG] == ("pass", "nothing before 2026-03-02T08:30:00Z, then would be put back, 8 -> 32")


def test_a_lever_whose_api_rehearses_no_write_says_so_and_is_compared_all_the_same(stage: Stage) -> None:
    _, found = drilled(stage)
    rate = found["rate"]
    assert rate[Promise.TAKEN] == ("not applicable", "its API rehearses no write; docs/levers.md says what a write needs")
    assert rate[Promise.ORIGINAL] == ("pass", "after 60 a release puts 900 back")


def test_a_missing_right_fails_with_its_rule_and_a_refusal_in_the_servers_words(stage: Stage) -> None:
    stage.world.api.forbid("patch", "configmaps")
    code, found = drilled(stage)
    assert (code, found["batch"][Promise.RIGHTS][0]) == (3, "fail")
    assert 'add the RBAC rule {apiGroups: [""], resources: [configmaps], verbs: [patch]}' in found["batch"][Promise.RIGHTS][1]
    assert found["batch"][Promise.TAKEN][0] == "not applicable"


def test_a_lever_whose_object_is_gone_fails_and_stops_no_other(stage: Stage) -> None:
    stage.world.api.remove("configmaps", "serving", "engine")
    code, found = drilled(stage)
    assert code == 3
    assert list(found["batch"]) == [Promise.SEEN]
    assert found["batch"][Promise.SEEN][1].endswith("nothing else of it was rehearsed")
    assert set(found["rate"]) == {str(promise) for promise in REHEARSED}


def test_a_drill_of_one_workload_leaves_levers_out(stage: Stage) -> None:
    assert drilled(stage, "chat")[1] == {}

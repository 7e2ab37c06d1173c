"""How a recommended target is set: the patch of the HPA, or words where no patch can do it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from jobs.aims import Dial, aim_of_pool
from jobs.dial import how_to_set
from tests.jobs.proof.hpas import cpu, external, pods
from tests.jobs.world import World


def dial(world: World, *metrics: dict[str, Any], unit: str = "count") -> Dial | None:
    """Of the HPA of chat, whose load is asked for as `value`; a replica carries 100 requests a minute."""
    world.workload("chat", mode="observe")
    section = world.config["workloads"][0]  # type: ignore[index]  # the file as it will be written
    section["signals"]["rpm"]["unit"] = unit
    world.api.edit("serving", "chat", metrics=list(metrics))  # type: ignore[arg-type]  # as kubectl would
    with world.fleet() as fleet:
        return aim_of_pool(fleet.members[0], fleet.members[0].workload.pools[0]).dial


def patched(command: str, metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an API server makes of the patch: RFC 6902 with the two verbs that we use."""
    head, _, rest = command.partition(" -p '")
    assert head == "kubectl -n serving patch hpa chat --type json"
    whole: Any = {"spec": {"metrics": json.loads(json.dumps(metrics))}}
    for step in json.loads(rest.removesuffix("'")):
        *way, last = step["path"].strip("/").split("/")
        node = whole
        for key in way:
            node = node[int(key)] if isinstance(node, list) else node[key]
        if step["op"] == "test":
            assert node[last] == step["value"]
        else:
            node[last] = step["value"]
    return list(whole["spec"]["metrics"])


def test_the_patch_moves_the_metric_of_the_load_and_nothing_else(world: World) -> None:
    metrics = [cpu(80), pods("value", "60")]
    assert patched(how_to_set(dial(world, *metrics), 0.85), metrics) == [cpu(80), pods("value", "85")]


def test_a_metric_a_second_is_set_in_its_own_unit(world: World) -> None:
    metrics = [external("value", "1")]
    assert patched(how_to_set(dial(world, *metrics, unit="per_second"), 0.9), metrics) == [external("value", "1500m")]


@pytest.mark.parametrize("metrics", [[], [cpu(80)], [pods("another", "60")]], ids=["none", "cpu", "another"])
def test_what_no_patch_can_set_is_said_as_a_share_of_a_replica(world: World, metrics: list[dict[str, Any]]) -> None:
    assert how_to_set(dial(world, *metrics), 0.85) == "set what its autoscaler aims at to 85% of what a replica carries"


def test_keda_undoes_a_patch_so_its_own_threshold_is_named(world: World) -> None:
    found = dial(world, pods("value", "60"))
    assert found is not None
    by_keda = replace(found, hpa=replace(found.hpa, keda="chat-scaler"))
    told = "set the threshold of value in the ScaledObject serving/chat-scaler to 85: KEDA undoes a patch of its HPA"
    assert how_to_set(by_keda, 0.85) == told


def test_a_context_that_is_configured_stands_in_the_command(world: World) -> None:
    found = dial(world, pods("value", "60"))
    assert found is not None
    assert how_to_set(replace(found, context="gpu-east"), 0.85).startswith("kubectl --context gpu-east -n serving patch hpa chat ")

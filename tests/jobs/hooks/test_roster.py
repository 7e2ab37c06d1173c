"""The roster of `forecaster serve` where templates stand for the workloads."""

import pytest

from connectors.stores.memory import MemoryStore
from jobs.config.document import Config
from jobs.config.reading import read_config
from jobs.hooks.serve import StoreRoster
from tests.jobs.world import World


@pytest.fixture
def config(world: World) -> Config:
    """One workload for each HPA that carries the label; there is one."""
    cluster = {"server": world.api.url}
    workload = {
        "name": "{name}",
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [
            {"name": "gpu", "targets": [{"type": "kubernetes-hpa", "namespace": "{namespace}", "name": "{name}", "cluster": cluster}]}
        ],
    }
    each = {"type": "kubernetes-hpa", "label_selector": "tier=gold", "cluster": cluster}
    world.config |= {"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "templates": [{"for_each": each, "workload": workload}]}
    add_hpa(world, "chat")
    return read_config(world.path)


def add_hpa(world: World, name: str) -> None:
    world.api.add_hpa("serving", name, min_replicas=2, max_replicas=40, labels={"tier": "gold"})


def names(roster: StoreRoster) -> set[str]:
    with roster() as found:
        return set(found.workloads)


def test_objects_that_came_and_went_are_found_by_the_next_look(world: World, config: Config) -> None:
    roster = StoreRoster(MemoryStore(), config, world.folder)
    assert names(roster) == {"chat"}
    add_hpa(world, "code")
    world.api.delete_hpa("serving", "chat")
    roster.look_again(config)
    assert names(roster) == {"code"}


def test_a_cluster_that_does_not_answer_takes_nobody_away(world: World, config: Config) -> None:
    roster = StoreRoster(MemoryStore(), config, world.folder)
    world.api.fail_next(403, verb="list", plural="horizontalpodautoscalers")
    roster.look_again(config)
    assert roster.problems
    assert names(roster) == {"chat"}
    roster.look_again(config)
    assert roster.problems == ()

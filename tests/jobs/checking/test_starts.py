"""`check` says which rights are missing to measure lead times, as warnings: floors do without."""

import pytest

from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.jobs.world import NOW, World


def rights(world: World) -> list[Finding]:
    """What is said of the target beside that it stands."""
    return [one for one in check_all(world.path, NOW) if one.what == "target" and one.state is not State.OK]


def test_nothing_is_said_where_pods_and_nodes_may_be_read(world: World) -> None:
    world.workload("chat")
    assert rights(world) == []


@pytest.mark.parametrize(
    ("verb", "plural", "where"), [("list", "pods", "role in namespace serving"), ("get", "nodes", "cluster role")], ids=["pods", "nodes"]
)
def test_a_right_that_is_missing_is_named_with_its_rule(world: World, verb: str, plural: str, where: str) -> None:
    world.workload("chat", mode="auto")
    world.api.forbid(verb, plural)
    (finding,) = rights(world)
    assert finding.state is State.WARNING
    rule = f'{{apiGroups: [""], resources: [{plural}], verbs: [{verb}]}}'
    assert f"add the RBAC rule {rule} to our {where}, or set lead_time.measured to false" in finding.sentence


def test_nothing_is_asked_where_the_lead_time_is_not_measured(world: World) -> None:
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["pools"][0]["lead_time"] = {"measured": False}
    world.api.forbid("list", "pods")
    assert rights(world) == []

"""At which utilisation an autoscaler aims, and where that is known from."""

import pytest

from jobs.aims import Aim, aim_of
from tests.jobs.world import World


def aim(world: World, told: float | None = None) -> Aim:
    with world.fleet() as fleet:
        return aim_of(fleet.members[0], told)


def follows(world: World, metrics: list[dict[str, object]]) -> None:
    """The HPA of chat with these metrics; its load is asked for as `value`."""
    world.workload("chat", mode="observe")
    world.api.edit("serving", "chat", metrics=metrics)  # type: ignore[arg-type]  # as kubectl would


def pods(name: str, average: str) -> dict[str, object]:
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": average}}}


def test_a_person_outranks_the_object(world: World) -> None:
    follows(world, [pods("value", "60")])
    assert aim(world, 0.5) == Aim(ratio=0.5, said="as you say")


def test_a_metric_that_is_asked_for_as_load_tells_the_share_of_the_capacity(world: World) -> None:
    follows(world, [pods("value", "60")])
    assert aim(world) == Aim(ratio=0.6, said="HPA serving/chat: value at 60 a replica")


def test_an_aim_beyond_the_capacity_is_the_capacity(world: World) -> None:
    follows(world, [pods("value", "160")])
    assert aim(world).ratio == 1.0


@pytest.mark.parametrize(
    "metrics",
    [
        [],
        [pods("another_metric", "60")],
        [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}],
    ],
)
def test_what_tells_nothing_of_the_load_is_assumed_and_said(world: World, metrics: list[dict[str, object]]) -> None:
    follows(world, metrics)
    found = aim(world)
    assert found.ratio == 0.7
    assert found.said.startswith("assumed: ")


def test_an_object_that_cannot_be_read_is_assumed_and_said(world: World) -> None:
    world.workload("chat", mode="observe")
    world.api.delete_hpa("serving", "chat")
    assert aim(world).said.startswith("assumed: ")

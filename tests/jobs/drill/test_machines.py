"""The drill on machines in AWS, against moto's server: an API that rehearses no write is asked for none."""

from collections.abc import Iterator

import pytest

from jobs.drill.outcome import Promise, Result
from tests.aws import REGION, Aws, aws_to_ask
from tests.aws_fleets import asg, tag_asg
from tests.jobs.drill.rehearsed import drilled, failed, foreseen, of
from tests.jobs.world import World


@pytest.fixture
def aws() -> Iterator[Aws]:
    with aws_to_ask() as aws:
        aws.add_group("gpu", minimum=2, desired=3, maximum=20, in_service=3)
        aws.writes.clear()
        yield aws


@pytest.fixture
def machines(world: World, aws: Aws) -> World:
    """The workload chat on an Auto Scaling group, with a plan."""
    world.workload("chat", mode="observe")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["pools"][0]["targets"] = [{"type": "asg", "group": "gpu", "region": REGION, "endpoint_url": aws.url, "scheduled": True}]
    foreseen(world)
    return world


def test_a_group_is_drilled_without_a_write_and_what_its_api_does_not_tell_is_said(machines: World, aws: Aws) -> None:
    outcomes = drilled(machines)
    assert failed(outcomes) == {}
    unplayed = {each.promise: each.evidence for each in outcomes if each.result is Result.NOT_APPLICABLE}
    assert unplayed.keys() == {Promise.TAKEN, Promise.RIGHTS, Promise.EXCESS}
    assert all("docs/targets/asg.md" in evidence for evidence in unplayed.values())
    assert of(outcomes, Promise.BOUNDS).evidence.startswith("an order of 27 becomes 20")
    assert "a release puts 2 back" in of(outcomes, Promise.ORIGINAL).evidence
    assert aws.writes == []
    assert asg("gpu").tags == []


def test_terraform_that_would_write_the_minimum_back_is_a_warning_with_what_to_ignore(machines: World) -> None:
    tag_asg("gpu", "ManagedBy", "terraform")
    owner = of(drilled(machines), Promise.OWNER)
    assert owner.result is Result.WARNING
    assert "ignore_changes = [min_size, desired_capacity, tag]" in owner.evidence

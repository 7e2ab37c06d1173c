"""SageMaker endpoints and ECS services against moto's server: the floor of Application Auto Scaling, its schedule, and what it tells.

Tags of scalable targets, scaling activities and inference components are answered in front of moto, which knows none (tests/aws_gaps.py).
"""

from datetime import timedelta
from typing import Any

import pytest

from connectors.aws import AwsAccount
from connectors.targets.ecs import EcsConfig
from connectors.targets.registry import open_target
from connectors.targets.sagemaker import SagemakerConfig, SagemakerFleet
from connectors.targets.scalable_target import ScalableTarget
from forecaster.errors import TargetConflict, TargetForbidden, TargetMissing, TargetRefused
from forecaster.ports import Scheduled
from forecaster.schedule import Step
from tests.aws import REGION, Aws
from tests.aws_fleets import (
    add_endpoint,
    add_service,
    deregister,
    ecs_service,
    endpoint_counts,
    register,
    register_component,
    scalable_schedule,
)
from tests.connectors.targets.aws_subjects import ScalableSubject
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, let_go, stand

HOUR = timedelta(hours=1)
PLANNED = tuple(Step(start=NOW + hours * HOUR, replicas=count) for hours, count in ((1, 8), (2, 5), (3, FOUND)))
KINDS = ("ecs", "sagemaker")


@pytest.fixture(params=KINDS)
def subject(request: pytest.FixtureRequest, aws: Aws, account: AwsAccount) -> ScalableSubject:
    return ScalableSubject(aws=aws, account=account, kind=request.param, scheduled=True)


def put(subject: ScalableSubject, steps: tuple[Step, ...] = PLANNED) -> int:
    target = subject.open()
    assert isinstance(target, Scheduled)
    return target.set_schedule(steps, target.observe(NOW))


def scheduled(subject: ScalableSubject) -> dict[str, tuple[str, Any]]:
    actions = scalable_schedule(subject.resource)
    return {name: (action.schedule, action.scalable_target_action) for name, action in actions.items()}


def test_a_write_moves_the_minimum_alone(subject: ScalableSubject) -> None:
    stand(subject.open(), 8)
    assert (subject.scalable().min_capacity, subject.scalable().max_capacity) == (8, CEILING)


def test_what_is_not_registered_is_missing_with_the_way_to_register_it_and_never_registered_by_us(subject: ScalableSubject) -> None:
    deregister(subject.dimension, subject.resource)
    with pytest.raises(TargetMissing, match=f"register {subject.resource} with a scaling policy"):
        stand(subject.open(), 8)
    assert "RegisterScalableTarget" not in subject.aws.operations


def test_marks_are_tags_of_the_scalable_target_written_before_the_minimum(subject: ScalableSubject) -> None:
    stand(subject.open(), 8)
    assert subject.aws.writes == ["TagResource", "RegisterScalableTarget", "TagResource"]


def test_a_minimum_that_somebody_wrote_over_ours_is_a_conflict(subject: ScalableSubject) -> None:
    subject.aws.after_next("RegisterScalableTarget", lambda: subject.meddle(5))
    with pytest.raises(TargetConflict, match="became 5 while we wrote 8"):
        stand(subject.open(), 8)


def test_a_ceiling_that_falls_below_between_reading_and_writing_is_refused_in_the_words_of_aws(subject: ScalableSubject) -> None:
    subject.aws.after_next("TagResource", lambda: subject.limit(5))
    with pytest.raises(TargetRefused, match="Maximum capacity cannot be less"):
        stand(subject.open(), 8)


def test_terraform_is_named_with_the_attribute_to_ignore(subject: ScalableSubject) -> None:
    subject.mark("managed_by", "terraform")
    stand(subject.open(), 8)
    subject.meddle(FOUND)
    seen = subject.open().observe(NOW)
    assert seen.writer == "Terraform"
    assert seen.remedy is not None
    assert "ignore_changes = [min_capacity, tags]" in seen.remedy


def test_coming_floors_are_scheduled_actions_of_the_minimum_alone(subject: ScalableSubject) -> None:
    stand(subject.open(), 4)
    assert put(subject) == 3
    assert scheduled(subject) == {
        "forecaster-20240506T0900Z": ("at(2024-05-06T09:00:00)", {"MinCapacity": 8}),
        "forecaster-20240506T1000Z": ("at(2024-05-06T10:00:00)", {"MinCapacity": 5}),
        "forecaster-20240506T1100Z": ("at(2024-05-06T11:00:00)", {"MinCapacity": FOUND}),
    }
    before = subject.writes()
    assert (put(subject), subject.writes()) == (0, before)


def test_the_restoring_action_is_put_first_so_that_a_schedule_cut_short_still_ends(subject: ScalableSubject) -> None:
    stand(subject.open(), 4)
    subject.aws.after_next("PutScheduledAction", lambda: subject.aws.fail_next("PutScheduledAction", "AccessDeniedException", status=403))
    with pytest.raises(TargetForbidden, match="application-autoscaling:PutScheduledAction"):
        put(subject)
    assert set(scheduled(subject)) == {"forecaster-20240506T1100Z"}
    assert put(subject) == 2


def test_a_release_and_an_empty_schedule_take_the_actions_away(subject: ScalableSubject) -> None:
    stand(subject.open(), 4)
    put(subject)
    assert put(subject, ()) == 3
    assert (scheduled(subject), "forecaster/scheduled" in subject.marks()) == ({}, False)
    put(subject)
    let_go(subject.open())
    assert (scheduled(subject), subject.floor(), subject.marks()) == ({}, FOUND, {})


def test_what_aws_carries_out_in_our_name_is_nobody_elses_write(subject: ScalableSubject) -> None:
    stand(subject.open(), 4)
    put(subject)
    subject.meddle(8)
    assert subject.open().observe(NOW).writer is None


def test_suspended_scheduled_scaling_is_refused_with_the_remedy(subject: ScalableSubject) -> None:
    stand(subject.open(), 4)
    subject.scalable().suspended_state = {"ScheduledScalingSuspended": True}
    with pytest.raises(TargetRefused, match="resume its scheduled scaling"):
        put(subject)


def test_a_service_that_we_may_not_see_leaves_ready_unknown_and_the_floor_writable(subject: ScalableSubject) -> None:
    operation = "DescribeServices" if subject.kind == "ecs" else "DescribeEndpoint"
    subject.aws.fail_next(operation, "AccessDeniedException", status=403, times=2)
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.pending) == (None, None)
    assert stand(subject.open(), 8).written


def test_instances_of_an_endpoint_carry_several_replicas(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="sagemaker", replicas_per_node=4)
    endpoint_counts(subject.name)["DesiredInstanceCount"] = 5
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (FOUND * 4, 12, 8)
    assert stand(subject.open(), 21).after == 24
    assert subject.scalable().min_capacity == 6


def test_an_inference_component_is_counted_in_copies(aws: Aws, account: AwsAccount) -> None:
    aws.gaps.components["llm"] = {"RuntimeConfig": {"CurrentCopyCount": 2, "DesiredCopyCount": 3}}
    register_component("llm", minimum=FOUND, maximum=CEILING)
    target = ScalableTarget(SagemakerFleet(SagemakerConfig(type="sagemaker", inference_component="llm", region=REGION), account), account)
    seen = target.observe(NOW)
    assert (target.name, seen.floor, seen.ready, seen.pending) == (f"sagemaker:llm@{REGION}", FOUND, 2, 1)
    assert stand(target, 8).after == 8


@pytest.mark.parametrize("names", [{}, {"endpoint": "llm", "inference_component": "llm"}])
def test_an_endpoint_or_an_inference_component_is_named(names: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="exactly one of endpoint and inference_component"):
        SagemakerConfig.model_validate({"type": "sagemaker", "region": REGION, **names})


def test_surge_tasks_of_a_deployment_are_no_capacity(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="ecs")
    ecs_service("prod", subject.name).running_count = 6
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.pending) == (3, 0)


def test_targets_opened_from_their_configuration_ask_the_endpoint_in_it(aws: Aws) -> None:
    add_service("prod", "own-client", tasks=1)
    register("ecs", "ecs:service:DesiredCount", "service/prod/own-client", minimum=1, maximum=4)
    service = EcsConfig(type="ecs", cluster="prod", service="own-client", region=REGION, endpoint_url=aws.url)
    assert stand(open_target(service), 3).after == 3
    add_endpoint("own-client", instances=1)
    register("sagemaker", "sagemaker:variant:DesiredInstanceCount", "endpoint/own-client/variant/AllTraffic", minimum=1, maximum=4)
    endpoint = SagemakerConfig(type="sagemaker", endpoint="own-client", region=REGION, endpoint_url=aws.url)
    assert stand(open_target(endpoint), 3).after == 3

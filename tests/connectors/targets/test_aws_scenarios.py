"""Failures that others reported from production, at targets in AWS; what moto knows nothing of is answered by tests/aws_gaps.py."""

from datetime import timedelta

import pytest

from connectors.aws import AwsAccount
from forecaster.errors import TargetForbidden, TargetUnavailable
from tests.aws import Aws
from tests.aws_fleets import asg, ecs_service, endpoint_counts
from tests.connectors.targets.aws_subjects import AsgSubject, ScalableSubject
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, EksSubject, Subject, let_go, stand

NO_STOCK = "We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested (eu-west-1a)."
AGO = timedelta(minutes=5)


def launch(status: str, message: str = "", *, ago: timedelta = AGO) -> dict[str, object]:
    told = {"ActivityId": "a", "AutoScalingGroupName": "gpu", "Description": "Launching a new EC2 instance", "Cause": "capacity"}
    return told | {"StartTime": NOW - ago, "StatusCode": status, "StatusMessage": message}


@pytest.fixture
def group(aws: Aws, account: AwsAccount) -> AsgSubject:
    return AsgSubject(aws=aws, account=account)


def test_k40_the_desired_capacity_of_a_group_rises_with_the_minimum_and_lowering_ends_no_machine(group: AsgSubject) -> None:
    stand(group.open(), 8)
    stand(group.open(), 3)
    let_go(group.open())
    found = asg(group.name)
    assert (found.min_size, found.desired_capacity, found.max_size, len(found.instance_states)) == (FOUND, 8, CEILING, 8)


def test_k41_a_stock_out_is_told_in_the_words_of_ec2_while_machines_are_missing(group: AsgSubject) -> None:
    group.aws.gaps.activities[group.name] = [launch("Failed", NO_STOCK)]
    assert group.open().observe(NOW).shortage is None  # nothing is missing
    asg(group.name).desired_capacity = 8
    seen = group.open().observe(NOW)
    assert (seen.ready, seen.pending, seen.shortage) == (3, 5, f"EC2 could not launch: {NO_STOCK}")


def test_k41_a_launch_since_then_and_a_failure_of_long_ago_are_no_shortage(group: AsgSubject) -> None:
    asg(group.name).desired_capacity = 8
    group.aws.gaps.activities[group.name] = [launch("PreInService"), launch("Successful"), launch("Failed", NO_STOCK)]
    assert group.open().observe(NOW).shortage is None
    group.aws.gaps.activities[group.name] = [launch("Failed", NO_STOCK, ago=timedelta(hours=2))]
    assert group.open().observe(NOW).shortage is None


def test_k41_a_node_group_without_stock_is_told_by_its_health(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    assert subject.open().observe(NOW).shortage is None
    aws.make_ill("prod", subject.name, "AsgInstanceLaunchFailures", NO_STOCK)
    assert subject.open().observe(NOW).shortage == f"EKS could not launch nodes (AsgInstanceLaunchFailures): {NO_STOCK}"


def test_k41_tasks_that_find_no_place_are_told_by_the_newest_event(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="ecs")
    service = ecs_service("prod", subject.name)
    service.desired_count = 8
    placed = "(service llm) was unable to place a task because no container instance met all of its requirements."
    service.events = [{"id": "e", "createdAt": NOW - AGO, "message": placed}]
    assert subject.open().observe(NOW).shortage == f"ECS: {placed}"
    service.running_count = 8
    assert subject.open().observe(NOW).shortage is None


def test_k41_an_endpoint_that_could_not_be_raised_is_told_by_the_scaling_activity(aws: Aws, account: AwsAccount) -> None:
    subject = ScalableSubject(aws=aws, account=account, kind="sagemaker")
    failed = "Failed to set desired instance count to 8. Reason: ResourceLimitExceeded"
    activity = {"ActivityId": "a", "ServiceNamespace": "sagemaker", "ResourceId": subject.resource, "ScalableDimension": subject.dimension}
    told = {"Description": "Setting desired", "Cause": "minimum capacity was set to 8"}
    aws.gaps.activities[subject.resource] = [activity | told | {"StartTime": NOW - AGO, "StatusCode": "Failed", "StatusMessage": failed}]
    assert subject.open().observe(NOW).shortage is None
    subject.meddle(8)
    assert subject.open().observe(NOW).shortage == f"Application Auto Scaling could not raise it: {failed}"


@pytest.mark.parametrize("kind", ["asg", "ecs", "sagemaker"])
def test_k43_a_floor_that_aws_accepted_shows_what_is_not_ready_yet(aws: Aws, account: AwsAccount, kind: str) -> None:
    subject: Subject = AsgSubject(aws=aws, account=account) if kind == "asg" else ScalableSubject(aws=aws, account=account, kind=kind)
    stand(subject.open(), 8)
    match subject:
        case AsgSubject():
            for instance in asg(subject.name).instance_states[3:]:
                instance.lifecycle_state = "Pending"
        case ScalableSubject(kind="ecs"):
            ecs_service("prod", subject.name).desired_count = 8
        case ScalableSubject():
            endpoint_counts(subject.name)["DesiredInstanceCount"] = 8
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (8, 3, 5)


def test_k44_one_target_forbidden_and_one_throttled_stop_no_third_in_the_account(aws: Aws, account: AwsAccount) -> None:
    denied, throttled, sound = (ScalableSubject(aws=aws, account=account, kind="ecs") for _ in range(3))
    aws.fail_next("RegisterScalableTarget", "AccessDeniedException", status=403)
    with pytest.raises(TargetForbidden, match=denied.name):
        stand(denied.open(), 5)
    aws.fail_next("RegisterScalableTarget", "ThrottlingException", times=3)
    with pytest.raises(TargetUnavailable, match=throttled.name):
        stand(throttled.open(), 5)
    assert stand(sound.open(), 5).written
    assert [one.floor() for one in (denied, throttled, sound)] == [FOUND, FOUND, 5]

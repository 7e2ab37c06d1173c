"""Auto Scaling groups against moto's server: what becomes of machines, schedules, and what AWS tells of those that do not come.

Scaling activities and instance refreshes are answered in front of moto, which knows none (tests/aws_gaps.py).
"""

import re
from datetime import timedelta

import pytest

from connectors.aws import AwsAccount
from connectors.targets.asg import AsgConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetConflict, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.ports import Scheduled
from forecaster.schedule import Step
from tests.aws import REGION, Aws
from tests.aws_fleets import asg, asg_schedule, tag_asg
from tests.connectors.targets.aws_subjects import AsgSubject
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, let_go, stand

HOUR = timedelta(hours=1)
PLANNED = tuple(Step(start=NOW + hours * HOUR, replicas=count) for hours, count in ((1, 8), (2, 5), (3, FOUND)))


@pytest.fixture
def group(aws: Aws, account: AwsAccount) -> AsgSubject:
    return AsgSubject(aws=aws, account=account, scheduled=True)


def put(group: AsgSubject, steps: tuple[Step, ...] = PLANNED) -> int:
    target = group.open()
    return target.set_schedule(steps, target.observe(NOW))


def sizes(group: AsgSubject) -> tuple[int, int, int]:
    found = asg(group.name)
    return found.min_size, found.desired_capacity, found.max_size


def scheduled(group: AsgSubject) -> dict[str, int]:
    return {name: int(action.min_size) for name, action in asg_schedule(group.name).items()}


def test_a_target_opened_from_its_configuration_asks_the_endpoint_in_it(aws: Aws) -> None:
    aws.add_group("own-client", minimum=1, desired=1, maximum=4, in_service=1)
    config = AsgConfig(type="asg", group="own-client", region=REGION, endpoint_url=aws.url)
    assert stand(open_target(config), 3).after == 3


def test_raising_lifts_minimum_and_desired_together_and_lowering_moves_the_minimum_alone(group: AsgSubject) -> None:
    stand(group.open(), 8)
    assert sizes(group) == (8, 8, CEILING)
    stand(group.open(), 4)
    assert sizes(group) == (4, 8, CEILING)


def test_machines_that_were_asked_for_and_are_not_there_yet_stay_asked_for(group: AsgSubject) -> None:
    asg(group.name).desired_capacity = 12  # of which 3 are in service: AWS would set it to the minimum
    stand(group.open(), 8)
    assert sizes(group) == (8, 12, CEILING)


def test_marks_are_not_handed_on_to_instances(group: AsgSubject) -> None:
    stand(group.open(), 8)
    assert not any(tag["PropagateAtLaunch"] in {True, "true"} for tag in asg(group.name).tags)


def test_floors_are_rounded_up_to_whole_machines(aws: Aws, account: AwsAccount) -> None:
    subject = AsgSubject(aws=aws, account=account, replicas_per_node=4)
    assert stand(subject.open(), 21).after == 24
    assert sizes(subject)[0] == 6


def test_a_group_that_is_not_there_is_missing(aws: Aws) -> None:
    config = AsgConfig(type="asg", group="nowhere", region=REGION, endpoint_url=aws.url)
    with pytest.raises(TargetMissing, match="correct group and region"):
        open_target(config).observe(NOW)


def test_a_group_behind_an_eks_node_group_is_refused_with_the_target_to_use(group: AsgSubject) -> None:
    tag_asg(group.name, "eks:nodegroup-name", "gpu-h100")
    with pytest.raises(TargetRefused, match=r"gpu-h100.*eks-nodegroup"):
        group.open().observe(NOW)


@pytest.mark.parametrize(
    ("key", "text", "writer", "remedy"),
    [
        ("aws:cloudformation:stack-name", "fleet", "the CloudFormation stack fleet", "template"),
        ("ManagedBy", "terraform", "Terraform", r"ignore_changes = \[min_size, desired_capacity, tag\]"),
        ("managed-by", "pulumi", "pulumi", "take MinSize out"),
    ],
)
def test_the_tool_that_manages_the_group_is_the_second_writer(group: AsgSubject, key: str, text: str, writer: str, remedy: str) -> None:
    tag_asg(group.name, key, text)
    stand(group.open(), 8)
    assert group.open().observe(NOW).writer is None
    group.meddle(FOUND)
    seen = group.open().observe(NOW)
    assert seen.writer == writer
    assert seen.remedy is not None
    assert re.search(remedy, seen.remedy)


def test_a_suspended_launch_is_told(group: AsgSubject) -> None:
    asg(group.name).suspended_processes = ["Launch"]
    shortage = group.open().observe(NOW).shortage
    assert shortage is not None
    assert "Launch" in shortage


def test_an_instance_refresh_is_told_while_machines_are_missing(group: AsgSubject) -> None:
    group.aws.gaps.refreshes[group.name] = [{"InstanceRefreshId": "r", "Status": "InProgress", "PercentageComplete": 40}]
    assert group.open().observe(NOW).shortage is None
    asg(group.name).desired_capacity = 5
    shortage = group.open().observe(NOW).shortage
    assert shortage is not None
    assert "InProgress, 40 % done" in shortage


def test_activities_that_we_may_not_read_leave_the_shortage_unknown_and_the_floor_writable(group: AsgSubject) -> None:
    asg(group.name).desired_capacity = 5
    group.aws.fail_next("DescribeScalingActivities", "AccessDenied", status=403, times=2)
    assert group.open().observe(NOW).shortage is None
    assert stand(group.open(), 8).written


def test_coming_floors_are_scheduled_actions_that_move_the_minimum_alone(group: AsgSubject) -> None:
    stand(group.open(), 4)
    assert put(group) == 3
    assert scheduled(group) == {"forecaster-20240506T0900Z": 8, "forecaster-20240506T1000Z": 5, "forecaster-20240506T1100Z": FOUND}
    assert all(action.desired_capacity is None for action in asg_schedule(group.name).values())
    assert isinstance(group.open(), Scheduled)


def test_the_same_schedule_is_put_once_and_another_by_its_difference(group: AsgSubject) -> None:
    stand(group.open(), 4)
    put(group)
    before = group.writes()
    assert (put(group), group.writes()) == (0, before)
    assert put(group, (PLANNED[0], Step(start=NOW + 4 * HOUR, replicas=FOUND))) == 3
    assert scheduled(group) == {"forecaster-20240506T0900Z": 8, "forecaster-20240506T1200Z": FOUND}


def test_actions_of_others_are_left_alone_and_keep_their_instant(group: AsgSubject) -> None:
    stand(group.open(), 4)
    theirs = [{"ScheduledActionName": "night", "StartTime": NOW + HOUR, "MaxSize": 15}]
    group.account.call(
        "autoscaling", "batch_put_scheduled_update_group_action", AutoScalingGroupName=group.name, ScheduledUpdateGroupActions=theirs
    )
    put(group)
    assert set(asg_schedule(group.name)) >= {"night", "forecaster-20240506T0859Z"}
    put(group, ())
    assert set(asg_schedule(group.name)) == {"night"}


def test_what_aws_carries_out_in_our_name_is_nobody_elses_write(group: AsgSubject) -> None:
    stand(group.open(), 4)
    put(group)
    for floor in (8, 5, FOUND):
        group.meddle(floor)
        assert group.open().observe(NOW).writer is None
    group.meddle(13)
    assert group.open().observe(NOW).writer is not None


def test_a_release_takes_the_schedule_away_first(group: AsgSubject) -> None:
    stand(group.open(), 4)
    put(group)
    let_go(group.open())
    assert (scheduled(group), group.floor(), group.marks()) == ({}, FOUND, {})


def test_a_group_that_is_no_longer_configured_for_schedules_loses_its_actions(aws: Aws, account: AwsAccount) -> None:
    group = AsgSubject(aws=aws, account=account, scheduled=True)
    stand(group.open(), 4)
    put(group)
    config = AsgConfig(type="asg", group=group.name, region=REGION, endpoint_url=aws.url)
    stand(open_target(config), 6)
    assert (scheduled(group), "forecaster/scheduled" in group.marks()) == ({}, False)


def test_nothing_is_scheduled_on_a_group_that_is_paused_or_not_ours(group: AsgSubject) -> None:
    with pytest.raises(TargetConflict, match="released"):
        put(group)
    stand(group.open(), 4)
    group.mark("forecaster/paused", "hold")
    with pytest.raises(TargetConflict, match="paused"):
        put(group)
    assert scheduled(group) == {}


def test_suspended_scheduled_actions_are_refused_with_the_remedy(group: AsgSubject) -> None:
    stand(group.open(), 4)
    asg(group.name).suspended_processes = ["ScheduledActions"]
    with pytest.raises(TargetRefused, match="resume its process ScheduledActions"):
        put(group)


def test_a_group_full_of_actions_of_others_is_refused(group: AsgSubject) -> None:
    stand(group.open(), 4)
    for start in range(0, 125, 25):
        theirs = [
            {"ScheduledActionName": f"theirs-{group.name}-{i}", "StartTime": NOW + (5 + i) * HOUR, "MaxSize": 15}
            for i in range(start, start + 25)
        ]
        group.account.call(
            "autoscaling", "batch_put_scheduled_update_group_action", AutoScalingGroupName=group.name, ScheduledUpdateGroupActions=theirs
        )
    with pytest.raises(TargetRefused, match="125"):
        put(group)


def test_a_schedule_cut_short_is_completed_by_the_next(group: AsgSubject) -> None:
    stand(group.open(), 4)
    group.aws.fail_next("BatchPutScheduledUpdateGroupAction", "ResourceContention", status=400)
    with pytest.raises(TargetUnavailable, match="under way"):
        put(group)
    assert put(group) == 3
    assert group.marks()["forecaster/scheduled"] == "2/5/8"

"""Auto Scaling groups and scalable targets of one account are described together, and none of them spoils it for the others."""

import pytest

from connectors.aws import AwsAccount
from forecaster.errors import TargetMissing, TargetUnavailable
from tests.aws import Aws
from tests.connectors.targets.aws_subjects import AsgSubject
from tests.connectors.targets.subjects import FOUND, NOW, account_of, stand


@pytest.fixture
def own(aws: Aws) -> AwsAccount:
    """An account that nobody else has asked."""
    return account_of(aws)


def groups(aws: Aws, own: AwsAccount, many: int) -> list[AsgSubject]:
    return [AsgSubject(aws=aws, account=own) for _ in range(many)]


def test_so_many_groups_as_a_request_takes_are_one_request_and_more_are_two(aws: Aws, own: AwsAccount) -> None:
    targets = [group.open() for group in groups(aws, own, 101)]
    aws.operations.clear()
    assert {target.observe(NOW).floor for target in targets} == {FOUND}
    assert aws.operations == ["DescribeAutoScalingGroups"] * 2


def test_one_that_is_gone_is_missing_and_the_others_are_there(aws: Aws, own: AwsAccount) -> None:
    here, gone = (group.open() for group in groups(aws, own, 2))
    aws.remove_group(gone.name.removeprefix("asg:").partition("@")[0])
    assert here.observe(NOW).floor == FOUND
    with pytest.raises(TargetMissing, match="there is no such group"):
        gone.observe(NOW)


def test_a_name_that_aws_does_not_take_costs_the_others_nothing(aws: Aws, own: AwsAccount) -> None:
    here, beside = (group.open() for group in groups(aws, own, 2))
    aws.fail_next("DescribeAutoScalingGroups", "ValidationError", status=400)
    assert here.observe(NOW).floor == FOUND
    assert beside.observe(NOW).floor == FOUND


def test_one_throttled_request_is_told_to_all_that_it_was_for_and_not_sent_again_for_each(aws: Aws, own: AwsAccount) -> None:
    here, beside = (group.open() for group in groups(aws, own, 2))
    aws.operations.clear()
    aws.fail_next("DescribeAutoScalingGroups", "Throttling", status=400, times=3)
    for target in (here, beside):
        with pytest.raises(TargetUnavailable):
            target.observe(NOW)
    assert len(aws.operations) == 3  # boto3's own tries
    assert here.observe(NOW).floor == FOUND


def test_after_a_write_a_target_sees_what_it_wrote(aws: Aws, own: AwsAccount) -> None:
    here, beside = (group.open() for group in groups(aws, own, 2))
    beside.observe(NOW)
    assert stand(here, 8).written
    assert here.observe(NOW).floor == 8

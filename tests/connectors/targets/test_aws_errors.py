"""What each refusal of AWS becomes: one sentence with the object and the remedy, whatever protocol it came by."""

import pytest

from connectors.aws import AwsAccount, AwsFailed
from connectors.targets.aws_errors import aws_target_error
from forecaster.errors import TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from tests.aws import Aws
from tests.connectors.targets.aws_subjects import AsgSubject, ScalableSubject
from tests.connectors.targets.subjects import NOW, Subject, stand

CLOCK = "set the clock of this machine"


def told(code: str | None, answer: str = "no") -> TargetError:
    failed = AwsFailed(action="autoscaling:UpdateAutoScalingGroup", code=code, answer=answer)
    return aws_target_error(failed, "asg:gpu@eu-west-1", missing="correct group and region in the configuration")


@pytest.mark.parametrize(
    ("code", "answer", "error", "remedy"),
    [
        ("SignatureDoesNotMatch", "Signature expired: 20240506T075000Z is now earlier than 20240506T075500Z", TargetForbidden, CLOCK),
        ("InvalidSignatureException", "Signature not yet current: 20240506T083000Z is still later than", TargetForbidden, CLOCK),
        ("RequestTimeTooSkewed", "The difference between the request time and the current time is too large.", TargetForbidden, CLOCK),
        ("RequestExpired", "Request has expired.", TargetForbidden, CLOCK),
        ("SignatureDoesNotMatch", "The request signature we calculated does not match", TargetForbidden, "does not know our credentials"),
        ("ExpiredToken", "The security token included in the request is expired", TargetForbidden, "token has expired"),
        ("AccessDenied", "User is not authorized", TargetForbidden, "IAM action autoscaling:UpdateAutoScalingGroup"),
        ("RequestLimitExceeded", "Request limit exceeded.", TargetUnavailable, "ask for fewer objects"),
        ("ThrottlingException", "Rate exceeded", TargetUnavailable, "try again later"),
        ("ResourceContention", "You already have a pending update", TargetUnavailable, "under way"),
        ("ConcurrentUpdateException", "There is a pending update", TargetUnavailable, "under way"),
        ("ValidationError", "Min bound, 8, must be less than or equal to max bound, 5", TargetRefused, "max bound, 5"),
        ("ValidationError", "AutoScalingGroup name not found - gpu", TargetMissing, "correct group and region"),
        ("ObjectNotFoundException", "No scalable target found", TargetMissing, "correct group and region"),
        ("LimitExceededException", "too many", TargetRefused, "ask AWS for a higher one"),
        ("InternalFailure", "oops", TargetUnavailable, "try again later"),
        (None, "Could not connect to the endpoint URL", TargetUnavailable, "try again later"),
    ],
)
def test_the_code_and_where_aws_is_vague_its_words_decide(code: str | None, answer: str, error: type[TargetError], remedy: str) -> None:
    failed = told(code, answer)
    assert type(failed) is error
    assert "asg:gpu@eu-west-1" in str(failed)
    assert remedy in str(failed)
    assert answer in str(failed)


@pytest.fixture(params=["asg", "ecs", "sagemaker"])
def subject(request: pytest.FixtureRequest, aws: Aws, account: AwsAccount) -> Subject:
    if request.param == "asg":
        return AsgSubject(aws=aws, account=account)
    return ScalableSubject(aws=aws, account=account, kind=request.param)


def read_of(subject: Subject) -> str:
    return "DescribeAutoScalingGroups" if isinstance(subject, AsgSubject) else "DescribeScalableTargets"


@pytest.mark.parametrize(
    ("code", "message", "remedy"),
    [
        ("SignatureDoesNotMatch", "Signature expired: 20240506T075000Z is now earlier", CLOCK),
        ("ExpiredTokenException", "The security token included in the request is expired", "token has expired"),
        ("AccessDeniedException", "not authorized", "IAM action"),
    ],
)
def test_a_clock_a_token_and_a_right_are_told_apart_over_the_wire(aws: Aws, subject: Subject, code: str, message: str, remedy: str) -> None:
    aws.fail_next(read_of(subject), code, status=403, message=message)
    with pytest.raises(TargetForbidden, match=remedy):
        subject.open().observe(NOW)


def test_a_throttled_read_is_tried_three_times_and_then_unavailable(aws: Aws, subject: Subject) -> None:
    aws.operations.clear()
    aws.fail_next(read_of(subject), "ThrottlingException", status=400, message="Rate exceeded", times=3)
    with pytest.raises(TargetUnavailable, match="how often we may ask"):
        subject.open().observe(NOW)
    assert aws.operations.count(read_of(subject)) == 3


def test_a_write_that_is_not_allowed_names_its_iam_action_and_moves_nothing(aws: Aws, subject: Subject) -> None:
    action = "autoscaling:UpdateAutoScalingGroup" if isinstance(subject, AsgSubject) else "application-autoscaling:RegisterScalableTarget"
    before = subject.floor()
    aws.fail_next(action.partition(":")[2], "AccessDeniedException", status=403)
    with pytest.raises(TargetForbidden, match=f"IAM action {action}"):
        stand(subject.open(), 8)
    assert (subject.floor(), subject.open().observe(NOW).original) == (before, before)

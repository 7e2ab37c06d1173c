"""The EKS target against moto's server: what becomes of nodes, and what each refusal becomes."""

import pytest

from connectors.aws import AwsAccount
from connectors.targets.eks_nodegroup import EksNodegroupConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import Code
from tests.aws import REGION, Aws
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, EksSubject, codes, let_go, stand

CHANGE = ["TagResource", "UpdateNodegroupConfig", "TagResource"]


def test_the_name_tells_cluster_node_group_and_region(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account, name="gpu-h100")
    assert subject.open().name == f"eks-nodegroup:prod/gpu-h100@{REGION}"


def test_a_target_opened_from_its_configuration_asks_the_endpoint_in_it(aws: Aws) -> None:
    aws.add_nodegroup("prod", "own-client", minimum=1, desired=1, maximum=4)
    config = EksNodegroupConfig(type="eks-nodegroup", cluster="prod", nodegroup="own-client", region=REGION, endpoint_url=aws.url)
    assert stand(open_target(config), 3).after == 3


def test_raising_lifts_minimum_and_desired_together(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    stand(subject.open(), 8)
    assert aws.size("prod", subject.name) == {"minSize": 8, "desiredSize": 8, "maxSize": CEILING}


def test_raising_below_what_runs_leaves_desired_alone(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.edit("prod", subject.name, desiredSize=12)
    stand(subject.open(), 8)
    assert aws.size("prod", subject.name) == {"minSize": 8, "desiredSize": 12, "maxSize": CEILING}


def test_nodes_that_the_cluster_autoscaler_asked_for_behind_the_back_of_eks_are_not_ended(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account, desired=12)
    aws.edit("prod", subject.name, desiredSize=4)  # EKS has not heard of the 12 yet
    stand(subject.open(), 8)
    assert aws.size("prod", subject.name) == {"minSize": 8, "desiredSize": 12, "maxSize": CEILING}


@pytest.mark.parametrize("floors", [(8, 3), (8, 0), (20, 1)])
def test_lowering_moves_the_minimum_alone_so_that_no_busy_node_is_ended(aws: Aws, account: AwsAccount, floors: tuple[int, int]) -> None:
    subject = EksSubject(aws=aws, account=account)
    for floor in floors:
        stand(subject.open(), floor)
    let_go(subject.open())
    assert aws.size("prod", subject.name)["desiredSize"] == floors[0]


def test_floors_are_rounded_up_to_whole_nodes(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account, replicas_per_node=4)
    applied = stand(subject.open(), 21)
    assert (applied.before, applied.after) == (FOUND * 4, 24)
    assert aws.size("prod", subject.name)["minSize"] == 6
    assert aws.tags("prod", subject.name)["forecaster/original"] == str(FOUND)


def test_a_floor_of_zero_is_no_node_at_all(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    applied = stand(subject.open(), 0)
    assert (applied.after, codes(applied), subject.floor()) == (0, set(), 0)


def test_ready_are_the_nodes_in_service_and_pending_those_asked_for(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account, replicas_per_node=2, desired=5)
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.pending) == (6, 4)


def test_nodes_that_we_may_not_see_leave_ready_unknown_and_the_floor_writable(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.fail_next("DescribeAutoScalingGroups", "AccessDenied", status=403, times=2)
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.pending) == (None, None)
    assert stand(subject.open(), 8).written


def test_the_tags_go_first_and_a_renewal_of_the_expiry_touches_no_node(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    stand(subject.open(), 8)
    assert aws.writes == CHANGE
    stand(subject.open(), 9)
    assert aws.writes == CHANGE * 2
    stand(subject.open(), 8)
    let_go(subject.open())
    assert aws.writes[-3:] == ["TagResource", "UpdateNodegroupConfig", "UntagResource"]


def test_an_update_under_way_is_unavailable_and_names_no_second_writer_afterwards(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    stand(subject.open(), 8)
    aws.fail_next("UpdateNodegroupConfig", "ResourceInUseException", status=409)
    with pytest.raises(TargetUnavailable, match="under way"):
        stand(subject.open(), 3)
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.original, seen.writer) == (8, FOUND, None)
    assert stand(subject.open(), 3).written
    assert subject.marks()["forecaster/floor"] == "3"


def test_an_update_that_is_accepted_but_not_seen_yet_is_no_conflict(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.after_next("UpdateNodegroupConfig", lambda: aws.edit("prod", subject.name, minSize=FOUND))
    assert stand(subject.open(), 8).written
    assert subject.open().observe(NOW).writer is None
    aws.edit("prod", subject.name, minSize=8)
    assert subject.open().observe(NOW).writer is None


def test_a_value_that_somebody_wrote_over_ours_is_a_conflict(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.after_next("UpdateNodegroupConfig", lambda: aws.edit("prod", subject.name, minSize=5))
    with pytest.raises(TargetConflict, match="became 5 while we wrote 8"):
        stand(subject.open(), 8)
    seen = subject.open().observe(NOW)
    assert (seen.original, seen.writer) == (FOUND, "an unknown writer")


def test_limits_are_read_again_every_time(aws: Aws, account: AwsAccount) -> None:
    subject = EksSubject(aws=aws, account=account)
    target = subject.open()
    assert target.observe(NOW).ceiling == CEILING
    subject.limit(6)
    applied = stand(target, 8)
    assert (applied.after, codes(applied)) == (6, {Code.CEILING_BELOW_FLOOR})


@pytest.mark.parametrize(
    ("code", "error", "told"),
    [
        ("ResourceNotFoundException", TargetMissing, "correct cluster, nodegroup and region"),
        ("AccessDeniedException", TargetForbidden, "IAM action eks:DescribeNodegroup"),
        ("UnrecognizedClientException", TargetForbidden, "renew them"),
        ("ExpiredTokenException", TargetForbidden, "renew them"),
        ("InvalidParameterException", TargetRefused, "injected"),
    ],
)
def test_a_final_answer_is_told_at_once(aws: Aws, account: AwsAccount, code: str, error: type[TargetError], told: str) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.operations.clear()
    aws.fail_next("DescribeNodegroup", code)
    with pytest.raises(error, match=told) as raised:
        subject.open().observe(NOW)
    assert f"prod/{subject.name}" in str(raised.value)
    assert aws.operations == ["DescribeNodegroup"]


@pytest.mark.parametrize(("code", "status"), [("ThrottlingException", 429), ("ServerException", 500)])
def test_a_busy_api_is_asked_three_times_and_then_unavailable(aws: Aws, account: AwsAccount, code: str, status: int) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.operations.clear()
    aws.fail_next("DescribeNodegroup", code, status=status, times=3)
    with pytest.raises(TargetUnavailable, match="try again later"):
        subject.open().observe(NOW)
    assert aws.operations == ["DescribeNodegroup"] * 3


@pytest.mark.parametrize("operation", ["TagResource", "UpdateNodegroupConfig"])
def test_a_write_that_is_not_allowed_names_its_iam_action(aws: Aws, account: AwsAccount, operation: str) -> None:
    subject = EksSubject(aws=aws, account=account)
    aws.fail_next(operation, "AccessDeniedException", status=403)
    with pytest.raises(TargetForbidden, match=f"IAM action eks:{operation}"):
        stand(subject.open(), 8)
    assert subject.floor() == FOUND


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://"])
def test_an_endpoint_that_nobody_listens_on_is_unavailable(url: str) -> None:
    config = EksNodegroupConfig(type="eks-nodegroup", cluster="prod", nodegroup="gpu", region=REGION, endpoint_url=url)
    with pytest.raises(TargetUnavailable, match="eks:DescribeNodegroup"):
        open_target(config).observe(NOW)


def test_credentials_that_are_nowhere_are_forbidden_with_the_places_to_put_them(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    config = EksNodegroupConfig(type="eks-nodegroup", cluster="prod", nodegroup="gpu", region=REGION, endpoint_url=aws.url)
    with pytest.raises(TargetForbidden, match="environment, profile"):
        open_target(config).observe(NOW)


def test_a_profile_that_is_not_there_is_forbidden_with_its_name(aws: Aws) -> None:
    config = EksNodegroupConfig(
        type="eks-nodegroup", cluster="prod", nodegroup="gpu", region=REGION, endpoint_url=aws.url, profile="serving"
    )
    with pytest.raises(TargetForbidden, match="serving"):
        open_target(config).observe(NOW)

"""What is wrong with a target is found by `forecaster check` before the first write, and told the same way by `apply`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.aws import AWS_ENV, REGION, Aws, aws_to_ask
from tests.end_to_end.desk import Desk, Outcome
from tests.end_to_end.fleets import HPA, Config, on_csv
from tests.end_to_end.service import clock
from tests.kube_api import KubeApi

FIELD = HPA | {"type": "kubernetes-field", "api_version": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "field": "spec.minReplicas"}
GROUP = {"type": "asg", "group": "gpu", "region": REGION, "endpoint_url": "${AWS}"}
NODES = {"type": "eks-nodegroup", "cluster": "prod", "nodegroup": "gpu", "region": REGION, "endpoint_url": "${AWS}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A desk after a forecast, and what stands behind targets."""

    desk: Desk
    kube: KubeApi
    aws: Aws

    def throttled(self, operation: str, code: str, message: str) -> None:
        """Every answer to an operation is an error."""
        self.aws.fail_next(operation, code, times=20, message=message)


@pytest.fixture
def world(foreseen: Path, tmp_path: Path, kube: KubeApi) -> Iterator[World]:
    with aws_to_ask() as aws:
        aws.add_group("gpu", minimum=1, desired=2, maximum=30, in_service=2)
        aws.add_nodegroup("prod", "gpu", minimum=1, desired=2, maximum=30)
        desk = Desk.after(foreseen, tmp_path / "desk", KUBE=kube.url, AWS=aws.url, **AWS_ENV)
        yield World(desk=desk, kube=kube, aws=aws)


def nothing(_: World) -> None:
    """All is as it should be behind the target."""


def flat(outcome: Outcome) -> str:
    return " ".join((outcome.out + outcome.err).split())


@pytest.mark.parametrize(
    ("target", "spoil", "parts"),
    [
        (
            FIELD | {"kind": "HorizontalPodAutoscalr"},
            nothing,
            ("horizontalpodautoscalrs.autoscaling serving/chat", "install its CustomResourceDefinition, or correct the kind"),
        ),
        (
            FIELD | {"api_version": "autoscaling.example/v1", "kind": "Scaler"},
            nothing,
            ("scalers in version v1 of autoscaling.example", "install its CustomResourceDefinition"),
        ),
        (FIELD | {"field": "spec.minimum"}, nothing, ("serving/chat has no usable spec.minimum", "correct the kind or the path")),
        (HPA | {"name": "chta"}, nothing, ("serving/chta", "correct namespace and name in the configuration")),
        (
            HPA | {"cluster": {"server": "${KUBE}", "token": "of-yesterday"}},
            lambda world: world.kube.fail_next(401, times=20, message="Unauthorized"),
            ("serving/chat", "there is no valid login: renew the token"),
        ),
        (
            HPA,
            lambda world: world.kube.forbid("patch"),
            ("serving/chat", "{apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [patch]}"),
        ),
        (GROUP | {"group": "gpus"}, nothing, ("asg:gpus@eu-west-1: there is no such group", "correct group and region")),
        (
            GROUP,
            lambda world: world.throttled("DescribeAutoScalingGroups", "ExpiredToken", "The security token included is expired"),
            ("asg:gpu@eu-west-1", "our token has expired: renew it"),
        ),
        (
            NODES,
            lambda world: world.throttled(
                "DescribeNodegroup", "InvalidSignatureException", "Signature expired: 20240326T063000Z is now earlier than 20240326T064500Z"
            ),
            ("eks-nodegroup:prod/gpu@eu-west-1", "Signature expired", "set the clock of this machine"),
        ),
    ],
    ids=["wrong-kind", "missing-crd", "no-such-field", "no-such-object", "token", "right", "no-such-group", "aws-token", "clock-skew"],
)
def test_what_is_wrong_with_a_target_is_told_with_object_and_remedy_by_check_and_by_apply(
    world: World, target: Config, spoil: Callable[[World], None], parts: tuple[str, ...]
) -> None:
    desk = world.desk
    desk.configure(on_csv(target=target))
    spoil(world)
    for command in ("check", "apply"):
        told = desk.run(command, at=clock("07:30"))
        assert told.code == 1, (command, told)
        for part in parts:
            assert part in flat(told), (command, part, flat(told))
    assert (world.kube.writes, world.aws.writes) == ((), [])

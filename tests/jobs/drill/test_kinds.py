"""Every kind of target can be drilled: nothing fails on an object that is well, nothing is written, and what goes on above it is told."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeAlias, get_args

import pytest

from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import TargetConfig
from jobs.drill.above import ALONE, LOOPS
from jobs.drill.outcome import Promise, Result
from tests.aks_api import aks_to_ask
from tests.aws import aws_to_ask
from tests.connectors.targets import object_subjects
from tests.connectors.targets.aws_subjects import AsgSubject, ScalableSubject
from tests.connectors.targets.cloud_subjects import AksSubject, GkeSubject, WebhookSubject
from tests.connectors.targets.scale_subjects import PlaceholderSubject, ScaleSubject
from tests.connectors.targets.subjects import EksSubject, HpaSubject, Subject, account_of
from tests.gke_api import gke_to_ask
from tests.jobs.drill.rehearsed import drilled_fleet, failed, foreseen, of
from tests.jobs.world import NOW, World
from tests.webhook_receiver import WebhookReceiver

Opened: TypeAlias = Callable[[World, ExitStack], Subject]


def an_object(kind: str) -> Opened:
    return lambda world, _: object_subjects.ObjectSubject(api=world.api, kind=kind)


def in_aws(kind: str) -> Opened:
    def opened(_: World, closing: ExitStack) -> Subject:
        aws = closing.enter_context(aws_to_ask())
        account = account_of(aws)
        match kind:
            case "asg":
                return AsgSubject(aws=aws, account=account)
            case "eks-nodegroup":
                return EksSubject(aws=aws, account=account)
            case _:
                return ScalableSubject(aws=aws, account=account, kind=kind)

    return opened


KINDS: dict[str, Opened] = {
    "kubernetes-hpa": lambda world, _: HpaSubject(api=world.api),
    **{kind: an_object(kind) for kind in object_subjects.KINDS},
    "kubernetes-scale": lambda world, _: ScaleSubject(api=world.api),
    "placeholder-pods": lambda world, _: PlaceholderSubject(api=world.api),
    **{kind: in_aws(kind) for kind in ("eks-nodegroup", "asg", "sagemaker", "ecs")},
    "gke-nodepool": lambda _, closing: GkeSubject(gke=closing.enter_context(gke_to_ask())),
    "aks-agentpool": lambda _, closing: AksSubject(aks=closing.enter_context(aks_to_ask())),
    "webhook": lambda _, closing: WebhookSubject(hook=closing.enter_context(WebhookReceiver(NOW))),
}


@pytest.fixture(params=KINDS)
def subject(request: pytest.FixtureRequest, world: World) -> Iterator[Subject]:
    with ExitStack() as closing:
        yield KINDS[request.param](world, closing)


def test_an_object_of_every_kind_that_is_well_fails_no_promise_and_is_not_written(world: World, subject: Subject) -> None:
    world.workload("chat", mode="observe")
    foreseen(world)
    target = subject.open()
    before = subject.floor(), subject.marks(), subject.writes()
    with world.fleet(rehearse="all") as fleet:
        (member,) = fleet.members
        (pool,) = member.workload.pools
        hands = {target.name: RecordingTarget(target)}
        workload = replace(member.workload, pools=(replace(pool, targets=(target.name,)),))
        outcomes = drilled_fleet(world, replace(fleet, members=(replace(member, workload=workload, targets=hands, live=hands),)))
    assert failed(outcomes) == {}
    assert (subject.floor(), subject.marks(), subject.writes()) == before
    alone = target.name.partition(":")[0] in ALONE
    assert of(outcomes, Promise.KILLED).result is (Result.WARNING if alone else Result.PASS)


def test_of_every_kind_it_is_known_what_goes_on_above_it() -> None:
    kinds = {name for kind in get_args(get_args(TargetConfig)[0]) for name in get_args(kind.model_fields["type"].annotation)}
    assert set(LOOPS) | set(ALONE) | {"recording"} == kinds
    assert not set(LOOPS) & set(ALONE)

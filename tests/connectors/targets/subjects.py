"""Targets over their counterparts, with what a rule has to see or do behind their backs. Found at 2 of at most 20 replicas."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

from connectors.aws import AwsAccount, AwsConnection
from connectors.kube.connection import KubeConnection
from connectors.targets.eks_nodegroup import EksNodegroupConfig, EksNodegroupTarget
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.recording import RecordingTarget
from connectors.targets.registry import Target, open_target
from forecaster.decision import Action, Applied, Decision
from forecaster.ports import ScaleTarget
from forecaster.reasons import Code, Reason
from tests.aws import REGION, Aws
from tests.kube_api import KubeApi

NOW = datetime(2024, 5, 6, 8, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=4)
FOUND, CEILING = 2, 20


def decided(target: str, floor: int, *, valid_until: datetime = UNTIL) -> Decision:
    """A decision of `floor` replicas for the target of that name."""
    return Decision(
        at=NOW,
        workload="llm",
        pool="main",
        target=target,
        action=Action.SET,
        floor=floor,
        wanted=floor,
        last=None,
        since=NOW,
        valid_until=valid_until,
        plan_id="llm/main@2024-05-06T08:00:00Z",
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="the plan"),),
    )


def stand(target: ScaleTarget, floor: int, *, valid_until: datetime = UNTIL) -> Applied:
    """One cycle: observe, then set."""
    return target.set_floor(decided(target.name, floor, valid_until=valid_until), target.observe(NOW))


def let_go(target: ScaleTarget) -> Applied:
    """One cycle that ends in a release."""
    return target.release(target.observe(NOW))


def codes(applied: Applied) -> set[Code]:
    """The codes of the reasons given."""
    return {reason.code for reason in applied.reasons}


def account_of(aws: Aws) -> AwsAccount:
    """The account behind the server."""
    return AwsAccount(AwsConnection(region=REGION, endpoint_url=aws.url))


class Subject(Protocol):
    """An object behind a target."""

    def open(self) -> Target:
        """A target as a new process opens it."""

    def floor(self) -> int:
        """The floor on the object."""

    def marks(self) -> dict[str, str]:
        """Our texts on the object, those of other people left out."""

    def writes(self) -> int:
        """How many writes the API has carried out for us."""

    def meddle(self, floor: int) -> None:
        """Somebody else sets the floor."""

    def limit(self, ceiling: int) -> None:
        """Somebody sets the ceiling."""

    def mark(self, key: str, text: str) -> None:
        """Somebody writes a text on the object."""

    def remove(self) -> None:
        """Somebody deletes the object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaSubject:
    """A HPA on the double of the API server, over a Deployment of 3 replicas, all ready."""

    api: KubeApi
    name: str = field(default_factory=lambda: f"llm-{uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        self.api.add_hpa("inference", self.name, min_replicas=FOUND, max_replicas=CEILING, scales=f"Deployment/{self.name}")
        self.api.add_workload("inference", self.name, replicas=3, ready=3)

    def open(self) -> Target:
        connection = KubeConnection(server=self.api.url)
        return open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name=self.name, cluster=connection))

    def floor(self) -> int:
        return self.api.min_replicas("inference", self.name)

    def marks(self) -> dict[str, str]:
        return {key: text for key, text in self.api.annotations("inference", self.name).items() if key.startswith("forecaster/")}

    def writes(self) -> int:
        return sum(write.path.endswith(f"/{self.name}") for write in self.api.writes)

    def meddle(self, floor: int) -> None:
        self.api.edit("inference", self.name, minReplicas=floor)

    def limit(self, ceiling: int) -> None:
        self.api.edit("inference", self.name, maxReplicas=ceiling)

    def mark(self, key: str, text: str) -> None:
        self.api.edit("inference", self.name, annotations={key: text})

    def remove(self) -> None:
        self.api.delete_hpa("inference", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class EksSubject:
    """A node group on moto's server, in which 3 nodes are in service."""

    aws: Aws
    account: AwsAccount
    name: str = field(default_factory=lambda: f"gpu-{uuid4().hex[:8]}")
    replicas_per_node: int = 1
    desired: int = 3

    def __post_init__(self) -> None:
        self.aws.add_nodegroup("prod", self.name, minimum=FOUND, desired=self.desired, maximum=CEILING, in_service=3)

    def open(self) -> Target:
        config = EksNodegroupConfig(
            type="eks-nodegroup", cluster="prod", nodegroup=self.name, region=REGION, replicas_per_node=self.replicas_per_node
        )
        return EksNodegroupTarget(config, self.account)  # a client of its own would read 0.1 s of boto3's data every time

    def floor(self) -> int:
        return self.aws.size("prod", self.name)["minSize"] * self.replicas_per_node

    def marks(self) -> dict[str, str]:
        return {key: text for key, text in self.aws.tags("prod", self.name).items() if key.startswith("forecaster/")}

    def writes(self) -> int:
        return len(self.aws.writes)

    def meddle(self, floor: int) -> None:
        nodes = floor // self.replicas_per_node
        self.aws.edit("prod", self.name, minSize=nodes, desiredSize=max(nodes, self.aws.size("prod", self.name)["desiredSize"]))

    def limit(self, ceiling: int) -> None:
        nodes = ceiling // self.replicas_per_node
        self.aws.edit("prod", self.name, maxSize=nodes, desiredSize=min(nodes, self.aws.size("prod", self.name)["desiredSize"]))

    def mark(self, key: str, text: str) -> None:
        self.aws.edit("prod", self.name, tags={key: text})

    def remove(self) -> None:
        self.aws.delete_nodegroup("prod", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """Another subject whose target is rehearsed only."""

    real: Subject

    def open(self) -> Target:
        return RecordingTarget(self.real.open())

    def floor(self) -> int:
        return self.real.floor()

    def marks(self) -> dict[str, str]:
        return self.real.marks()

    def writes(self) -> int:
        return self.real.writes()

    def meddle(self, floor: int) -> None:
        self.real.meddle(floor)

    def limit(self, ceiling: int) -> None:
        self.real.limit(ceiling)

    def mark(self, key: str, text: str) -> None:
        self.real.mark(key, text)

    def remove(self) -> None:
        self.real.remove()

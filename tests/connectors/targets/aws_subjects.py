"""AWS targets over moto's server, with what a rule has to see or do behind their backs. Found at 2 of at most 20 replicas, 3 at work."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from connectors.aws import AwsAccount
from connectors.targets.asg import AsgConfig, AsgTarget
from connectors.targets.ecs import EcsConfig, EcsService
from connectors.targets.registry import Target
from connectors.targets.sagemaker import SagemakerConfig, SagemakerFleet
from connectors.targets.scalable_target import ScalableTarget
from tests import aws_fleets
from tests.aws import REGION, Aws
from tests.aws_fleets import add_endpoint, add_service, asg, scalable, tag_asg
from tests.connectors.targets.subjects import CEILING, FOUND

OURS = "forecaster/"


@dataclass(frozen=True, slots=True, kw_only=True)
class AsgSubject:
    """An Auto Scaling group on moto's server, in which 3 instances are in service."""

    aws: Aws
    account: AwsAccount
    name: str = field(default_factory=lambda: f"gpu-{uuid4().hex[:8]}")
    replicas_per_node: int = 1
    scheduled: bool = False

    def __post_init__(self) -> None:
        self.aws.add_group(self.name, minimum=FOUND, desired=3, maximum=CEILING, in_service=3)

    def open(self) -> AsgTarget:
        config = AsgConfig(type="asg", group=self.name, region=REGION, replicas_per_node=self.replicas_per_node, scheduled=self.scheduled)
        return AsgTarget(config, self.account)

    def floor(self) -> int:
        return int(asg(self.name).min_size) * self.replicas_per_node

    def marks(self) -> dict[str, str]:
        return {tag["Key"]: tag["Value"] for tag in asg(self.name).tags if tag["Key"].startswith(OURS)}

    def writes(self) -> int:
        return len(self.aws.writes)

    def meddle(self, floor: int) -> None:
        group, nodes = asg(self.name), floor // self.replicas_per_node
        group.min_size, group.desired_capacity = nodes, max(nodes, group.desired_capacity)

    def limit(self, ceiling: int) -> None:
        group, nodes = asg(self.name), ceiling // self.replicas_per_node
        group.max_size, group.desired_capacity = nodes, min(nodes, group.desired_capacity)

    def mark(self, key: str, text: str) -> None:
        tag_asg(self.name, key, text)

    def remove(self) -> None:
        self.aws.remove_group(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalableSubject:
    """A scalable target on moto's server, over an ECS service or a SageMaker endpoint that runs 3.

    Its tags are kept in front of moto, which knows none of scalable targets.
    """

    aws: Aws
    account: AwsAccount
    kind: str
    name: str = field(default_factory=lambda: f"llm-{uuid4().hex[:8]}")
    replicas_per_node: int = 1
    scheduled: bool = False

    def __post_init__(self) -> None:
        match self.kind:
            case "ecs":
                add_service("prod", self.name, tasks=3)
            case "sagemaker":
                add_endpoint(self.name, instances=3)
        aws_fleets.register(self.kind, self.dimension, self.resource, minimum=FOUND, maximum=CEILING)

    @property
    def dimension(self) -> str:
        return "ecs:service:DesiredCount" if self.kind == "ecs" else "sagemaker:variant:DesiredInstanceCount"

    @property
    def resource(self) -> str:
        return f"service/prod/{self.name}" if self.kind == "ecs" else f"endpoint/{self.name}/variant/AllTraffic"

    def open(self) -> Target:
        if self.kind == "ecs":
            service = EcsConfig(type="ecs", cluster="prod", service=self.name, region=REGION, scheduled=self.scheduled)
            return ScalableTarget(EcsService(service, self.account), self.account)
        endpoint = SagemakerConfig(
            type="sagemaker", endpoint=self.name, region=REGION, replicas_per_node=self.replicas_per_node, scheduled=self.scheduled
        )
        return ScalableTarget(SagemakerFleet(endpoint, self.account), self.account)

    def scalable(self) -> Any:
        return scalable(self.dimension, self.resource)

    def floor(self) -> int:
        return int(self.scalable().min_capacity) * self.replicas_per_node

    def marks(self) -> dict[str, str]:
        tags = self.aws.gaps.tags.get(self.scalable().arn, {})
        return {key: text for key, text in tags.items() if key.startswith(OURS)}

    def writes(self) -> int:
        return len(self.aws.writes)

    def meddle(self, floor: int) -> None:
        self.scalable().min_capacity = floor // self.replicas_per_node

    def limit(self, ceiling: int) -> None:
        self.scalable().max_capacity = ceiling // self.replicas_per_node

    def mark(self, key: str, text: str) -> None:
        self.aws.gaps.tags.setdefault(self.scalable().arn, {})[key] = text

    def remove(self) -> None:
        aws_fleets.deregister(self.dimension, self.resource)

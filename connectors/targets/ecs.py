"""MinCapacity of an Amazon ECS service: tasks that run before the requests that need them."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.aws import AwsAccount, AwsConnection, AwsFailed, Json
from connectors.targets.aws_settings import EndpointUrl, Profile, Region, Scheduled
from connectors.targets.scalable_address import Address, Running

_RECENT = timedelta(hours=1)


class EcsConfig(BaseModel):
    """One service, registered with Application Auto Scaling, whose MinCapacity is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["ecs"] = Field(description="This kind of target: MinCapacity of an Amazon ECS service; one task is one replica.")
    cluster: str = Field(min_length=1, description="Name of the ECS cluster. No default.")
    service: str = Field(min_length=1, description="Name of the service. No default.")
    region: Region
    scheduled: Scheduled = False
    profile: Profile = None
    endpoint_url: EndpointUrl = None

    @property
    def connection(self) -> AwsConnection:
        """Where AWS is asked, and as whom."""
        return AwsConnection(region=self.region, profile=self.profile, endpoint_url=self.endpoint_url)

    @property
    def target(self) -> str:
        """`ecs:CLUSTER/SERVICE@REGION`."""
        return f"{self.type}:{self.cluster}/{self.service}@{self.region}"


class EcsService:
    """The service that is scaled, as `Scaled` asks."""

    per_unit = 1

    def __init__(self, config: EcsConfig, aws: AwsAccount) -> None:
        self.name = config.target
        self.scheduled = config.scheduled
        self._config = config
        self._aws = aws

    @property
    def address(self) -> Address:
        """Of the service."""
        resource = f"service/{self._config.cluster}/{self._config.service}"
        return Address(namespace="ecs", resource=resource, dimension="ecs:service:DesiredCount", correct="cluster, service and region")

    def running(self, now: datetime) -> Running:
        """Running tasks, at most those desired: the surge of a deployment is no capacity. Unknown where we may not look."""
        try:
            answer = self._aws.call("ecs", "describe_services", cluster=self._config.cluster, services=[self._config.service])
        except AwsFailed:
            return Running()
        service = next(iter(answer.get("services", ())), None)
        if service is None:
            return Running()
        current, desired = min(service["runningCount"], service["desiredCount"]), service["desiredCount"]
        return Running(current=current, desired=desired, shortage=_unplaced(service, now) if current < desired else None)


def _unplaced(service: Json, now: datetime) -> str | None:
    """What ECS says in its newest event of tasks that found no place."""
    newest = next(iter(service.get("events", ())), None)
    if newest is None or "unable to" not in newest.get("message", "") or newest["createdAt"] < now - _RECENT:
        return None
    return f"ECS: {newest['message']}"

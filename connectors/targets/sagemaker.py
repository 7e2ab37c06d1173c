"""MinCapacity of a SageMaker endpoint: instances of a production variant, or copies of an inference component."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from connectors.aws import AwsAccount, AwsConnection, AwsFailed, Json
from connectors.targets.aws_settings import EndpointUrl, Profile, Region, Scheduled
from connectors.targets.per_node import ReplicasPerNode
from connectors.targets.scalable_address import Address, Running


class SagemakerConfig(BaseModel):
    """One production variant or one inference component, registered with Application Auto Scaling, whose MinCapacity is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["sagemaker"] = Field(description="This kind of target: MinCapacity of a SageMaker endpoint.")
    endpoint: str | None = Field(
        default=None, min_length=1, description="Name of the endpoint. Default: none, then inference_component says what is scaled."
    )
    variant: str = Field(
        default="AllTraffic",
        min_length=1,
        description="Name of the production variant. Default AllTraffic: SageMaker's own name.",
    )
    inference_component: str | None = Field(
        default=None, min_length=1, description="Name of the inference component. Default: none, then endpoint says what is scaled."
    )
    region: Region
    replicas_per_node: ReplicasPerNode = 1
    scheduled: Scheduled = False
    profile: Profile = None
    endpoint_url: EndpointUrl = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.endpoint is None) == (self.inference_component is None):
            msg = "exactly one of endpoint and inference_component says what is scaled"
            raise ValueError(msg)
        if self.inference_component is not None and self.replicas_per_node != 1:
            msg = "replicas_per_node is for instances of an endpoint; a copy of an inference component is one replica"
            raise ValueError(msg)
        return self

    @property
    def connection(self) -> AwsConnection:
        """Where AWS is asked, and as whom."""
        return AwsConnection(region=self.region, profile=self.profile, endpoint_url=self.endpoint_url)

    @property
    def target(self) -> str:
        """`sagemaker:ENDPOINT/VARIANT@REGION`, or `sagemaker:COMPONENT@REGION`."""
        what = self.inference_component or f"{self.endpoint}/{self.variant}"
        return f"{self.type}:{what}@{self.region}"


class SagemakerFleet:
    """What is scaled of an endpoint, as `Scaled` asks."""

    def __init__(self, config: SagemakerConfig, aws: AwsAccount) -> None:
        self.name = config.target
        self.per_unit = config.replicas_per_node
        self.scheduled = config.scheduled
        self._config = config
        self._aws = aws

    @property
    def address(self) -> Address:
        """Of the variant, or of the inference component."""
        config = self._config
        component = config.inference_component
        if component is not None:
            resource, dimension, correct = f"inference-component/{component}", "inference-component:DesiredCopyCount", "inference_component"
        else:
            resource, dimension = f"endpoint/{config.endpoint}/variant/{config.variant}", "variant:DesiredInstanceCount"
            correct = "endpoint, variant"
        return Address(namespace="sagemaker", resource=resource, dimension=f"sagemaker:{dimension}", correct=f"{correct} and region")

    def running(self, now: datetime) -> Running:  # noqa: ARG002  # SageMaker stamps no reason with an instant
        """Instances or copies in service. Unknown where we may not look, or where there is no such variant."""
        try:
            return self._copies() if self._config.inference_component is not None else self._instances()
        except AwsFailed:
            return Running()

    def _instances(self) -> Running:
        answer = self._aws.call("sagemaker", "describe_endpoint", EndpointName=self._config.endpoint)
        variants = answer.get("ProductionVariants", ())
        found = next((variant for variant in variants if variant.get("VariantName") == self._config.variant), None)
        return Running() if found is None else _running(found, "InstanceCount", answer.get("FailureReason"))

    def _copies(self) -> Running:
        name = self._config.inference_component
        answer = self._aws.call("sagemaker", "describe_inference_component", InferenceComponentName=name)
        return _running(answer.get("RuntimeConfig", {}), "CopyCount", answer.get("FailureReason"))


def _running(counts: Json, what: str, failure: str | None) -> Running:
    current, desired = counts.get(f"Current{what}"), counts.get(f"Desired{what}")
    short = current is not None and desired is not None and current < desired
    return Running(current=current, desired=desired, shortage=f"SageMaker: {failure}" if failure and short else None)

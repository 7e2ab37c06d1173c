"""What Application Auto Scaling calls a resource, those that it describes together, and how many of a resource's units run."""

from dataclasses import dataclass

from connectors.aws import Together

SERVICE = "application-autoscaling"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What Application Auto Scaling calls a resource. correct: what to correct in the configuration where it is not there."""

    namespace: str
    resource: str
    dimension: str
    correct: str

    @property
    def fields(self) -> dict[str, str]:
        """The address as a request has it."""
        return {"ServiceNamespace": self.namespace, "ResourceId": self.resource, "ScalableDimension": self.dimension}

    @property
    def alike(self) -> Together:
        """Those that one request may describe with it: of the same service and dimension."""
        return Together(
            service=SERVICE,
            operation="describe_scalable_targets",
            names="ResourceIds",
            page="MaxResults",
            most=50,
            answer="ScalableTargets",
            name="ResourceId",
            fixed=(("ServiceNamespace", self.namespace), ("ScalableDimension", self.dimension)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How many units run and how many were asked for; None = it cannot be seen. shortage: what the service says of the missing ones."""

    current: int | None = None
    desired: int | None = None
    shortage: str | None = None

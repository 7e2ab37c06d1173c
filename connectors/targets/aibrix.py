"""minReplicas of an AIBrix PodAutoscaler (autoscaling.aibrix.ai/v1alpha1), under which AIBrix goes on scaling."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.kube_object import KubeObject
from connectors.targets.object_fields import CountField
from connectors.targets.object_names import NAMESPACE, object_name
from connectors.targets.owners import check_owners
from connectors.targets.scaled_workload import scale_target
from forecaster.errors import TargetRefused


class AibrixConfig(BaseModel):
    """One PodAutoscaler of AIBrix whose minReplicas is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["aibrix"] = Field(description="This kind of target: spec.minReplicas of an AIBrix PodAutoscaler.")
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(min_length=1, description="Name of the PodAutoscaler. No default.")
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`aibrix:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The PodAutoscaler: refused where a schedule of its own sets other minimums by the clock. A minimum that is not written is 1."""
        ref = ObjectRef(
            group="autoscaling.aibrix.ai", version="v1alpha1", plural="podautoscalers", namespace=self.namespace, name=self.name
        )
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "minReplicas"), absent=1),
            ceiling=CountField(path=("spec", "maxReplicas"), least=1),
            scaled=lambda value, _: _workload(value, ref),
            check=lambda value, _: _check(value, ref),
        )


def _workload(value: Json, ref: ObjectRef) -> ObjectRef | None:
    """The workload; unknown where one role of it is scaled, whose replicas are not its own."""
    return None if (value.get("spec") or {}).get("subTargetSelector") else scale_target(value, ref.namespace)


def _check(value: Json, ref: ObjectRef) -> None:
    check_owners(value, ref)
    schedules = (value.get("spec") or {}).get("schedules") or ()
    setting = next((one.get("name") for one in schedules if one.get("minReplicas") is not None), None)
    if setting is not None:
        msg = f"{ref} has the schedule {setting}, whose minReplicas replaces ours by the clock: take minReplicas out of spec.schedules"
        raise TargetRefused(msg)

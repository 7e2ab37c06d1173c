"""spec.replicas of a CapacityBuffer (autoscaling.x-k8s.io): the cluster autoscaler keeps room for so many replicas beside those that run.

| floor | replicas of the workload | buffer |                                               |
|-------|--------------------------|--------|-----------------------------------------------|
| 40    | 30                       | 10     | room for ten is there before the load         |
| 40    | 44                       | 0      | the workload's own autoscaler went beyond it  |
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Cluster, Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.kube_object import KubeObject
from connectors.targets.object_fields import CountField, count_of
from connectors.targets.object_names import NAMESPACE, object_name
from connectors.targets.owners import check_owners
from connectors.targets.scaled_workload import replicas_of, workload_ref
from forecaster.errors import TargetRefused

_REPLICAS = CountField(path=("spec", "replicas"), absent=1)
_BUFFERED = CountField(path=("status", "replicas"), absent=0)


class CapacityBufferConfig(BaseModel):
    """One CapacityBuffer whose replicas are ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["capacity-buffer"] = Field(
        description="This kind of target: spec.replicas of a CapacityBuffer of the cluster autoscaler."
    )
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(min_length=1, description="Name of the CapacityBuffer. No default.")
    deployment: str | None = Field(
        default=None,
        min_length=1,
        description="Name of the Deployment whose replicas take the room. Default: the scalableRef of the buffer, if it has one.",
    )
    version: Literal["v1", "v1beta1", "v1alpha1"] = Field(
        default="v1beta1", description="Version of the API. Default v1beta1, which releases of the cluster autoscaler from 1.34 on serve."
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`capacity-buffer:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The buffer beside the replicas of the workload: a floor is both together."""
        plural, version = "capacitybuffers", self.version
        ref = ObjectRef(group="autoscaling.x-k8s.io", version=version, plural=plural, namespace=self.namespace, name=self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "replicas"), absent=0),
            scaled=lambda value, _: self._workload(value, ref),
            counted=lambda value, cluster: _counted(value, self._workload(value, ref), cluster, str(ref)),
            beside=lambda value, cluster: count_of(cluster.read(self._workload(value, ref)), _REPLICAS, str(ref)),
            check=lambda value, _: check_owners(value, ref),
        )

    def _workload(self, value: Json, ref: ObjectRef) -> ObjectRef:
        """The workload that the room is for. Raises TargetRefused where nobody says which it is."""
        named = (value.get("spec") or {}).get("scalableRef") or {}
        if self.deployment is not None:
            named = {"apiGroup": "apps", "kind": "Deployment", "name": self.deployment}
        group = named.get("apiGroup") or "apps"
        api_version = f"{group}/{_VERSIONS.get(group, 'v1')}"
        found = workload_ref(api_version=api_version, kind=named.get("kind", ""), namespace=self.namespace, name=named.get("name", ""))
        if found is None:
            msg = f"{ref} does not say whose replicas take its room (spec.scalableRef is no workload that we know): set deployment"
            raise TargetRefused(msg)
        return found


_VERSIONS = {"argoproj.io": "v1alpha1"}


def _counted(value: Json, workload: ObjectRef, cluster: Cluster, where: str) -> tuple[int | None, int | None]:
    """Ready and pending replicas, room among them: what is buffered is ready for a replica."""
    ready, pending = replicas_of(workload, cluster)
    if ready is None or pending is None:
        return None, None
    wanted = count_of(value, CountField(path=("spec", "replicas"), absent=0), where)
    room = min(count_of(value, _BUFFERED, where), wanted)
    return ready + room, pending + wanted - room

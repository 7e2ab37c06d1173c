"""Replicas of one service of a Dynamo graph: by the scaling adapter that the operator makes for it, or in the graph itself.

They are replicas and no minimum: a Planner, HPA or ScaledObject that moves them would write its own number back, and is refused by name.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.kube_object import KubeObject, Standing
from connectors.targets.object_fields import CountField
from connectors.targets.object_names import NAMESPACE, object_name
from connectors.targets.replicas_alone import check_alone
from connectors.targets.taken import raise_only
from forecaster.errors import TargetRefused
from forecaster.reasons import Reason

_GROUP, _VERSION = "nvidia.com", "v1alpha1"
_ADAPTERS = "dynamographdeploymentscalingadapters"


class DynamoConfig(BaseModel):
    """One service of a DynamoGraphDeployment whose replicas are ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["dynamo"] = Field(description="This kind of target: replicas of one service of a DynamoGraphDeployment.")
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(
        min_length=1,
        description="Name of the DynamoGraphDeploymentScalingAdapter, or of the DynamoGraphDeployment together with `service`. No default.",
    )
    service: str | None = Field(
        default=None,
        min_length=1,
        description="Service of the graph, a key of its spec.services, that has no scaling adapter. Default: none; `name` is an adapter.",
    )
    lower: bool = Field(
        default=False,
        description="Whether replicas may go down again while Forecaster works. Default false: without an autoscaler above us a number too "
        "low serves nobody.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`dynamo:NAMESPACE/NAME`, `/SERVICE` where one is named, and `@CONTEXT` where a context is configured."""
        name = self.name if self.service is None else f"{self.name}/{self.service}"
        return object_name(self.type, self.namespace, name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The adapter's replicas, or those of the service in the graph. Lowered only where `lower` says so."""

        def least(standing: Standing) -> Reason | None:
            return None if self.lower else raise_only(standing.floor, f"no autoscaler is above {self.target}, and lower: true is not set")

        if self.service is not None:
            return self._in_graph(self.service, least)
        ref = _ref(_ADAPTERS, self.namespace, self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "replicas")),
            check=lambda value, cluster: _check_adapter(value, ref, cluster),
            counted=_adapted,
            least=least,
        )

    def _in_graph(self, service: str, least: Callable[[Standing], Reason | None]) -> KubeObject:
        ref = _ref("dynamographdeployments", self.namespace, self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "services", service, "replicas"), absent=1),
            check=lambda value, cluster: _check_graph(value, ref, service, cluster),
            counted=lambda value, _: _counted(value, service),
            least=least,
        )


def _check_adapter(value: Json, ref: ObjectRef, cluster: Cluster) -> None:
    check_alone(value, ref, cluster)
    graph = _graph_of(value, ref.namespace, cluster)
    if graph is not None:
        _check_planner(graph, ref)


def _check_graph(value: Json, ref: ObjectRef, service: str, cluster: Cluster) -> None:
    services = _services(value)
    if service not in services:
        msg = f"{ref} has no service {service} in spec.services, there is: {', '.join(services) or 'none'}; correct service"
        raise TargetRefused(msg)
    if _is_adapted(services[service], _ref(_ADAPTERS, ref.namespace, f"{ref.name}-{service.lower()}"), cluster):
        msg = (
            f"service {service} of {ref} is scaled by its DynamoGraphDeploymentScalingAdapter, which alone may write its replicas: make "
            f"{ref.name}-{service.lower()} the name of the target and leave service out"
        )
        raise TargetRefused(msg)
    _check_planner(value, ref)


def _is_adapted(service: Json, adapter: ObjectRef, cluster: Cluster) -> bool:
    """Whether the service has a scaling adapter: it asks for one, or the operator made one unasked, as earlier releases do."""
    if (service.get("scalingAdapter") or {}).get("enabled") is True:
        return True
    try:
        cluster.read(adapter)
    except KubeFailed as failed:
        if failed.status == HTTPStatus.NOT_FOUND:
            return False
        raise
    return True


def _check_planner(graph: Json, ref: ObjectRef) -> None:
    planner = next((name for name, one in _services(graph).items() if one.get("componentType") == "planner"), None)
    if planner is not None:
        msg = (
            f"the service {planner} of the graph of {ref} is a Dynamo Planner, which writes replicas by itself every few minutes: raise "
            f"min_endpoint in its own configuration, or take it out of the graph"
        )
        raise TargetRefused(msg)


def _adapted(value: Json, cluster: Cluster) -> tuple[int | None, int | None]:
    """Ready and pending replicas of the service that an adapter scales, as its graph tells them."""
    named = (value.get("spec") or {}).get("dgdRef") or {}
    graph = _graph_of(value, (value.get("metadata") or {}).get("namespace", ""), cluster)
    return (None, None) if graph is None else _counted(graph, named.get("serviceName") or named.get("componentName") or "")


def _graph_of(adapter: Json, namespace: str, cluster: Cluster) -> Json | None:
    """The graph that an adapter belongs to, None where it is not there or may not be read."""
    name = ((adapter.get("spec") or {}).get("dgdRef") or {}).get("name")
    if not name:
        return None
    try:
        return cluster.read(_ref("dynamographdeployments", namespace, name))
    except KubeFailed as failed:
        if failed.status in {HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN}:
            return None
        raise


def _counted(graph: Json, service: str) -> tuple[int | None, int | None]:
    status = (graph.get("status") or {}).get("services") or (graph.get("status") or {}).get("components") or {}
    told = status.get(service) or {}
    ready, wanted = told.get("readyReplicas"), told.get("replicas")
    if not isinstance(ready, int) or not isinstance(wanted, int):
        return None, None
    return min(ready, wanted), max(wanted - ready, 0)


def _services(graph: Json) -> dict[str, Json]:
    return (graph.get("spec") or {}).get("services") or {}


def _ref(plural: str, namespace: str, name: str) -> ObjectRef:
    return ObjectRef(group=_GROUP, version=_VERSION, plural=plural, namespace=namespace, name=name)

"""Which objects carry a label: what templates make workloads of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.kube.errors import target_error
from forecaster.errors import TargetRefused


class HpaSelector(BaseModel):
    """HorizontalPodAutoscalers (autoscaling/v2) that carry a label."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-hpa"] = Field(description="This kind of object: an autoscaling/v2 HPA.")
    label_selector: str = Field(
        min_length=1,
        description="Which of them, in kubectl's words: `team=chat`, `tier in (gold,silver)`, `forecaster`. No default: all HPAs of a "
        "cluster are never meant.",
    )
    namespaces: tuple[str, ...] = Field(
        default=(),
        description="Namespaces to look into. Default: all, for which our role must be a cluster role; with names, one in each will do.",
    )
    cluster: KubeConnection = Field(
        default_factory=KubeConnection,
        description="How its API server is reached, also for targets of the workload that name no cluster. Default: what kubectl would "
        "use, else the pod's own service account.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One object that a selector takes."""

    namespace: str
    name: str
    labels: Mapping[str, str]


def discover(selector: HpaSelector, cluster: Cluster) -> tuple[Found, ...]:
    """The objects that the selector takes, by namespace and name. Raises TargetForbidden, TargetRefused or TargetUnavailable."""
    found = [
        one for namespace in dict.fromkeys(selector.namespaces or ("",)) for one in _found(namespace, selector.label_selector, cluster)
    ]
    return tuple(sorted(found, key=lambda one: (one.namespace, one.name)))


def _found(namespace: str, label_selector: str, cluster: Cluster) -> list[Found]:
    kind = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=namespace, name="")
    try:
        parts = [_Hpa.model_validate(value).metadata for value in cluster.find(kind, label_selector)]
    except KubeFailed as failed:
        raise target_error(failed) from failed
    except ValidationError as error:
        msg = f"{kind} were listed without usable metadata: is it a Kubernetes API server?"
        raise TargetRefused(msg) from error
    return [Found(namespace=part.namespace, name=part.name, labels=part.labels) for part in parts]


class _Metadata(BaseModel):
    namespace: str
    name: str
    labels: dict[str, str] = Field(default_factory=dict)


class _Hpa(BaseModel):
    """The part of a HPA that is read here; the rest is ignored."""

    metadata: _Metadata

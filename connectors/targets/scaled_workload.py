"""The workload behind a target: how many of its replicas are ready, and how they came up. A floor needs neither."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.kube.starts import Nodes, selector_of, starts_of
from forecaster.starts import Start

_PLURALS = {
    ("apps", "Deployment"): "deployments",
    ("apps", "StatefulSet"): "statefulsets",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "leaderworkersets",
    ("argoproj.io", "Rollout"): "rollouts",
}
"""The scalable kinds that count spec.replicas and status.readyReplicas, and their plurals."""


def workload_ref(*, api_version: str, kind: str, namespace: str, name: str) -> ObjectRef | None:
    """The workload that a scaleTargetRef names, None for a kind that we do not know."""
    group, _, version = api_version.partition("/")
    plural = _PLURALS.get((group, kind))
    return None if plural is None else ObjectRef(group=group, version=version, plural=plural, namespace=namespace, name=name)


def scale_target(value: Json, namespace: str) -> ObjectRef | None:
    """The workload that the spec.scaleTargetRef of an autoscaler names, a Deployment where it leaves that out; None = of a kind unknown."""
    named = (value.get("spec") or {}).get("scaleTargetRef") or {}
    if not named.get("name"):
        return None
    api_version, kind = named.get("apiVersion") or "apps/v1", named.get("kind") or "Deployment"
    return workload_ref(api_version=api_version, kind=kind, namespace=namespace, name=named["name"])


def deployment(namespace: str, name: str) -> ObjectRef:
    """The Deployment of that name."""
    return ObjectRef(group="apps", version="v1", plural="deployments", namespace=namespace, name=name)


def replicas_of(ref: ObjectRef | None, cluster: Cluster) -> tuple[int | None, int | None]:
    """Ready and pending replicas of the workload, both None where we may not or cannot see it."""
    if ref is None:
        return None, None
    try:
        workload = _Workload.model_validate(cluster.read(ref))
    except (KubeFailed, ValidationError):
        return None, None
    # a rolling update keeps surge pods ready beside those that they replace: they are no capacity to count on
    ready = min(workload.status.ready_replicas, workload.spec.replicas)
    return ready, workload.spec.replicas - ready


def pod_starts(ref: ObjectRef | None, cluster: Cluster, *, target: str, now: datetime) -> tuple[Start, ...]:
    """How the pods of the workload came up; none where it is unknown or has no selector. Raises as `ScaleTarget.observe` does."""
    try:
        selector = selector_of(cluster.read(ref)) if ref is not None else None
        pods = cluster.pods(ref.namespace, selector) if ref is not None and selector is not None else ()
    except KubeFailed as failed:
        raise target_error(failed) from failed
    return starts_of(pods, target, Nodes(cluster).created, now)


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Spec(_Part):
    replicas: int = Field(default=1, ge=0)


class _Status(_Part):
    ready_replicas: int = Field(default=0, ge=0)


class _Workload(_Part):
    spec: _Spec
    status: _Status = _Status()

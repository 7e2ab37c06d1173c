"""minReplicas of a HorizontalPodAutoscaler (autoscaling/v2): the floor under an autoscaler that goes on working above it."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import FIELD_MANAGER, Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.kube.starts import Nodes, selector_of, starts_of
from connectors.targets.kube_errors import target_error
from connectors.targets.marks import OURS, Marks, read_marks, written_marks
from connectors.targets.taken import below_ceiling, floor_taken, is_ours, original_taken
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetRefused
from forecaster.reasons import Code, Reason
from forecaster.starts import Start

UNKNOWN_WRITER = "an unknown writer"

_KEDA_NAME = "scaledobject.keda.sh/name"
_WORKLOADS = {
    ("apps", "Deployment"): "deployments",
    ("apps", "StatefulSet"): "statefulsets",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "leaderworkersets",
    ("argoproj.io", "Rollout"): "rollouts",
}
"""The scalable kinds that count spec.replicas and status.readyReplicas, and their plurals."""


class KubernetesHpaConfig(BaseModel):
    """One HPA whose minReplicas is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-hpa"] = Field(description="This kind of target: spec.minReplicas of an autoscaling/v2 HPA.")
    namespace: str = Field(min_length=1, description="Namespace of the HPA. No default: the current namespace of a kubeconfig changes.")
    name: str = Field(min_length=1, description="Name of the HPA, as `kubectl get hpa` prints it. No default.")
    cluster: KubeConnection = Field(
        default_factory=KubeConnection,
        description="How its API server is reached. Default: what kubectl would use, else the pod's own service account.",
    )

    @property
    def target(self) -> str:
        """`kubernetes-hpa:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        context = self.cluster.context
        return f"{self.type}:{self.namespace}/{self.name}" + (f"@{context}" if context is not None else "")


class KubernetesHpaTarget:
    """A ScaleTarget over one HPA. Every write is one merge patch that carries the resourceVersion seen.

    `ready` and `pending` come from the workload that the HPA scales and are None where that cannot be read.
    A HPA that KEDA owns is refused at `observe`: KEDA would write its own minimum back within seconds.
    """

    def __init__(self, config: KubernetesHpaConfig, cluster: Cluster) -> None:
        self.name = config.target
        self._cluster = cluster
        self._ref = ObjectRef(
            group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=config.namespace, name=config.name
        )

    def observe(self, now: datetime) -> Seen:
        """The HPA and the workload behind it, as they stand."""
        hpa = self._read()
        _check_owner(hpa, self._ref)
        marks = read_marks(hpa.metadata.annotations, where=str(self._ref), now=now)
        ready, pending = self._replicas(hpa.spec.scale_target_ref)
        return Seen(
            target=self.name,
            at=now,
            floor=hpa.spec.min_replicas,
            ceiling=hpa.spec.max_replicas,
            original=hpa.spec.min_replicas if marks.original is None else marks.original,
            ready=ready,
            pending=pending,
            version=hpa.metadata.resource_version,
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=_second_writer(hpa, marks),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: at most maxReplicas, and at least 1 unless the HPA was found at 0."""
        whole, reasons = below_ceiling(decision.floor, seen, ceiling="maxReplicas")
        if whole == 0 and seen.original != 0:
            whole, reasons = 1, (*reasons, _zero_not_taken(seen))
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="maxReplicas")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes minReplicas and our annotations in one patch."""
        applied = self.would_set(decision, seen)
        if applied.written:
            floors = (applied.after,) if is_ours(applied, seen) else ()
            marks = written_marks(original=seen.original, floors=floors, valid_until=decision.valid_until)
            self._patch(applied.after, marks, seen)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original minReplicas and removes our annotations in one patch."""
        applied = self.would_release(seen)
        if applied.written:
            self._patch(applied.after, dict.fromkeys(OURS), seen)
        return applied

    def starts(self, now: datetime) -> tuple[Start, ...]:
        """The pods of the workload that the HPA scales; none where it is of a kind, or has a selector, that we do not know."""
        ref = self._scaled(self._read().spec.scale_target_ref)
        try:
            selector = selector_of(self._cluster.read(ref)) if ref is not None else None
            pods = self._cluster.pods(self._ref.namespace, selector) if selector is not None else ()
        except KubeFailed as failed:
            raise target_error(failed) from failed
        return starts_of(pods, self.name, Nodes(self._cluster).created, now)

    def _scaled(self, scaled: "_ScaleTargetRef") -> ObjectRef | None:
        """The workload that the HPA scales, None for a kind that we do not know."""
        group, _, version = scaled.api_version.partition("/")
        plural = _WORKLOADS.get((group, scaled.kind))
        if plural is None:
            return None
        return ObjectRef(group=group, version=version, plural=plural, namespace=self._ref.namespace, name=scaled.name)

    def _read(self) -> "_Hpa":
        try:
            return _Hpa.model_validate(self._cluster.read(self._ref))
        except KubeFailed as failed:
            raise target_error(failed) from failed
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self._ref} has no usable {place}: is it an autoscaling/v2 HPA?"
            raise TargetRefused(msg) from error

    def _patch(self, floor: int, marks: dict[str, str] | dict[str, None], seen: Seen) -> None:
        patch: Json = {"metadata": {"resourceVersion": seen.version, "annotations": marks}, "spec": {"minReplicas": floor}}
        try:
            self._cluster.merge(self._ref, patch)
        except KubeFailed as failed:
            raise target_error(failed) from failed

    def _replicas(self, scaled: "_ScaleTargetRef") -> tuple[int | None, int | None]:
        """Ready and pending replicas of the workload, both None where we may not or cannot see it: a floor needs neither."""
        ref = self._scaled(scaled)
        if ref is None:
            return None, None
        try:
            workload = _Workload.model_validate(self._cluster.read(ref))
        except (KubeFailed, ValidationError):
            return None, None
        # a rolling update keeps surge pods ready beside those that they replace: they are no capacity to count on
        ready = min(workload.status.ready_replicas, workload.spec.replicas)
        return ready, workload.spec.replicas - ready


def _check_owner(hpa: "_Hpa", ref: ObjectRef) -> None:
    owner = next((owner.name for owner in hpa.metadata.owner_references if owner.kind == "ScaledObject"), None)
    owner = owner or hpa.metadata.labels.get(_KEDA_NAME) or hpa.metadata.annotations.get(_KEDA_NAME)
    if owner is not None:
        msg = (
            f"{ref} belongs to the KEDA ScaledObject {ref.namespace}/{owner}, which would write its own minimum back: "
            f"set minReplicaCount of the ScaledObject, or give the HPA to us by deleting the ScaledObject"
        )
        raise TargetRefused(msg)


def _second_writer(hpa: "_Hpa", marks: Marks) -> str | None:
    """Who holds minReplicas, where it is not what we last wrote. The API server keeps that book in metadata.managedFields."""
    if not marks.floors or hpa.spec.min_replicas in marks.floors:
        return None
    others = [
        entry
        for entry in hpa.metadata.managed_fields
        if entry.manager != FIELD_MANAGER and "f:minReplicas" in entry.fields_v1.get("f:spec", {})
    ]
    return max(others, key=lambda entry: entry.time).manager if others else UNKNOWN_WRITER


def _zero_not_taken(seen: Seen) -> Reason:
    detail = f"a HPA takes no minReplicas of 0 without the feature gate HPAScaleToZero: {seen.target} gets 1"
    return Reason(code=Code.ZERO_NOT_TAKEN, detail=detail, before=0, after=1)


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Owner(_Part):
    kind: str
    name: str


class _ManagedField(_Part):
    manager: str = UNKNOWN_WRITER
    time: str = ""
    fields_v1: dict[str, Any] = Field(default_factory=dict, alias="fieldsV1")


class _Metadata(_Part):
    resource_version: str
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    owner_references: tuple[_Owner, ...] = ()
    managed_fields: tuple[_ManagedField, ...] = ()


class _ScaleTargetRef(_Part):
    api_version: str = ""
    kind: str
    name: str


class _HpaSpec(_Part):
    min_replicas: int = Field(default=1, ge=0)  # absent means 1
    max_replicas: int = Field(ge=1)
    scale_target_ref: _ScaleTargetRef


class _Hpa(_Part):
    metadata: _Metadata
    spec: _HpaSpec


class _WorkloadSpec(_Part):
    replicas: int = Field(default=1, ge=0)


class _WorkloadStatus(_Part):
    ready_replicas: int = Field(default=0, ge=0)


class _Workload(_Part):
    spec: _WorkloadSpec
    status: _WorkloadStatus = _WorkloadStatus()

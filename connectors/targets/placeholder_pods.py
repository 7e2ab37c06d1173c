"""Low-priority pause pods that hold GPU nodes open: as many as the floor asks for beyond the replicas that are there or on their way.

| floor | replicas of the workload | placeholders |                                                                     |
|-------|--------------------------|--------------|---------------------------------------------------------------------|
| 40    | 30                       | 10           | ten nodes are warm before the load                                  |
| 40    | 36                       | 4            | six replicas came and took the places of six placeholders           |
| 40    | 44                       | 0            | the workload's own autoscaler went beyond the floor                 |

The replicas of the workload are their autoscaler's: we read them and write the placeholders alone.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.kube.errors import target_error
from connectors.kube.rehearsal import check_may
from connectors.kube.starts import selector_of
from connectors.targets.marks import OURS, written_marks
from connectors.targets.reactive import Scaled, scaler_of
from connectors.targets.scale_subresource import ScaleSubresource, Standing, ref_of
from connectors.targets.taken import floor_taken, is_ours, original_taken
from connectors.targets.writers import Writer
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetError, TargetRefused

_ENDED = frozenset({"Failed", "Succeeded"})


class HeldFor(BaseModel):
    """The workload that the nodes are held for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["Deployment", "StatefulSet", "LeaderWorkerSet", "Rollout"] = Field(description="Kind of the workload. No default.")
    name: str = Field(min_length=1, description="Name of the workload, as `kubectl get` prints it. No default.")
    namespace: str | None = Field(
        default=None, min_length=1, description="Namespace of the workload. Default: that of the placeholders, where they are best kept."
    )


class PlaceholderPodsConfig(BaseModel):
    """One Deployment of pause pods, applied from deploy/placeholder, whose replicas are ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["placeholder-pods"] = Field(description="This kind of target: pause pods that hold nodes open until replicas come.")
    namespace: str = Field(min_length=1, description="Namespace of the placeholders. No default: the current one of a kubeconfig changes.")
    name: str = Field(min_length=1, description="Name of the Deployment of placeholders. No default.")
    held_for: HeldFor = Field(alias="for", description="The workload whose replicas take the places of the placeholders.")
    pods_per_replica: int = Field(
        default=1,
        ge=1,
        description="Placeholders that hold the place of one replica. Default 1; the size of the group for a LeaderWorkerSet whose pods "
        "stand on a node each.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @model_validator(mode="after")
    def _two_objects(self) -> Self:
        if self.workload == self.ref:
            msg = f"for must name the workload that serves, got the placeholders {self.namespace}/{self.name} themselves"
            raise ValueError(msg)
        return self

    @property
    def ref(self) -> ObjectRef:
        """The placeholders in the API."""
        return ref_of("Deployment", self.namespace, self.name)

    @property
    def workload(self) -> ObjectRef:
        """The workload in the API."""
        return ref_of(self.held_for.kind, self.held_for.namespace or self.namespace, self.held_for.name)

    @property
    def target(self) -> str:
        """`placeholder-pods:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        context = self.cluster.context
        return f"{self.type}:{self.namespace}/{self.name}" + (f"@{context}" if context is not None else "")


class PlaceholderPodsTarget:
    """A ScaleTarget over the nodes that placeholders and replicas hold together, in replicas of the workload.

    `original` counts placeholders alone: what the workload's own autoscaler does is never a floor of ours. Ready is a node that a
    placeholder runs on or that a replica has, also while that loads its model; None where we may not list pods. A release puts the
    placeholders back to what they were, at once: they serve nothing.
    """

    def __init__(self, config: PlaceholderPodsConfig, cluster: Cluster) -> None:
        self.name = config.target
        self._config = config
        self._cluster = cluster
        self._object = ScaleSubresource(config.ref, cluster)

    def observe(self, now: datetime) -> Seen:
        """Placeholders and replicas as they stand. Raises TargetRefused where the placeholders would not give way."""
        standing, real = self._object.read(now), self._real()
        self._check(standing)
        per, writer = self._config.pods_per_replica, standing.writer
        held, placed = standing.replicas // per, self._placed(real)
        ready = None if placed is None else (standing.ready or 0) // per + placed
        return Seen(
            target=self.name,
            at=now,
            floor=held + real.replicas,
            ceiling=None,
            original=standing.original // per,
            ready=ready,
            pending=None if ready is None else held + real.replicas - ready,
            version=json.dumps([standing.version, real.replicas]),
            paused=standing.marks.paused,
            valid_until=standing.marks.valid_until,
            writer=None if writer is None else writer.name,
            remedy=None if writer is None else writer.remedy,
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: the floor, or the replicas alone where these are more."""
        return floor_taken(decision, seen, whole=max(decision.floor, _real_in(seen)), reasons=())

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do: the original placeholders beside the replicas of today."""
        return original_taken(replace(seen, original=seen.original + _real_in(seen)), ceiling="replicas")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our annotations, then the placeholders. Cut short in between, the next run finds the original in the annotations."""
        applied = self.would_set(decision, seen)
        if applied.written:
            standing = self._unchanged(seen)
            pods, marks = self._asked_for(standing, applied, decision, seen)
            self._object.write(standing, replicas=pods, marks=marks)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original placeholders, then removes our annotations. Cut short in between, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            standing = self._unchanged(seen)
            self._object.put_back(standing, replicas=standing.original, keys=OURS)
        return applied

    def try_floor(self, decision: Decision, seen: Seen) -> None:
        """As `access.Tried`."""
        applied = self.would_set(decision, seen)
        if applied.written:
            standing = self._unchanged(seen)
            pods, marks = self._asked_for(standing, applied, decision, seen)
            self._object.try_write(standing, replicas=pods, marks=marks)

    def try_release(self, seen: Seen) -> None:
        """As `access.Tried`."""
        applied = self.would_release(seen)
        if applied.written:
            standing = self._unchanged(seen)
            self._object.try_write(standing, replicas=standing.original, marks=dict.fromkeys(OURS))

    def excess(self) -> tuple[str, ...]:
        """As `access.Tried`."""
        return self._object.excess()

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        return self._object.owner()

    def check_write(self) -> None:
        """As `access.Checkable`: also our right to see the workload."""
        check_may("get", self._config.workload, self._cluster)
        self._object.check_write()

    def missing_for_starts(self) -> tuple[TargetError, ...]:
        """As `access.Checkable`: none, since how pause pods come up says nothing of a model."""
        return ()

    def _asked_for(self, standing: Standing, applied: Applied, decision: Decision, seen: Seen) -> tuple[int, dict[str, str]]:
        """The placeholders and the marks of a floor."""
        pods = self._placeholders(applied.after, seen)
        floors = (standing.replicas, pods) if is_ours(applied, seen) else ()
        return pods, written_marks(original=standing.original, floors=floors, valid_until=decision.valid_until)

    def _placeholders(self, floor: int, seen: Seen) -> int:
        return max(floor - _real_in(seen), 0) * self._config.pods_per_replica

    def _unchanged(self, seen: Seen) -> Standing:
        """The placeholders as they were observed, beside as many replicas. Raises TargetConflict otherwise."""
        version, replicas = json.loads(seen.version)
        standing = self._object.unchanged(version, seen.at)
        if self._real().replicas != replicas:
            msg = f"replicas of {self._config.workload} changed since {self.name} was observed: observe it again"
            raise TargetConflict(msg)
        return standing

    def _real(self) -> "_Workload":
        """The workload; the replicas that it is asked for count, those on their way among them."""
        try:
            body = self._cluster.read(self._config.workload)
            return _Workload(replicas=_Counted.model_validate(body).spec.replicas, selector=selector_of(body))
        except KubeFailed as failed:
            raise target_error(failed) from failed
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self._config.workload} has no usable {place}: is it a {self._config.held_for.kind}?"
            raise TargetRefused(msg) from error

    def _placed(self, real: "_Workload") -> int | None:
        """Replicas that have a node, None where nobody can tell. Surge pods of a rolling update are none."""
        if real.selector is None:
            return None
        try:
            pods = self._cluster.pods(self._config.workload.namespace, real.selector)
        except KubeFailed:
            return None
        return min(sum(_has_node(pod) for pod in pods), real.replicas)

    def _check(self, standing: Standing) -> None:
        scaled = Scaled(group="apps", kind="Deployment", namespace=self._config.namespace, name=self._config.name)
        try:
            scaler = scaler_of(scaled, self._cluster)
        except KubeFailed as failed:
            raise target_error(failed) from failed
        if scaler is not None:
            msg = f"the {scaler} scales the placeholders {scaled}: delete it, it has no load to go by"
            raise TargetRefused(msg)
        self._check_priority(standing.body)

    def _check_priority(self, body: Json) -> None:
        """Pods that do not give way would keep replicas off their own nodes."""
        spec = ((body.get("spec") or {}).get("template") or {}).get("spec") or {}
        name, fault = spec.get("priorityClassName"), None
        if not name:
            fault = "its pod template names no priorityClassName"
        elif (value := self._priority(name)) is not None and value >= 0:
            fault = f"its PriorityClass {name} has the value {value}"
        if fault is not None:
            msg = f"{self._object.ref} does not give way to replicas, since {fault}: give it a PriorityClass of a negative value"
            raise TargetRefused(msg)

    def _priority(self, name: str) -> int | None:
        """The value of a PriorityClass, None where it is not there or may not be read."""
        ref = ObjectRef(group="scheduling.k8s.io", version="v1", plural="priorityclasses", namespace="", name=name)
        try:
            value = self._cluster.read(ref).get("value")
        except KubeFailed:
            return None
        return value if isinstance(value, int) else None


def _real_in(seen: Seen) -> int:
    """The replicas of the workload when it was observed."""
    replicas: int = json.loads(seen.version)[1]
    return replicas


def _has_node(pod: Json) -> bool:
    """Whether a pod that is not on its way out runs on a node, or takes the place of a placeholder there that is."""
    status = pod.get("status") or {}
    gone = status.get("phase") in _ENDED or "deletionTimestamp" in (pod.get("metadata") or {})
    return not gone and bool((pod.get("spec") or {}).get("nodeName") or status.get("nominatedNodeName"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workload:
    """What we read of the workload. selector: of its pods, None = it names none."""

    replicas: int
    selector: str | None


class _Spec(BaseModel):
    replicas: int = Field(default=1, ge=0)


class _Counted(BaseModel):
    """The part of the workload that counts; the rest is ignored."""

    spec: _Spec

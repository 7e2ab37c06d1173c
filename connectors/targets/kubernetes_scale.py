"""Replicas of an object that nothing else scales, by its scale subresource: Deployment, StatefulSet, LeaderWorkerSet, Rollout, any."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.kube.errors import target_error
from connectors.kube.starts import Nodes, starts_of
from connectors.targets.access import missing_for_starts
from connectors.targets.lowering import Leaving, disruptions_allowed, draining_pods, idle_pods, lowest
from connectors.targets.marks import OURS, written_marks
from connectors.targets.reactive import Scaled, scaler_of
from connectors.targets.scale_subresource import KINDS, ScaleSubresource, Standing, ref_of
from connectors.targets.taken import above_least, floor_taken, is_ours, original_taken, raise_only
from connectors.targets.writers import Writer
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetError, TargetRefused
from forecaster.reasons import Code, Reason
from forecaster.starts import Start
from forecaster.units import iso

LOWERED_AT = "forecaster/lowered-at"
"""The mark of when we last told replicas to go."""

_IDLE_GO_FIRST = frozenset({"Deployment", "Rollout"})  # by their ReplicaSets; the others remove by ordinal


class KubernetesScaleConfig(BaseModel):
    """One object whose replicas are ours to move, since no autoscaler moves them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-scale"] = Field(description="This kind of target: replicas of an object with a scale subresource.")
    kind: str = Field(
        min_length=1,
        description="Kind of the object: Deployment, StatefulSet, LeaderWorkerSet, Rollout, or any other with a scale subresource together "
        "with its api_version and plural. No default.",
    )
    namespace: str = Field(min_length=1, description="Namespace of the object. No default: the current one of a kubeconfig changes.")
    name: str = Field(min_length=1, description="Name of the object, as `kubectl get` prints it. No default.")
    api_version: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9.-]+/[a-z0-9]+$",
        description="API group and version of the kind, such as apps/v1. Default: known for the four kinds named above.",
    )
    plural: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]+$",
        description="Plural of the kind, as `kubectl api-resources` prints it. Default: known for the four kinds named above.",
    )
    lower: bool = Field(
        default=False,
        description="Whether replicas may go down again while Forecaster works. Default false: without an autoscaler above us a number "
        "too low serves nobody, and a number too high only costs.",
    )
    drain_s: float = Field(
        default=300.0,
        ge=0,
        description="Seconds between two lowerings: replicas that were told to go finish what they serve. Default 300, since long answers "
        "stream for minutes. Used with lower: true.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @model_validator(mode="after")
    def _known_or_told(self) -> Self:
        if self.kind not in KINDS and (self.api_version is None or self.plural is None):
            msg = f"kind {self.kind} needs its api_version and plural; without them we know {', '.join(KINDS)}"
            raise ValueError(msg)
        return self

    @property
    def ref(self) -> ObjectRef:
        """The object in the API."""
        return ref_of(self.kind, self.namespace, self.name, api_version=self.api_version, plural=self.plural)

    @property
    def target(self) -> str:
        """`kubernetes-scale:NAMESPACE/KIND/NAME`, and `@CONTEXT` where a context is configured."""
        context = self.cluster.context
        return f"{self.type}:{self.namespace}/{self.kind}/{self.name}" + (f"@{context}" if context is not None else "")


class KubernetesScaleTarget:
    """A ScaleTarget over replicas themselves: no loop goes on above this floor, so it is refused where there is one.

    Raises are written at once. Without `lower` nothing is lowered but by a release; with it, as far as `lowering` allows at a time. A
    release puts the original back at once, as whoever asks for it expects.
    """

    def __init__(self, config: KubernetesScaleConfig, cluster: Cluster) -> None:
        self.name = config.target
        self._config = config
        self._cluster = cluster
        self._object = ScaleSubresource(config.ref, cluster)

    def observe(self, now: datetime) -> Seen:
        """The object as it stands. Raises TargetRefused where an autoscaler names it."""
        standing = self._object.read(now)
        self._check_alone()
        ready = 0 if standing.ready is None and self._config.kind in KINDS else standing.ready
        return Seen(
            target=self.name,
            at=now,
            floor=standing.replicas,
            ceiling=None,
            original=standing.original,
            ready=ready,
            pending=None if ready is None else standing.replicas - ready,
            version=standing.version,
            paused=standing.marks.paused,
            valid_until=standing.marks.valid_until,
            writer=None if standing.writer is None else standing.writer.name,
            remedy=None if standing.writer is None else standing.writer.remedy,
            least=self._least(standing, now),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: never fewer than may go now."""
        whole, reasons = above_least(decision.floor, seen)
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling="replicas")

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our annotations, then the replicas. Cut short in between, the next run finds the original in the annotations."""
        applied = self.would_set(decision, seen)
        if applied.written:
            standing = self._object.unchanged(seen.version, seen.at)
            self._object.write(standing, replicas=applied.after, marks=_marks(applied, decision, seen))
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original replicas, then removes our annotations. Cut short in between, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            standing = self._object.unchanged(seen.version, seen.at)
            self._object.put_back(standing, replicas=applied.after, keys=(*OURS, LOWERED_AT))
        return applied

    def try_floor(self, decision: Decision, seen: Seen) -> None:
        """As `access.Tried`."""
        applied = self.would_set(decision, seen)
        if applied.written:
            standing = self._object.unchanged(seen.version, seen.at)
            self._object.try_write(standing, replicas=applied.after, marks=_marks(applied, decision, seen))

    def try_release(self, seen: Seen) -> None:
        """As `access.Tried`."""
        applied = self.would_release(seen)
        if applied.written:
            standing = self._object.unchanged(seen.version, seen.at)
            self._object.try_write(standing, replicas=applied.after, marks=dict.fromkeys((*OURS, LOWERED_AT)))

    def excess(self) -> tuple[str, ...]:
        """As `access.Tried`."""
        return self._object.excess()

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        return self._object.owner()

    def check_write(self) -> None:
        """As `access.Checkable`."""
        self._object.check_write()

    def missing_for_starts(self) -> tuple[TargetError, ...]:
        """As `access.Checkable`."""
        return missing_for_starts(self._config.namespace, self._cluster)

    def starts(self, now: datetime) -> tuple[Start, ...]:
        """The pods of the object; none where it does not say which these are."""
        selector = self._object.read(now).selector
        pods = self._object.pods(selector) if selector is not None else ()
        return starts_of(pods, self.name, Nodes(self._cluster).created, now)

    def _check_alone(self) -> None:
        scaled = Scaled(group=self._object.ref.group, kind=self._config.kind, namespace=self._config.namespace, name=self._config.name)
        try:
            scaler = scaler_of(scaled, self._cluster)
        except KubeFailed as failed:
            raise target_error(failed) from failed
        if scaler is not None:
            raise TargetRefused(scaler.refusal(scaled))

    def _least(self, standing: Standing, now: datetime) -> Reason | None:
        """The fewest replicas that may be asked for, None = any number. Where nobody can tell which may go, as many as now."""
        if not self._config.lower:
            return raise_only(standing.replicas, f"no autoscaler is above {self.name}, and lower: true is not set")
        try:
            least, barrier = lowest(self._leaving(standing, now), drain_s=self._config.drain_s, now=now)
        except TargetError as unknown:
            least, barrier = standing.replicas, f"nobody can tell which of its pods may go ({unknown})"
        if barrier is None:
            return None
        return Reason(code=Code.LOWER_LIMITED, detail=f"{self.name} goes down to {least} and no further: {barrier}", after=least)

    def _leaving(self, standing: Standing, now: datetime) -> Leaving:
        if standing.selector is None:
            msg = f"{self._object.ref} names no selector of its pods"
            raise TargetRefused(msg)
        pods = self._object.pods(standing.selector)
        budgets = self._object.listed(
            ObjectRef(group="policy", version="v1", plural="poddisruptionbudgets", namespace=self._config.namespace, name="")
        )
        allowed = disruptions_allowed(budgets, pods)
        return Leaving(
            replicas=standing.replicas,
            idle=min(idle_pods(pods), standing.replicas) if self._config.kind in _IDLE_GO_FIRST else 0,
            draining=draining_pods(pods, now),
            allowed=None if allowed is None else allowed // _pods_per_replica(standing),
            last=_instant(standing.texts.get(LOWERED_AT)),
        )


def _marks(applied: Applied, decision: Decision, seen: Seen) -> dict[str, str]:
    """The marks of a floor."""
    floors = (applied.before, applied.after) if is_ours(applied, seen) else ()
    marks = written_marks(original=seen.original, floors=floors, valid_until=decision.valid_until)
    return marks | ({LOWERED_AT: iso(decision.at)} if applied.after < applied.before else {})


def _pods_per_replica(standing: Standing) -> int:
    """Pods that go with one replica: the group of a LeaderWorkerSet, else one."""
    size = ((standing.body.get("spec") or {}).get("leaderWorkerTemplate") or {}).get("size")
    return size if isinstance(size, int) and size > 0 else 1


def _instant(text: str | None) -> datetime | None:
    """When we last lowered; a text that cannot be read tells of none, and the pods themselves still count."""
    try:
        instant = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else None

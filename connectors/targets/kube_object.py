"""The machine behind every target that is one number field of one Kubernetes object. A kind of target is a KubeObject.

observe      read the object; the field, our marks in its annotations, who else writes the field
set_floor    one merge patch that carries the resourceVersion seen: the field and our marks, nothing else
release      the same with the original, and our marks removed
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.targets.access import check_may, missing_for_starts, rehearse
from connectors.targets.kube_errors import target_error
from connectors.targets.marks import OURS, Marks, pause_of, read_marks, written_marks
from connectors.targets.object_fields import CountField, count_of, optional_count, patch_of
from connectors.targets.scaled_workload import pod_starts, replicas_of
from connectors.targets.taken import floor_taken, is_ours, original_taken, within_bounds
from connectors.targets.writers import Writer, second_writer
from forecaster.decision import Applied, Decision, Paused, Seen
from forecaster.errors import TargetError, TargetRefused
from forecaster.reasons import Reason
from forecaster.starts import Start

NAMESPACE = "Namespace of the object. No default: the current namespace of a kubeconfig changes."
CLUSTER = "How its API server is reached. Default: what kubectl would use, else the pod's own service account."


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a check or a least may rest on: the object as it was read, its floor now and when first found, counted as the object does."""

    value: Json
    floor: int
    original: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeObject:
    """One number field of one object.

    ceiling: the field beside it, None = there is none. replicas_per_unit: replicas that one of the field's count stands for. scaled: the
    workload whose pods the floor is about, None = it cannot be told. check: raises TargetRefused where the object is not ours to write.
    least: the smallest count that the object takes now (`after`) and why, None = 0. paused: who holds the object beside our own
    annotation. carrier: the object that really carries the floor, found from this one; None = this one. A write then finds it again.
    """

    target: str
    ref: ObjectRef
    floor: CountField
    ceiling: CountField | None = None
    replicas_per_unit: int = 1
    scaled: Callable[[Json, Cluster], ObjectRef | None] = lambda _value, _cluster: None
    check: Callable[[Json, Cluster], None] = lambda _value, _cluster: None
    least: Callable[[Standing], Reason | None] = lambda _standing: None
    paused: Callable[[Json], str | None] = lambda _value: None
    carrier: Callable[[Json, Cluster], "KubeObject | None"] | None = None


class KubeObjectTarget:
    """A ScaleTarget over one KubeObject. `ready` and `pending` come from the workload behind it, None where that cannot be read."""

    def __init__(self, spec: KubeObject, cluster: Cluster) -> None:
        self.name = spec.target
        self._spec = spec
        self._cluster = cluster

    def observe(self, now: datetime) -> Seen:
        """The object and the workload behind it, as they stand."""
        found = self._find()
        spec, unit, where = found.spec, found.spec.replicas_per_unit, str(found.spec.ref)
        spec.check(found.value, self._cluster)
        floor = count_of(found.value, spec.floor, where)
        ceiling = None if spec.ceiling is None else optional_count(found.value, spec.ceiling, where)
        marks = read_marks(found.metadata.annotations, where=where, now=now)
        original = floor if marks.original is None else marks.original
        writer = _writer(found, floor, marks)
        ready, pending = replicas_of(spec.scaled(found.value, self._cluster), self._cluster)
        by = spec.paused(found.value)
        paused = marks.paused or found.paused
        return Seen(
            target=self.name,
            at=now,
            floor=floor * unit,
            ceiling=None if ceiling is None else ceiling * unit,
            original=original * unit,
            ready=None if ready is None else ready * unit,
            pending=None if pending is None else pending * unit,
            version=found.metadata.resource_version,
            paused=paused or (Paused.HOLD if by is not None else None),
            paused_by=by if paused is None else None,
            valid_until=marks.valid_until,
            writer=None if writer is None else writer.name,
            remedy=None if writer is None else writer.remedy,
            least=_in_replicas(spec.least(Standing(value=found.value, floor=floor, original=original)), unit),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole units, at least what the object takes, at most its ceiling."""
        unit = self._spec.replicas_per_unit
        whole, reasons = within_bounds(-(-decision.floor // unit) * unit, seen, ceiling=self._ceiling)
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling=self._ceiling)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes the field and our annotations in one patch."""
        applied, unit = self.would_set(decision, seen), self._spec.replicas_per_unit
        if applied.written:
            count = applied.after // unit
            floors = (count,) if is_ours(applied, seen) else ()
            marks = written_marks(original=seen.original // unit, floors=floors, valid_until=decision.valid_until)
            self._patch(count, marks, seen)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original and removes our annotations in one patch."""
        applied = self.would_release(seen)
        if applied.written:
            self._patch(applied.after // self._spec.replicas_per_unit, dict.fromkeys(OURS), seen)
        return applied

    def starts(self, now: datetime) -> tuple[Start, ...]:
        """The pods of the workload behind the object; none where it is of a kind, or has a selector, that we do not know."""
        found = self._find()
        return pod_starts(found.spec.scaled(found.value, self._cluster), self._cluster, target=self.name, now=now)

    def check_write(self) -> None:
        """As `access.Checkable`: our rights, then a floor beside the present one in a rehearsal on the API server itself."""
        found = self._find()
        check_may("patch", found.spec.ref, self._cluster)
        floor = count_of(found.value, found.spec.floor, str(found.spec.ref))
        ceiling = None if found.spec.ceiling is None else optional_count(found.value, found.spec.ceiling, str(found.spec.ref))
        other = floor + 1 if ceiling is None or floor < ceiling else floor
        after = rehearse(found.spec.ref, patch_of(found.spec.floor.path, other), self._cluster)
        kept = count_of(after, replace(found.spec.floor, absent=floor), str(found.spec.ref))
        if kept != other:
            msg = f"{found.spec.ref} does not keep {found.spec.floor}, it became {kept} when {other} was to be written: correct the field"
            raise TargetRefused(msg)

    def missing_for_starts(self) -> tuple[TargetError, ...]:
        """As `access.Checkable`."""
        return missing_for_starts(self._spec.ref.namespace, self._cluster)

    @property
    def _ceiling(self) -> str:
        return "the ceiling" if self._spec.ceiling is None else self._spec.ceiling.name

    def _find(self) -> "_Found":
        """The object that carries the floor; a pause on the one that was configured holds for both."""
        found = self._read(self._spec)
        try:
            carrier = None if self._spec.carrier is None else self._spec.carrier(found.value, self._cluster)
        except KubeFailed as failed:
            raise target_error(failed) from failed
        return found if carrier is None else replace(self._read(carrier), paused=pause_of(found.metadata.annotations))

    def _read(self, spec: KubeObject) -> "_Found":
        try:
            value = self._cluster.read(spec.ref)
            return _Found(spec=spec, value=value, metadata=_Read.model_validate(value).metadata)
        except KubeFailed as failed:
            raise target_error(failed) from failed
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{spec.ref} has no usable {place}: is it a Kubernetes API server?"
            raise TargetRefused(msg) from error

    def _patch(self, count: int, marks: dict[str, str] | dict[str, None], seen: Seen) -> None:
        spec = self._spec if self._spec.carrier is None else self._find().spec
        metadata = {"metadata": {"resourceVersion": seen.version, "annotations": marks}}
        try:
            self._cluster.merge(spec.ref, _joined(metadata, patch_of(spec.floor.path, count)))
        except KubeFailed as failed:
            raise target_error(failed) from failed


def object_name(kind: str, namespace: str, name: str, cluster: KubeConnection) -> str:
    """`KIND:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
    return f"{kind}:{namespace}/{name}" + (f"@{cluster.context}" if cluster.context is not None else "")


def _writer(found: "_Found", floor: int, marks: Marks) -> Writer | None:
    """Who holds the field, where it is not what we last wrote."""
    return second_writer(found.value, found.spec.floor.path) if marks.floors and floor not in marks.floors else None


def _in_replicas(least: Reason | None, unit: int) -> Reason | None:
    return None if least is None or least.after is None else replace(least, after=least.after * unit)


def _joined(one: Json, other: Json) -> Json:
    """Two patches in one; neither writes what the other does."""
    return one | {key: _joined(one[key], part) if key in one else part for key, part in other.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The object as it was read. paused: the pause on the object that led here, if another did."""

    spec: KubeObject
    value: Json
    metadata: "_Metadata"
    paused: Paused | None = None


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Metadata(_Part):
    resource_version: str
    annotations: dict[str, str] = Field(default_factory=dict)


class _Read(_Part):
    metadata: _Metadata

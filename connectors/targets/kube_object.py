"""The machine behind every target that is one number field of one Kubernetes object. A kind of target is a KubeObject.

observe      read the object; the field, our marks in its annotations, who else writes the field
set_floor    one merge patch that carries the resourceVersion seen: the field and our marks, nothing else
release      the same with the original, and our marks removed
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.kube.rehearsal import check_may, excess, rehearse
from connectors.targets.access import missing_for_starts
from connectors.targets.marks import FLOOR, OURS, PREFIX, Marks, pause_of, read_marks, written_marks
from connectors.targets.object_fields import CountField, count_of, optional_count, patch_of
from connectors.targets.scaled_workload import pod_starts, replicas_of
from connectors.targets.taken import floor_taken, is_ours, original_taken, within_bounds
from connectors.targets.writers import Writer, owner_of, second_writer
from forecaster.decision import Applied, Decision, Paused, Seen
from forecaster.errors import TargetError, TargetRefused
from forecaster.reasons import Reason
from forecaster.starts import Start

Answer = TypeVar("Answer")


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
    workload whose pods the floor is about, None = it cannot be told. counted: ready and pending replicas, where that workload does not
    tell them. beside: replicas that stand beside the field's count and that a floor includes. check: raises TargetRefused where the
    object is not ours to write. least: the smallest count that the object takes now (`after`) and why, None = 0. paused: who holds the
    object beside our own annotation. carrier: the object that really carries the floor, found from this one; None = this one. A write
    then finds it again. mark_prefix: what our annotations begin with, where a controller would hand others on to pods and restart them.
    stuck: why the loop above the floor does not scale now, in its own words, None = it does, or does not say.
    """

    target: str
    ref: ObjectRef
    floor: CountField
    ceiling: CountField | None = None
    replicas_per_unit: int = 1
    scaled: Callable[[Json, Cluster], ObjectRef | None] = lambda _value, _cluster: None
    counted: Callable[[Json, Cluster], tuple[int | None, int | None]] | None = None
    beside: Callable[[Json, Cluster], int] = lambda _value, _cluster: 0
    check: Callable[[Json, Cluster], None] = lambda _value, _cluster: None
    least: Callable[[Standing], Reason | None] = lambda _standing: None
    paused: Callable[[Json], str | None] = lambda _value: None
    carrier: Callable[[Json, Cluster], "KubeObject | None"] | None = None
    mark_prefix: str = PREFIX
    stuck: Callable[[Json], str | None] = lambda _value: None


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
        self._asked(spec.check, found)
        floor, ceiling = count_of(found.value, spec.floor, where), _ceiling(found)
        marks = read_marks(_plain(found.metadata.annotations, spec.mark_prefix), where=where, now=now)
        original = floor if marks.original is None else marks.original
        writer = _writer(found, floor, marks)
        ready, pending = self._counted(found)
        beside = self._asked(spec.beside, found)
        by, paused = spec.paused(found.value), marks.paused or found.paused
        return Seen(
            target=self.name,
            at=now,
            floor=floor * unit + beside,
            ceiling=None if ceiling is None else ceiling * unit + beside,
            original=original * unit + beside,
            ready=None if ready is None else ready * unit,
            pending=None if pending is None else pending * unit,
            version=json.dumps([found.metadata.resource_version, beside]),
            paused=paused or (Paused.HOLD if by is not None else None),
            paused_by=by if paused is None else None,
            valid_until=marks.valid_until,
            writer=None if writer is None else writer.name,
            remedy=None if writer is None else writer.remedy,
            least=_least(found, Standing(value=found.value, floor=floor, original=original), beside),
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole units, at least what the object takes, at most its ceiling."""
        unit, (_, beside) = self._spec.replicas_per_unit, json.loads(seen.version)
        units = max(-(-(decision.floor - beside) // unit), 0)
        whole, reasons = within_bounds(units * unit + beside, seen, ceiling=self._ceiling)
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling=self._ceiling)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes the field and our annotations in one patch."""
        applied = self.would_set(decision, seen)
        if applied.written:
            self._patch(*self._asked_for(applied, decision, seen), seen)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original and removes our annotations in one patch."""
        applied = self.would_release(seen)
        if applied.written:
            self._patch(self._units(applied.after, seen), dict.fromkeys(OURS), seen)
        return applied

    def try_floor(self, decision: Decision, seen: Seen) -> None:
        """As `access.Tried`: the same patch in a rehearsal on the API server itself, and that field and annotations would stand then."""
        applied = self.would_set(decision, seen)
        if applied.written:
            count, marks = self._asked_for(applied, decision, seen)
            spec, after = self._patch(count, marks, seen, rehearsed=True)
            kept = _plain((after.get("metadata") or {}).get("annotations") or {}, spec.mark_prefix)
            if count_of(after, spec.floor, str(spec.ref)) != count or not marks.items() <= kept.items():
                msg = f"{spec.ref} does not keep {count} in {spec.floor} with our annotations: find what changes it in between"
                raise TargetRefused(msg)

    def try_release(self, seen: Seen) -> None:
        """As `access.Tried`."""
        applied = self.would_release(seen)
        if applied.written:
            self._patch(self._units(applied.after, seen), dict.fromkeys(OURS), seen, rehearsed=True)

    def excess(self) -> tuple[str, ...]:
        """As `access.Tried`."""
        return excess(self._find().spec.ref, self._cluster)

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        found = self._find()
        return owner_of(found.value, found.spec.floor.path, mark=f"{found.spec.mark_prefix}{FLOOR.removeprefix(PREFIX)}")

    def stuck(self) -> str | None:
        """As `access.Looped`."""
        return self._spec.stuck(self._read(self._spec).value)

    def starts(self, now: datetime) -> tuple[Start, ...]:
        """The pods of the workload behind the object; none where it is of a kind, or has a selector, that we do not know."""
        found = self._find()
        return pod_starts(self._asked(found.spec.scaled, found), self._cluster, target=self.name, now=now)

    def check_write(self) -> None:
        """As `access.Checkable`: our rights, then a floor beside the present one in a rehearsal on the API server itself."""
        found = self._find()
        check_may("patch", found.spec.ref, self._cluster)
        floor, ceiling = count_of(found.value, found.spec.floor, str(found.spec.ref)), _ceiling(found)
        other = floor + 1 if ceiling is None or floor < ceiling else floor
        after = rehearse(found.spec.ref, patch_of(found.spec.floor.path, other), self._cluster)
        kept = count_of(after, replace(found.spec.floor, absent=floor), str(found.spec.ref))
        if kept != other:
            msg = f"{found.spec.ref} does not keep {found.spec.floor}, it became {kept} when {other} was to be written: correct the field"
            raise TargetRefused(msg)

    def missing_for_starts(self) -> tuple[TargetError, ...]:
        """As `access.Checkable`."""
        return missing_for_starts(self._spec.ref.namespace, self._cluster)

    def _asked(self, question: Callable[[Json, Cluster], Answer], found: "_Found") -> Answer:
        """What a part of the spec says of the object, where it may have to ask the cluster."""
        try:
            return question(found.value, self._cluster)
        except KubeFailed as failed:
            raise target_error(failed) from failed

    def _counted(self, found: "_Found") -> tuple[int | None, int | None]:
        if found.spec.counted is not None:
            return self._asked(found.spec.counted, found)
        return replicas_of(self._asked(found.spec.scaled, found), self._cluster)

    def _units(self, replicas: int, seen: Seen) -> int:
        """The field's count that stands for so many replicas, those beside it left out."""
        beside: int = json.loads(seen.version)[1]
        return max(replicas - beside, 0) // self._spec.replicas_per_unit

    @property
    def _ceiling(self) -> str:
        return "the ceiling" if self._spec.ceiling is None else self._spec.ceiling.name

    def _find(self) -> "_Found":
        """The object that carries the floor; a pause on the one that was configured holds for both."""
        found = self._read(self._spec)
        carrier = None if self._spec.carrier is None else self._asked(self._spec.carrier, found)
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

    def _asked_for(self, applied: Applied, decision: Decision, seen: Seen) -> tuple[int, dict[str, str]]:
        """The count and the marks of a floor."""
        count, original = (self._units(replicas, seen) for replicas in (applied.after, seen.original))
        floors = (count,) if is_ours(applied, seen) else ()
        return count, written_marks(original=original, floors=floors, valid_until=decision.valid_until)

    def _patch(
        self, count: int, marks: dict[str, str] | dict[str, None], seen: Seen, *, rehearsed: bool = False
    ) -> tuple[KubeObject, Json]:
        """The object that was patched, and how it is then."""
        spec = self._spec if self._spec.carrier is None else self._find().spec
        annotations = {f"{spec.mark_prefix}{key.removeprefix(PREFIX)}": text for key, text in marks.items()}
        metadata = {"metadata": {"resourceVersion": json.loads(seen.version)[0], "annotations": annotations}}
        patch = _joined(metadata, patch_of(spec.floor.path, count))
        if rehearsed:
            return spec, rehearse(spec.ref, patch, self._cluster)
        try:
            return spec, self._cluster.merge(spec.ref, patch)
        except KubeFailed as failed:
            raise target_error(failed) from failed


def _writer(found: "_Found", floor: int, marks: Marks) -> Writer | None:
    """Who holds the field, where it is not what we last wrote."""
    if not marks.floors or floor in marks.floors:
        return None
    return second_writer(found.value, found.spec.floor.path, mark=f"{found.spec.mark_prefix}{FLOOR.removeprefix(PREFIX)}")


def _ceiling(found: "_Found") -> int | None:
    """The count in the ceiling; one of 0 means in every API that has it that there is none."""
    spec = found.spec
    return None if spec.ceiling is None else optional_count(found.value, spec.ceiling, str(spec.ref)) or None


def _least(found: "_Found", standing: Standing, beside: int) -> Reason | None:
    """The smallest floor that is taken, in replicas."""
    least = found.spec.least(standing)
    return None if least is None or least.after is None else replace(least, after=least.after * found.spec.replicas_per_unit + beside)


def _plain(annotations: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Our annotations under the names that they have everywhere else."""
    return {f"{PREFIX}{key.removeprefix(prefix)}": text for key, text in annotations.items() if key.startswith(prefix)}


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

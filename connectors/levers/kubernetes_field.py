"""One field of any object on an API server: a gateway's policy, a key of a ConfigMap, an engine's own kind.

observe   read the object; the field, and our mark for it among the annotations
set       one merge patch that carries the resourceVersion seen: the field and our mark, nothing else
release   the same with the original, and our mark removed
try_...   the same patches in a rehearsal on the API server itself
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.kube.errors import target_error
from connectors.kube.paths import Path, parse, spell
from connectors.kube.plurals import regular_plural
from connectors.kube.rehearsal import check_may, excess, rehearse
from connectors.levers.json_fields import found_at, patch_of
from forecaster.errors import TargetConflict, TargetRefused
from forecaster.ladder import LeverValue, is_same
from forecaster.levers import LeverSeen, Moved, let_go, set_to, shown
from forecaster.units import iso

MARK = "forecaster/lever-"
"""What our annotations for levers begin with; the digest of the field's path follows, so that one object may carry several."""
_DIGITS = 10
_CORE = "v1"
_MAP = 2
"""The keys to annotations or labels; the next one is one of them."""


def _path(text: str) -> str:
    path = parse(text)
    is_word = path[0] == "metadata" and path[1:2] in {("annotations",), ("labels",)} and len(path) > _MAP  # one of them, by its key
    if path[0] in {"status", "apiVersion", "kind"} or (path[0] == "metadata" and not is_word):
        msg = f"{text} is not for us to write: name a field of spec or data, an annotation or a label"
        raise ValueError(msg)
    if is_word and path[_MAP].startswith("forecaster/"):
        msg = f"{text} is a mark of ours or a person's pause, which no lever moves: name another field"
        raise ValueError(msg)
    return text


class KubernetesFieldLeverConfig(BaseModel):
    """One field of one object that may be moved for a while."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-field"] = Field(description="This kind of lever: one field of any object on a Kubernetes API server.")
    api_version: str = Field(
        pattern=r"^([a-z0-9.-]+/[a-z0-9]+|v1)$",
        description="API group and version of the object, such as gateway.envoyproxy.io/v1alpha1; v1 for a ConfigMap. No default.",
    )
    kind: str = Field(pattern=r"^[A-Z][A-Za-z0-9]*$", description="Kind of the object, such as BackendTrafficPolicy. No default.")
    plural: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]+$",
        description="Plural of the kind, as `kubectl api-resources` prints it. Default: the regular one of `kind`.",
    )
    namespace: str | None = Field(
        default=None, min_length=1, description="Namespace of the object. Default: none, for kinds of the whole cluster."
    )
    name: str = Field(min_length=1, description="Name of the object. No default.")
    field: Annotated[str, AfterValidator(_path)] = Field(
        description="Path of the field: keys with dots between them, ['KEY'] for a key that has dots itself, a number for the entry of a "
        "list, from 0. No default."
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @model_validator(mode="after")
    def _of_the_core(self) -> Self:
        if self.api_version == _CORE and (self.kind != "ConfigMap" or self.namespace is None):
            msg = "of the core group v1 only ConfigMaps are moved, each in its namespace: name another api_version, or kind: ConfigMap"
            raise ValueError(msg)
        return self

    @property
    def ref(self) -> ObjectRef:
        """The object in the API."""
        group, _, version = self.api_version.rpartition("/")
        return ObjectRef(
            group=group,
            version=version,
            plural=self.plural or regular_plural(self.kind),
            namespace=self.namespace or "",
            name=self.name,
        )

    @property
    def lever(self) -> str:
        """`kubernetes-field:NAMESPACE/PLURAL.GROUP/NAME/FIELD`, and `@CONTEXT` where a context is configured."""
        where = f"{self.namespace}/{self.ref.resource}" if self.namespace else self.ref.resource
        context = self.cluster.context
        return f"{self.type}:{where}/{self.name}/{self.field}" + (f"@{context}" if context is not None else "")


class KubernetesFieldLever:
    """A Lever over one field. A field that is not there may be set, and is taken away again by a release."""

    def __init__(self, config: KubernetesFieldLeverConfig, cluster: Cluster) -> None:
        self.name = config.lever
        self._ref = config.ref
        self._path = parse(config.field)
        self._cluster = cluster
        self._mark = f"{MARK}{hashlib.sha256(spell(self._path).encode()).hexdigest()[:_DIGITS]}"

    def observe(self, now: datetime) -> LeverSeen:
        """The field as it stands, and our mark."""
        value = self._read()
        metadata = value.get("metadata") or {}
        mark = self._marked((metadata.get("annotations") or {}).get(self._mark))
        stands = _plain(found_at(value, self._path), self._ref, self._path)
        return LeverSeen(
            lever=self.name,
            at=now,
            value=stands if mark is None else _as_left(stands, mark.value),
            original=stands if mark is None else mark.original,
            left=None if mark is None else mark.value,
            until=None if mark is None else mark.until.astimezone(UTC),
            version=str(metadata.get("resourceVersion", "")),
        )

    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved:
        """Writes the field and our mark in one patch."""
        moved = set_to(seen, value, until)
        if moved.written:
            self._patch(self._written(value), self._mark_of(value, until, seen), seen)
        return moved

    def release(self, seen: LeverSeen) -> Moved:
        """Writes the original and removes our mark in one patch; where somebody else's value stands, only the mark."""
        moved = let_go(seen)
        if moved.written:
            self._patch(None if moved.after is None else self._written(moved.after), None, seen)
        return moved

    def check_write(self, seen: LeverSeen) -> None:  # noqa: ARG002 - rights do not depend on it
        """As `access.Checkable`: our rights alone, since any value can be taken back."""
        check_may("patch", self._ref, self._cluster)

    def try_set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> None:
        """As `access.Tried`."""
        if set_to(seen, value, until).written:
            self._patch(self._written(value), self._mark_of(value, until, seen), seen, rehearsed=True)

    def try_release(self, seen: LeverSeen) -> None:
        """As `access.Tried`; of a lever that we do not hold, what a release would write after we had."""
        back = seen.value if seen.is_theirs else seen.original
        self._patch(None if back is None else self._written(back), None, seen, rehearsed=True)

    def excess(self) -> tuple[str, ...]:
        """As `access.Tried`."""
        return excess(self._ref, self._cluster)

    def _mark_of(self, value: LeverValue, until: datetime, seen: LeverSeen) -> str:
        return _Mark(field=spell(self._path), original=seen.original, value=value, until=until).text()

    def _written(self, value: LeverValue) -> LeverValue:
        """The value as it is kept there: ConfigMaps, annotations and labels keep text alone."""
        text = self._path[0] == "data" and self._ref.plural == "configmaps"
        if not text and self._path[:2] not in {("metadata", "annotations"), ("metadata", "labels")}:
            return value
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _patch(self, value: LeverValue | None, mark: str | None, seen: LeverSeen, *, rehearsed: bool = False) -> None:
        metadata: Json = {"resourceVersion": seen.version, "annotations": {self._mark: mark}}
        field = patch_of(self._path, value, self._of(seen) if any(key.isdigit() for key in self._path) else None)
        patch = _joined({"metadata": metadata}, field)
        if rehearsed:
            self._kept(value, rehearse(self._ref, patch, self._cluster))
            return
        try:
            after = self._cluster.merge(self._ref, patch)
        except KubeFailed as failed:
            raise target_error(failed) from failed
        self._kept(value, after)

    def _kept(self, value: LeverValue | None, after: Json) -> None:
        """Raises TargetRefused where something else stands there than what was written: a kind drops the fields that it does not have."""
        stands = _plain(found_at(after, self._path), self._ref, self._path)
        if (stands is None) != (value is None) or (stands is not None and value is not None and not is_same(stands, value)):
            told = f"{self._ref} does not keep {spell(self._path)}, it became {shown(stands)} when {shown(value)} was to be written"
            raise TargetRefused(f"{told}: correct the field, or find what changes it in between")

    def _of(self, seen: LeverSeen) -> Json:
        """The object as it was seen: of a list, a merge patch can only write the whole."""
        value = self._read()
        if str((value.get("metadata") or {}).get("resourceVersion", "")) != seen.version:
            msg = f"{self._ref} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return value

    def _read(self) -> Json:
        try:
            return self._cluster.read(self._ref)
        except KubeFailed as failed:
            raise target_error(failed) from failed

    def _marked(self, text: str | None) -> "_Mark | None":
        """Our mark. Raises TargetRefused where it does not tell the original."""
        if text is None:
            return None
        try:
            return _Mark.model_validate_json(text)
        except ValidationError as error:
            msg = f"the annotation {self._mark} of {self._ref} does not say what {spell(self._path)} was before us: correct or remove it"
            raise TargetRefused(msg) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedField:
    """One field that we hold, as its object says. field, until: None = the mark cannot be read, which only a person can mend."""

    namespace: str
    name: str
    mark: str
    field: str | None
    until: datetime | None


def marked_fields(kind: ObjectRef, cluster: Cluster) -> tuple[MarkedField, ...]:
    """Every field that we hold on the objects of a kind. Raises as `observe` does, TargetMissing where no such kind is served."""
    try:
        objects = cluster.find(kind, "")
    except KubeFailed as failed:
        raise target_error(failed) from failed
    found = [
        _marked_field(metadata, key, text)
        for metadata in (value.get("metadata") or {} for value in objects)
        for key, text in (metadata.get("annotations") or {}).items()
        if key.startswith(MARK)
    ]
    return tuple(sorted(found, key=lambda one: (one.namespace, one.name, one.mark)))


def _marked_field(metadata: Json, key: str, text: str) -> MarkedField:
    try:
        mark = _Mark.model_validate_json(text)
        parse(mark.field)
    except ValueError:  # pydantic's own is one
        mark = None
    return MarkedField(
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        mark=key,
        field=None if mark is None else mark.field,
        until=None if mark is None else mark.until.astimezone(UTC),
    )


class _Mark(BaseModel):
    """What we leave on the object for one field."""

    model_config = ConfigDict(frozen=True)

    field: str
    original: LeverValue | None
    value: LeverValue
    until: AwareDatetime

    def text(self) -> str:
        """As the annotation has it."""
        said = {"field": self.field, "original": self.original, "value": self.value, "until": iso(self.until.astimezone(UTC))}
        return json.dumps(said)


def _plain(value: object, ref: ObjectRef, path: Path) -> LeverValue | None:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    msg = f"{ref} has a {type(value).__name__} in {spell(path)}, not one value: name a field inside of it"
    raise TargetRefused(msg)


def _as_left(stands: LeverValue | None, left: LeverValue) -> LeverValue | None:
    """What stands there in the type that we wrote, where it is kept as text."""
    text = str(left).lower() if isinstance(left, bool) else str(left)
    return left if stands == text else stands


def _joined(one: Json, other: Json) -> Json:
    """Two patches in one; neither writes what the other does."""
    return one | {key: _joined(one[key], part) if key in one else part for key, part in other.items()}

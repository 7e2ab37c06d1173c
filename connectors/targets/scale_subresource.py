"""An object that is scaled by its scale subresource, with our marks in its annotations: two writes, in an order that a crash survives.

The marks go first, under the resourceVersion that was read, and name the count before and the count after; then the count; then the mark
of what stands. Cut short anywhere, the original is on the object, and what stands is one of the counts that the mark names.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.kube.rehearsal import check_may, excess, rehearse
from connectors.kube.starts import selector_of
from connectors.targets.marks import Marks, floor_mark, read_marks
from connectors.targets.writers import Writer, owner_of, second_writer
from forecaster.errors import TargetConflict, TargetRefused

KINDS = {
    "Deployment": ("apps/v1", "deployments"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    "Rollout": ("argoproj.io/v1alpha1", "rollouts"),
}
"""The kinds that need no API version and plural in a configuration; all count spec.replicas and status.readyReplicas."""

Read = TypeVar("Read", bound=BaseModel)

_WRITE_ATTEMPTS = 4  # controllers write the status of a workload whose pods come and go, several times a second
_PREFIX = "forecaster/"
_REPLICAS = ("spec", "replicas")


def ref_of(kind: str, namespace: str, name: str, *, api_version: str | None = None, plural: str | None = None) -> ObjectRef:
    """The object in the API; of a kind that is not among KINDS only together with its API version and plural."""
    known_version, known_plural = KINDS.get(kind, ("", ""))
    group, _, version = (api_version or known_version).partition("/")
    return ObjectRef(group=group, version=version, plural=plural or known_plural, namespace=namespace, name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One object as it was read.

    ready None = its kind does not count it. selector: of its pods, None = it names none. writer: who holds the count, where it is not
    what we last wrote. version: all that a write rests on.
    """

    replicas: int
    ready: int | None
    selector: str | None
    marks: Marks
    texts: dict[str, str]
    writer: Writer | None
    version: str
    body: Json

    @property
    def original(self) -> int:
        """The count before we first wrote, the present one if we never did."""
        return self.replicas if self.marks.original is None else self.marks.original


class ScaleSubresource:
    """One object by its API, read and written. Counts in its own unit. All methods raise TargetErrors."""

    def __init__(self, ref: ObjectRef, cluster: Cluster) -> None:
        self.ref = ref
        self._cluster = cluster
        self._scale_ref = ObjectRef(
            group=ref.group, version=ref.version, plural=ref.plural, namespace=ref.namespace, name=ref.name, subresource="scale"
        )

    def read(self, now: datetime) -> Standing:
        """The object and its count, as they stand."""
        body, scale = self._body(), self._scale()
        found = self._usable(_Object, body)
        texts = {key: text for key, text in found.metadata.annotations.items() if key.startswith(_PREFIX)}
        marks = read_marks(texts, where=str(self.ref), now=now)
        replicas = scale.spec.replicas
        return Standing(
            replicas=replicas,
            # a rolling update keeps surge pods ready beside those that they replace: they are no capacity to count on
            ready=None if found.status.ready_replicas is None else min(found.status.ready_replicas, replicas),
            selector=scale.status.selector or selector_of(body),
            marks=marks,
            texts=texts,
            writer=second_writer(body, _REPLICAS) if marks.floors and replicas not in marks.floors else None,
            version=json.dumps([replicas, sorted(texts.items())]),
            body=body,
        )

    def unchanged(self, version: str, now: datetime) -> Standing:
        """The object, where it still stands as it was observed. Raises TargetConflict otherwise."""
        standing = self.read(now)
        if standing.version != version:
            msg = f"{self.ref} changed since it was observed: observe it again"
            raise TargetConflict(msg)
        return standing

    def write(self, standing: Standing, *, replicas: int, marks: dict[str, str]) -> None:
        """Makes the marks and the count stand."""
        self._annotate(marks, standing)
        if replicas != standing.replicas:
            self._resize(standing.replicas, replicas)
            self._annotate(floor_mark(replicas))

    def put_back(self, standing: Standing, *, replicas: int, keys: tuple[str, ...]) -> None:
        """Makes the count stand and removes the marks of these keys."""
        if replicas != standing.replicas:
            self._annotate(floor_mark(standing.replicas, replicas), standing)
            self._resize(standing.replicas, replicas)
            self._annotate(dict.fromkeys(keys))
        else:
            self._annotate(dict.fromkeys(keys), standing)

    def try_write(self, standing: Standing, *, replicas: int, marks: dict[str, str] | dict[str, None]) -> None:
        """What `write` and `put_back` would meet with, in a rehearsal on the API server itself."""
        version = {"resourceVersion": standing.body["metadata"]["resourceVersion"]}
        rehearse(self.ref, {"metadata": {"annotations": marks} | version}, self._cluster)
        if replicas != standing.replicas:
            rehearse(self._scale_ref, {"spec": {"replicas": replicas}}, self._cluster)

    def excess(self) -> tuple[str, ...]:
        """As `access.Tried`."""
        return excess(self.ref, self._cluster)

    def owner(self) -> Writer | None:
        """As `writers.Owned`."""
        return owner_of(self._body(), _REPLICAS)

    def check_write(self) -> None:
        """As `access.Checkable`: our rights to both writes, then one replica more in a rehearsal on the API server itself."""
        check_may("patch", self.ref, self._cluster)
        check_may("patch", self._scale_ref, self._cluster)
        rehearse(self._scale_ref, {"spec": {"replicas": self._scale().spec.replicas + 1}}, self._cluster)

    def pods(self, selector: str) -> tuple[Json, ...]:
        """Its pods."""
        return self.listed(ObjectRef(group="", version="v1", plural="pods", namespace=self.ref.namespace, name=""), selector)

    def listed(self, ref: ObjectRef, selector: str = "") -> tuple[Json, ...]:
        """Objects of another kind that a selector takes."""
        try:
            return self._cluster.pods(ref.namespace, selector) if ref.plural == "pods" else self._cluster.find(ref, selector)
        except KubeFailed as failed:
            raise target_error(failed) from failed

    def _body(self) -> Json:
        try:
            return self._cluster.read(self.ref)
        except KubeFailed as failed:
            raise target_error(failed) from failed

    def _scale(self) -> "_Scale":
        try:
            return self._usable(_Scale, self._cluster.read(self._scale_ref))
        except KubeFailed as failed:
            if failed.status == HTTPStatus.NOT_FOUND:  # the object itself was read a moment ago
                msg = f"{self.ref} has no scale subresource: name a kind that has one, or its field with type kubernetes-field"
                raise TargetRefused(msg) from failed
            raise target_error(failed) from failed

    def _usable(self, kind: type[Read], body: Json) -> Read:
        try:
            return kind.model_validate(body)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self.ref} has no usable {place}: is it a kind that counts replicas?"
            raise TargetRefused(msg) from error

    def _annotate(self, texts: dict[str, str] | dict[str, None], standing: Standing | None = None) -> None:
        """Writes annotations: on the object as it was read, or as it stands where our own write came in between."""
        metadata: Json = {"annotations": texts}
        if standing is not None:
            metadata["resourceVersion"] = standing.body["metadata"]["resourceVersion"]
        self._merge(self.ref, {"metadata": metadata})

    def _resize(self, before: int, replicas: int) -> None:
        """Writes the count. A controller's write of the status in between is no conflict: it is read again, and the count compared."""
        for attempt in range(1, _WRITE_ATTEMPTS + 1):
            scale = self._scale()
            if scale.spec.replicas != before:
                msg = (
                    f"replicas of {self.ref} became {scale.spec.replicas} while we wrote {replicas}: somebody else writes it, observe again"
                )
                raise TargetConflict(msg)
            patch = {"metadata": {"resourceVersion": scale.metadata.resource_version}, "spec": {"replicas": replicas}}
            try:
                self._merge(self._scale_ref, patch)
            except TargetConflict:
                if attempt == _WRITE_ATTEMPTS:
                    raise
            else:
                return

    def _merge(self, ref: ObjectRef, patch: Json) -> None:
        try:
            self._cluster.merge(ref, patch)
        except KubeFailed as failed:
            raise target_error(failed) from failed


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Metadata(_Part):
    resource_version: str
    annotations: dict[str, str] = Field(default_factory=dict)


class _Status(_Part):
    ready_replicas: int | None = Field(default=None, ge=0)


class _Object(_Part):
    metadata: _Metadata
    status: _Status = _Status()


class _ScaleSpec(_Part):
    replicas: int = Field(default=0, ge=0)  # the API leaves a zero out


class _ScaleStatus(_Part):
    selector: str | None = None


class _Scale(_Part):
    metadata: _Metadata
    spec: _ScaleSpec = _ScaleSpec()
    status: _ScaleStatus = _ScaleStatus()

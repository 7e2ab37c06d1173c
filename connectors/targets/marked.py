"""Which objects of a kind carry our marks: found on the API server alone, so that a watchdog needs neither configuration nor store."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field, ValidationError

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.targets.marks import OURS, PREFIX, read_marks
from forecaster.errors import TargetRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One object that carries our marks. valid_until: what they say, None = nothing that can be read, which only a closer look explains."""

    namespace: str
    name: str
    valid_until: datetime | None


def marked(kind: ObjectRef, cluster: Cluster, *, now: datetime, prefix: str = PREFIX) -> tuple[Marked, ...]:
    """The objects of the kind that carry our marks, by namespace and name. prefix: what the marks begin with on this kind.

    Raises TargetMissing where the API server does not serve the kind, TargetForbidden, TargetRefused or TargetUnavailable.
    """
    try:
        parts = [_Object.model_validate(value).metadata for value in cluster.find(kind, "")]
    except KubeFailed as failed:
        raise target_error(failed) from failed
    except ValidationError as error:
        msg = f"{kind} were listed without usable metadata: is it a Kubernetes API server?"
        raise TargetRefused(msg) from error
    found = [_marked(part, prefix, now) for part in parts if any(_as_here(key, prefix) in part.annotations for key in OURS)]
    return tuple(sorted(found, key=lambda one: (one.namespace, one.name)))


def _marked(part: "_Metadata", prefix: str, now: datetime) -> Marked:
    texts = {key: part.annotations[_as_here(key, prefix)] for key in OURS if _as_here(key, prefix) in part.annotations}
    try:
        valid_until = read_marks(texts, where=part.name, now=now).valid_until
    except TargetRefused:
        valid_until = None
    return Marked(namespace=part.namespace, name=part.name, valid_until=valid_until)


def _as_here(key: str, prefix: str) -> str:
    return f"{prefix}{key.removeprefix(PREFIX)}"


class _Metadata(BaseModel):
    """namespace: empty for kinds of the whole cluster."""

    namespace: str = ""
    name: str
    annotations: dict[str, str] = Field(default_factory=dict)


class _Object(BaseModel):
    """The part of an object that is read here; the rest is ignored."""

    metadata: _Metadata

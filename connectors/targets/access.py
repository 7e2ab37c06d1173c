"""Whether a write would be allowed, and taken, asked without writing."""

from http import HTTPStatus
from typing import Protocol, runtime_checkable

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from forecaster.decision import Decision, Seen
from forecaster.errors import TargetError


@runtime_checkable
class Checkable(Protocol):
    """A target that can be asked before it is written: what every target on a Kubernetes API server is."""

    name: str

    def check_write(self) -> None:
        """Raises TargetForbidden with the missing RBAC rule, TargetRefused where no floor would be taken, others where none can say."""

    def missing_for_starts(self) -> tuple[TargetError, ...]:
        """One TargetForbidden for each RBAC rule that measuring lead times lacks."""


@runtime_checkable
class Tried(Protocol):
    """A target whose API carries a write out up to the point of keeping it, and says what would have come of it.

    `try_floor` and `try_release` raise what `set_floor` and `release` would, TargetConflict where the object changed since it was seen
    included, TargetRefused where the API would keep something else, and TargetUnavailable where none can say. `excess` names the rights
    that our role has and no target needs, as `verb resource`; none where nobody can say.
    """

    name: str

    def try_floor(self, decision: Decision, seen: Seen) -> None:
        """As above."""

    def try_release(self, seen: Seen) -> None:
        """As above."""

    def excess(self) -> tuple[str, ...]:
        """As above."""


@runtime_checkable
class Looped(Protocol):
    """A target whose object says how the autoscaler above the floor fares.

    `stuck` is why that does not scale now, in its own words; None = it does, or does not say. It raises as `ScaleTarget.observe` does.
    """

    name: str

    def stuck(self) -> str | None:
        """As above."""


def missing_for_starts(namespace: str, cluster: Cluster) -> tuple[TargetError, ...]:
    """One TargetForbidden for each RBAC rule that our role lacks to read starts; none where nobody can say."""
    pods = ObjectRef(group="", version="v1", plural="pods", namespace=namespace, name="")
    nodes = ObjectRef(group="", version="v1", plural="nodes", namespace="", name="")
    return tuple(
        target_error(KubeFailed(verb=verb, ref=ref, status=HTTPStatus.FORBIDDEN, answer="our role does not allow it"))
        for verb, ref in (("list", pods), ("get", nodes))
        if _is_denied(cluster, verb, ref)
    )


def _is_denied(cluster: Cluster, verb: str, ref: ObjectRef) -> bool:
    try:
        return not cluster.may(verb, ref)
    except KubeFailed:
        return False

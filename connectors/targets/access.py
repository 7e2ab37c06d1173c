"""Whether a write would be allowed, asked without writing."""

from http import HTTPStatus

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.targets.kube_errors import target_error
from forecaster.errors import TargetError


def check_hpa_write(namespace: str, name: str, cluster: Cluster) -> None:
    """Raises TargetForbidden with the missing RBAC rule where our role may not patch the HPA, other TargetErrors where nobody can say."""
    ref = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=namespace, name=name)
    try:
        allowed = cluster.may("patch", ref)
    except KubeFailed as failed:
        raise target_error(failed) from failed
    if not allowed:
        raise target_error(KubeFailed(verb="patch", ref=ref, status=HTTPStatus.FORBIDDEN, answer="our role does not allow it"))


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

"""Whether a write would be allowed, asked without writing."""

from http import HTTPStatus

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.targets.kube_errors import target_error


def check_hpa_write(namespace: str, name: str, cluster: Cluster) -> None:
    """Raises TargetForbidden with the missing RBAC rule where our role may not patch the HPA, other TargetErrors where nobody can say."""
    ref = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=namespace, name=name)
    try:
        allowed = cluster.may("patch", ref)
    except KubeFailed as failed:
        raise target_error(failed) from failed
    if not allowed:
        raise target_error(KubeFailed(verb="patch", ref=ref, status=HTTPStatus.FORBIDDEN, answer="our role does not allow it"))

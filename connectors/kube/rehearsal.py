"""What our role may do to an object, and what would come of a patch, asked without writing: the same for targets and levers."""

from http import HTTPStatus

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from forecaster.errors import TargetUnavailable

_NO_REHEARSAL = "dry run"  # a webhook with side effects refuses a rehearsal, and says so in these words


def check_may(verb: str, ref: ObjectRef, cluster: Cluster) -> None:
    """Raises TargetForbidden with the missing RBAC rule where our role does not allow the verb, other TargetErrors where nobody can say."""
    try:
        allowed = cluster.may(verb, ref)
    except KubeFailed as failed:
        raise target_error(failed) from failed
    if not allowed:
        raise target_error(KubeFailed(verb=verb, ref=ref, status=HTTPStatus.FORBIDDEN, answer="our role does not allow it"))


def rehearse(ref: ObjectRef, patch: Json, cluster: Cluster) -> Json:
    """The object as the patch would leave it. Raises as a write would, TargetUnavailable where a webhook takes no rehearsal."""
    try:
        return cluster.merge(ref, patch, rehearsed=True)
    except KubeFailed as failed:
        if failed.status == HTTPStatus.BAD_REQUEST and _NO_REHEARSAL in failed.answer:
            raise TargetUnavailable(str(failed)) from failed
        raise target_error(failed) from failed


def excess(ref: ObjectRef, cluster: Cluster) -> tuple[str, ...]:
    """The rights of our role around an object that no target needs: to make and delete objects, to read secrets, to get into pods."""
    kind = ObjectRef(group=ref.group, version=ref.version, plural=ref.plural, namespace=ref.namespace, name="")
    asked = [("create", kind), ("delete", ref), *((verb, _core(plural, ref.namespace, sub)) for verb, plural, sub in _NEVER_NEEDED)]
    return tuple(f"{verb} {one.rule}" for verb, one in asked if _is_allowed(cluster, verb, one))


_NEVER_NEEDED = (("get", "secrets", ""), ("delete", "pods", ""), ("create", "pods", "exec"))


def _core(plural: str, namespace: str, subresource: str) -> ObjectRef:
    return ObjectRef(group="", version="v1", plural=plural, namespace=namespace, name="", subresource=subresource)


def _is_allowed(cluster: Cluster, verb: str, ref: ObjectRef) -> bool:
    try:
        return cluster.may(verb, ref)
    except KubeFailed:
        return False

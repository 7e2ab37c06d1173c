"""What a failed request to the Kubernetes API means for a target or a lever."""

from http import HTTPStatus
from typing import assert_never

from connectors.kube.cluster import KubeFailed
from connectors.kube.denied import Doubt
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable

_MEANINGS: dict[int, tuple[type[TargetError], str]] = {
    HTTPStatus.UNAUTHORIZED: (
        TargetForbidden,
        "there is no valid login: renew the token, or correct the kubeconfig and its context",
    ),
    HTTPStatus.NOT_FOUND: (TargetMissing, "it is not there: correct namespace and name in the configuration"),
    HTTPStatus.CONFLICT: (TargetConflict, "it changed since it was observed: observe it again"),
    HTTPStatus.REQUEST_TIMEOUT: (TargetUnavailable, "try again later"),
    HTTPStatus.TOO_MANY_REQUESTS: (TargetUnavailable, "try again later"),
}
_NOT_SERVED = ("page not found", "could not find the requested resource")  # what is said of a kind, not of an object
_POLICIES = ("admission webhook", "ValidatingAdmissionPolicy")  # these deny with 403 too, and no RBAC rule would help


def target_error(failed: KubeFailed) -> TargetError:
    """The target's error for a failure, with the remedy."""
    kind, remedy = _meaning(failed)
    return kind(f"{failed}; {remedy}")


def _meaning(failed: KubeFailed) -> tuple[type[TargetError], str]:
    status = failed.status
    if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TargetUnavailable, "try again later"
    if status == HTTPStatus.NOT_FOUND and any(words in failed.answer for words in _NOT_SERVED):
        return TargetMissing, _kind(failed)
    if status in _MEANINGS:
        return _MEANINGS[status]
    if status == HTTPStatus.FORBIDDEN and not any(words in failed.answer for words in _POLICIES):
        return _denied(failed)
    return TargetRefused, "the API server will not take this request as it is"


def _denied(failed: KubeFailed) -> tuple[type[TargetError], str]:
    """Rights are looked at before what they are for, so what is not there is denied too."""
    namespace = failed.ref.namespace
    match failed.doubt:
        case Doubt.KIND:
            return TargetMissing, _kind(failed)
        case Doubt.NAMESPACE:
            return TargetMissing, f"there is no namespace {namespace}: correct it in the configuration"
        case Doubt.SPELLING:
            return TargetForbidden, f"{_rule(failed)}, or correct the namespace if {namespace} is misspelled"
        case None:
            return TargetForbidden, _rule(failed)
        case _:
            assert_never(failed.doubt)


def _kind(failed: KubeFailed) -> str:
    ref = failed.ref
    served = f"{ref.rule} in version {ref.version} of {ref.group or 'the core group'}"
    return f"the API server serves no {served}: install its CustomResourceDefinition, or correct the kind in the configuration"


def _rule(failed: KubeFailed) -> str:
    ref = failed.ref
    group = ref.group or '""'
    rule = f"{{apiGroups: [{group}], resources: [{ref.rule}], verbs: [{failed.verb}]}}"
    return f"add the RBAC rule {rule} to our {f'role in namespace {ref.namespace}' if ref.namespace else 'cluster role'}"

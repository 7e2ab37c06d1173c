"""The RBAC that the levers of a configuration need, object by object: read and patch, and nothing else of the kind."""

from collections.abc import Iterable, Sequence
from typing import Any

from connectors.kube.cluster import ObjectRef

Manifest = dict[str, Any]
_API = "rbac.authorization.k8s.io"
_NAME = "forecaster-levers"
_US = {"kind": "ServiceAccount", "name": "forecaster", "namespace": "forecaster"}


def lever_roles(objects: Iterable[ObjectRef]) -> list[Manifest]:
    """A Role and its binding for each namespace, then a ClusterRole for objects of the whole cluster, where there are any."""
    by_space: dict[str, list[ObjectRef]] = {}
    for ref in objects:
        by_space.setdefault(ref.namespace, []).append(ref)
    spaces = sorted(by_space, key=lambda space: (not space, space))
    return [manifest for space in spaces for manifest in _granted(space, _rules(by_space[space]))]


def _rules(objects: Sequence[ObjectRef]) -> list[Manifest]:
    names: dict[tuple[str, str], set[str]] = {}
    for ref in objects:
        names.setdefault((ref.group, ref.plural), set()).add(ref.name)
    return [
        {"apiGroups": [group], "resources": [plural], "resourceNames": sorted(named), "verbs": ["get", "patch"]}
        for (group, plural), named in sorted(names.items())
    ]


def _granted(space: str, rules: list[Manifest]) -> tuple[Manifest, Manifest]:
    role, metadata = "Role" if space else "ClusterRole", {"name": _NAME} | ({"namespace": space} if space else {})
    reference = {"apiGroup": _API, "kind": role, "name": _NAME}
    return (
        {"apiVersion": f"{_API}/v1", "kind": role, "metadata": metadata, "rules": rules},
        {"apiVersion": f"{_API}/v1", "kind": f"{role}Binding", "metadata": metadata, "roleRef": reference, "subjects": [_US]},
    )

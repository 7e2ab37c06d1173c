"""What the API server double keeps: objects of any kind with resourceVersion and managedFields, changed by JSON merge patches only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str, str]
"""Plural, namespace, name."""
Denial: TypeAlias = Callable[[Json, Json], str | None]
"""What an admission webhook says of an object before and after a patch, None = nothing."""

HPAS = "horizontalpodautoscalers"
API_VERSIONS = {HPAS: "autoscaling/v2", "deployments": "apps/v1", "statefulsets": "apps/v1", "pods": "v1", "nodes": "v1"}
API_VERSIONS |= {"scaledobjects": "keda.sh/v1alpha1"}
KINDS = {HPAS: "HorizontalPodAutoscaler", "deployments": "Deployment", "statefulsets": "StatefulSet", "pods": "Pod", "nodes": "Node"}
KINDS |= {"scaledobjects": "ScaledObject"}
API_VERSIONS |= {"poddisruptionbudgets": "policy/v1", "priorityclasses": "scheduling.k8s.io/v1"}
KINDS |= {"poddisruptionbudgets": "PodDisruptionBudget", "priorityclasses": "PriorityClass"}
API_VERSIONS |= {"leaderworkersets": "leaderworkerset.x-k8s.io/v1", "rollouts": "argoproj.io/v1alpha1"}
KINDS |= {"leaderworkersets": "LeaderWorkerSet", "rollouts": "Rollout"}
API_VERSIONS |= {"configmaps": "v1"}
KINDS |= {"configmaps": "ConfigMap"}
API_VERSIONS |= {"leases": "coordination.k8s.io/v1"}
KINDS |= {"leases": "Lease"}
SCALED = ("deployments", "statefulsets", "leaderworkersets", "rollouts")

_OWNED = (("spec",), ("metadata", "annotations"))
_EPOCH = datetime(2024, 5, 1, tzinfo=UTC)


class Refusal(Exception):
    """The request ends with this status and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


@dataclass(slots=True, kw_only=True)
class Objects:
    """The objects of one server. least: the smallest minReplicas taken, 0 where the gate HPAScaleToZero is on."""

    least: int = 1
    api_versions: dict[str, str] = field(default_factory=lambda: dict(API_VERSIONS))
    kinds: dict[str, str] = field(default_factory=lambda: dict(KINDS))
    denials: dict[str, Denial] = field(default_factory=dict)
    _values: dict[Key, Json] = field(default_factory=dict)
    _owners: dict[Key, dict[tuple[str, ...], tuple[str, str]]] = field(default_factory=dict)
    _version: int = 1_000

    def add(self, key: Key, *, metadata: Json, spec: Json, status: Json, **parts: Json) -> None:
        """Create an object, as kubectl would."""
        plural, namespace, name = key
        self._values[key] = {
            "apiVersion": self.api_versions[plural],
            "kind": self.kinds[plural],
            "metadata": {"name": name, "namespace": namespace, **metadata},
            "spec": spec,
            "status": status,
            **parts,
        }
        self._owners[key] = {}
        self.touch(key)
        self._own(key, "kubectl-create", {}, self._values[key])

    def has(self, key: Key) -> bool:
        """Whether there is such an object."""
        return key in self._values

    def has_namespace(self, name: str) -> bool:
        """Whether there is an object in a namespace."""
        return any(namespace == name for _, namespace, _ in self._values)

    def delete(self, key: Key) -> None:
        """Delete an object."""
        del self._values[key]

    def touch(self, key: Key) -> None:
        """Give the object a new resourceVersion, as every write does, one of status too."""
        self._version += 1
        self._values[key]["metadata"]["resourceVersion"] = str(self._version)

    def merge(self, key: Key, patch: Json, manager: str, *, rehearsed: bool = False) -> Json:
        """The object after a merge patch, kept unless rehearsed.

        Raises Refusal: 409 where it names another resourceVersion, 422 where the result is invalid, 403 where a webhook denies it.
        """
        before = self._values[key]
        told = patch.get("metadata", {}).get("resourceVersion")
        if told is not None and told != before["metadata"]["resourceVersion"]:
            message = "the object has been modified; please apply your changes to the latest version and try again"
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on {key[0]} "{key[2]}": {message}')
        after = _merged(before, patch)
        if key[0] == HPAS:
            self._check(key[2], after["spec"])
        said = self.denials[key[0]](before, after) if key[0] in self.denials else None
        if said is not None:
            raise Refusal(403, "Forbidden", f'admission webhook "vwebhook.test" denied the request: {said}')
        if after != before and not rehearsed:
            self._values[key] = after
            self.touch(key)
            self._own(key, manager, before, after)
        return after if rehearsed else self.shown(key)

    def shown(self, key: Key) -> Json:
        """The object as a GET answers it, metadata.managedFields included: one entry a manager that owns a field."""
        if key not in self._values:
            group = self.api_versions[key[0]].partition("/")[0]
            raise Refusal(404, "NotFound", f'{key[0]}.{group} "{key[2]}" not found')
        value = self._values[key]
        entries: dict[str, Json] = {}
        for path, (manager, time) in self._owners[key].items():
            entry = {"manager": manager, "operation": "Update", "apiVersion": value["apiVersion"], "time": time, "fieldsType": "FieldsV1"}
            fields = entries.setdefault(manager, entry | {"fieldsV1": {}})["fieldsV1"]
            for name in path:
                fields = fields.setdefault(f"f:{name}", {})
        return value | {"metadata": value["metadata"] | {"managedFields": list(entries.values())}}

    def scale(self, key: Key) -> Json:
        """The scale subresource of the object: its count, and the selector of its pods as text."""
        if key[0] not in SCALED:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        value = self.shown(key)
        labels = value["spec"].get("selector", {}).get("matchLabels", {})
        replicas = value["spec"].get("replicas", 1)
        return {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {name: value["metadata"][name] for name in ("name", "namespace", "resourceVersion")},
            "spec": {"replicas": replicas} if replicas else {},
            "status": {"replicas": replicas, "selector": ",".join(f"{name}={text}" for name, text in labels.items())},
        }

    def listed(self, plural: str, namespace: str | None, selector: str) -> list[Json]:
        """The objects of a kind, of one namespace or all, that a label selector of the forms k=v, k!=v, k and !k takes."""
        keys = sorted(key for key in self._values if key[0] == plural and namespace in {None, key[1]})
        shown = [self.shown(key) for key in keys]
        return [value for value in shown if _selected(value["metadata"].get("labels", {}), selector)]

    def _check(self, name: str, spec: Json) -> None:
        low, high = spec.get("minReplicas", 1), spec["maxReplicas"]
        if low < self.least:
            fault = f"spec.minReplicas: Invalid value: {low}: must be greater than or equal to {self.least}"
        elif high < low:
            fault = f"spec.maxReplicas: Invalid value: {high}: must be greater than or equal to `minReplicas`"
        else:
            return
        raise Refusal(422, "Invalid", f'HorizontalPodAutoscaler.autoscaling "{name}" is invalid: {fault}')

    def _own(self, key: Key, manager: str, before: Json, after: Json) -> None:
        """Whoever changed a leaf of spec, or an annotation, owns it from now on."""
        time = (_EPOCH + timedelta(seconds=self._version)).isoformat().replace("+00:00", "Z")
        old, new = (dict(leaf for root in _OWNED for leaf in _leaves(_at(value, root), root)) for value in (before, after))
        self._owners[key].update({path: (manager, time) for path, leaf in new.items() if path not in old or old[path] != leaf})


def _selected(labels: dict[str, str], selector: str) -> bool:
    for term in filter(None, selector.split(",")):
        if " " in term.strip():
            raise Refusal(400, "BadRequest", f"unable to parse requirement: found '{term}'")
        key, unequal, value = term.strip().partition("!=")
        if not unequal:
            key, _, value = term.strip().partition("=")
        if term.startswith("!"):
            taken = key[1:] not in labels
        elif "=" in term:
            taken = (labels.get(key) == value) != bool(unequal)
        else:
            taken = key in labels
        if not taken:
            return False
    return True


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        value = value.get(name) or {}
    return value


def _leaves(value: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, part in value.items():
        if isinstance(part, dict):
            yield from _leaves(part, (*path, name))
        else:
            yield (*path, name), part


def _merged(value: Json, patch: Json) -> Json:
    """RFC 7386: null deletes, objects merge, everything else replaces. `resourceVersion` is a precondition, no field."""
    merged = {key: old for key, old in value.items() if key not in patch or patch[key] is not None}
    for key, new in patch.items():
        if isinstance(new, dict):
            merged[key] = _merged(merged.get(key, {}), new)
        elif new is not None and key != "resourceVersion":
            merged[key] = new
    return merged

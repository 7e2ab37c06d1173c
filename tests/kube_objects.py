"""What the API server double keeps: objects with resourceVersion and managedFields, changed by JSON merge patches only."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str, str]
"""Plural, namespace, name."""

HPAS = "horizontalpodautoscalers"
API_VERSIONS = {HPAS: "autoscaling/v2", "deployments": "apps/v1", "statefulsets": "apps/v1", "pods": "v1", "nodes": "v1"}
API_VERSIONS |= {"scaledobjects": "keda.sh/v1alpha1"}
KINDS = {HPAS: "HorizontalPodAutoscaler", "deployments": "Deployment", "statefulsets": "StatefulSet", "pods": "Pod", "nodes": "Node"}
KINDS |= {"scaledobjects": "ScaledObject"}
API_VERSIONS |= {"poddisruptionbudgets": "policy/v1", "priorityclasses": "scheduling.k8s.io/v1"}
KINDS |= {"poddisruptionbudgets": "PodDisruptionBudget", "priorityclasses": "PriorityClass"}
API_VERSIONS |= {"leaderworkersets": "leaderworkerset.x-k8s.io/v1", "rollouts": "argoproj.io/v1alpha1"}
KINDS |= {"leaderworkersets": "LeaderWorkerSet", "rollouts": "Rollout"}
SCALED = ("deployments", "statefulsets", "leaderworkersets", "rollouts")

_OWNED = ("minReplicas", "maxReplicas", "replicas")
_EPOCH = datetime(2024, 5, 1, tzinfo=UTC)


class Refusal(Exception):
    """The request ends with this status and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


@dataclass(slots=True, kw_only=True)
class Objects:
    """The objects of one server. `least`: the smallest minReplicas taken, 0 where the gate HPAScaleToZero is on."""

    least: int = 1
    _values: dict[Key, Json] = field(default_factory=dict)
    _owners: dict[Key, dict[str, tuple[str, str]]] = field(default_factory=dict)
    _version: int = 1_000

    def add(self, key: Key, *, metadata: Json, spec: Json, status: Json) -> None:
        """Create an object, as kubectl would."""
        plural, namespace, name = key
        self._values[key] = {
            "apiVersion": API_VERSIONS[plural],
            "kind": KINDS[plural],
            "metadata": {"name": name, "namespace": namespace, **metadata},
            "spec": spec,
            "status": status,
        }
        self._owners[key] = {}
        self.touch(key)
        self._own(key, "kubectl-create", [name for name in _OWNED if name in spec])

    def delete(self, key: Key) -> None:
        """Delete an object."""
        del self._values[key]

    def touch(self, key: Key) -> None:
        """Give the object a new resourceVersion, as every write does, one of status too."""
        self._version += 1
        self._values[key]["metadata"]["resourceVersion"] = str(self._version)

    def merge(self, key: Key, patch: Json, manager: str) -> None:
        """Carry out a merge patch, or raise Refusal: 409 where it names another resourceVersion, 422 where the result is invalid."""
        before = self._values[key]
        told = patch.get("metadata", {}).get("resourceVersion")
        if told is not None and told != before["metadata"]["resourceVersion"]:
            message = "the object has been modified; please apply your changes to the latest version and try again"
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on {key[0]} "{key[2]}": {message}')
        after = _merged(before, patch)
        if key[0] == HPAS:
            self._check(key[2], after["spec"])
        if after != before:
            self._values[key] = after
            self.touch(key)
            self._own(key, manager, [name for name in _OWNED if after["spec"].get(name) != before["spec"].get(name)])

    def shown(self, key: Key) -> Json:
        """The object as a GET answers it, metadata.managedFields included: one entry a manager that owns a field."""
        if key not in self._values:
            group = API_VERSIONS[key[0]].partition("/")[0]
            raise Refusal(404, "NotFound", f'{key[0]}.{group} "{key[2]}" not found')
        value = self._values[key]
        entries: dict[str, Json] = {}
        for name, (manager, time) in self._owners[key].items():
            entry = {"manager": manager, "operation": "Update", "apiVersion": value["apiVersion"], "time": time, "fieldsType": "FieldsV1"}
            entries.setdefault(manager, entry | {"fieldsV1": {"f:spec": {}}})["fieldsV1"]["f:spec"][f"f:{name}"] = {}
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

    def _own(self, key: Key, manager: str, names: list[str]) -> None:
        time = (_EPOCH + timedelta(seconds=self._version)).isoformat().replace("+00:00", "Z")
        self._owners[key].update(dict.fromkeys(names, (manager, time)))


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


def _merged(value: Json, patch: Json) -> Json:
    """RFC 7386: null deletes, objects merge, everything else replaces. `resourceVersion` is a precondition, no field."""
    merged = {key: old for key, old in value.items() if key not in patch or patch[key] is not None}
    for key, new in patch.items():
        if isinstance(new, dict):
            merged[key] = _merged(merged.get(key, {}), new)
        elif new is not None and key != "resourceVersion":
            merged[key] = new
    return merged

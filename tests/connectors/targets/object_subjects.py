"""Targets that are one number field of one Kubernetes object. Found at 2 of at most 20 replicas, over a Deployment of 3 that are ready."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest
from pydantic import TypeAdapter

from connectors.kube.paths import Path
from connectors.targets.access import Checkable
from connectors.targets.registry import Target, TargetConfig, open_target
from forecaster.errors import TargetRefused
from tests.connectors.targets.subjects import CEILING, FOUND, NOW
from tests.kube_api import KubeApi
from tests.kube_objects import Json

NAMESPACE = "inference"
CONFIGS: TypeAdapter[TargetConfig] = TypeAdapter(TargetConfig)
PREFIX = "forecaster/"
_KNATIVE = "autoscaling.knative.dev/"
_MIN_SCALE: Path = ("metadata", "annotations", f"{_KNATIVE}min-scale")
_MAX_SCALE: Path = ("metadata", "annotations", f"{_KNATIVE}max-scale")
_DISALLOWED = ["forecaster/original", "forecaster/floor", "forecaster/valid-until"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Where the floor of a kind stands, and what its configuration says beside namespace, name and cluster.

    prefix: what our annotations begin with. carrier: the name of the object that carries the floor.
    """

    plural: str
    floor: Path
    ceiling: Path | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = PREFIX
    carrier: str = "{name}"


_REVISION = Kind(plural="revisions", floor=_MIN_SCALE, ceiling=_MAX_SCALE, prefix=f"{_KNATIVE}forecaster-", carrier="{name}-00001")
KINDS: Mapping[str, Kind] = {
    "keda-scaledobject": Kind(plural="scaledobjects", floor=("spec", "minReplicaCount"), ceiling=("spec", "maxReplicaCount")),
    "kserve": Kind(plural="inferenceservices", floor=("spec", "predictor", "minReplicas"), ceiling=("spec", "predictor", "maxReplicas")),
    "kserve-serverless": replace(_REVISION, carrier="{name}-predictor-00001"),
    "knative": _REVISION,
    "aibrix": Kind(plural="podautoscalers", floor=("spec", "minReplicas"), ceiling=("spec", "maxReplicas")),
    "dynamo": Kind(plural="dynamographdeploymentscalingadapters", floor=("spec", "replicas"), ceiling=None, settings={"lower": True}),
    "dynamo-service": Kind(
        plural="dynamographdeployments",
        floor=("spec", "services", "decode", "replicas"),
        ceiling=None,
        settings={"service": "decode", "lower": True},
    ),
    "capacity-buffer": Kind(plural="capacitybuffers", floor=("spec", "replicas"), ceiling=None),
    "kubernetes-field": Kind(
        plural="scaledobjects",
        floor=("spec", "minReplicaCount"),
        ceiling=("spec", "maxReplicaCount"),
        settings={
            "api_version": "keda.sh/v1alpha1",
            "kind": "ScaledObject",
            "field": "spec.minReplicaCount",
            "ceiling_field": "spec.maxReplicaCount",
        },
    ),
}
"""By the type of target, and -VARIANT where one type has two objects."""
_TYPES = {"kserve-serverless": "kserve", "dynamo-service": "dynamo"}
UNBOUNDED = frozenset(kind for kind, where in KINDS.items() if where.ceiling is None)
"""The kinds whose objects have no ceiling of their own."""


def define_kinds(api: KubeApi) -> None:
    """The kinds of other projects, on the double of the API server, and what their controllers' configuration says."""
    for plural, kind, api_version in (
        ("inferenceservices", "InferenceService", "serving.kserve.io/v1beta1"),
        ("revisions", "Revision", "serving.knative.dev/v1"),
        ("services", "Service", "serving.knative.dev/v1"),
        ("podautoscalers", "PodAutoscaler", "autoscaling.aibrix.ai/v1alpha1"),
        ("dynamographdeployments", "DynamoGraphDeployment", "nvidia.com/v1alpha1"),
        ("dynamographdeploymentscalingadapters", "DynamoGraphDeploymentScalingAdapter", "nvidia.com/v1alpha1"),
        ("capacitybuffers", "CapacityBuffer", "autoscaling.x-k8s.io/v1beta1"),
        ("customresourcedefinitions", "CustomResourceDefinition", "apiextensions.k8s.io/v1"),
    ):
        api.define(plural, kind=kind, api_version=api_version)
    install_knative(api, "1.21.0")
    configure_kserve(api, _DISALLOWED)


def install_knative(api: KubeApi, version: str) -> None:
    """The release of Knative, as its CustomResourceDefinitions are labelled."""
    labels = {"app.kubernetes.io/version": version} if version else {}
    api.put("customresourcedefinitions", "", "revisions.serving.knative.dev", metadata={"labels": labels})


def configure_kserve(api: KubeApi, disallowed: list[str]) -> None:
    """The annotations that KServe hands on to no pod."""
    section = json.dumps({"serviceAnnotationDisallowedList": disallowed})
    api.put("configmaps", "kserve", "inferenceservice-config", metadata={}, data={"inferenceService": section})


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSubject:
    """An object of a kind of KINDS on the double of the API server."""

    api: KubeApi
    kind: str
    name: str = field(default_factory=lambda: f"llm-{uuid4().hex[:8]}")
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        define_kinds(self.api)
        getattr(self, f"_put_{self.kind.replace('-', '_')}")()

    @property
    def where(self) -> Kind:
        return KINDS[self.kind]

    @property
    def carrier(self) -> str:
        """The name of the object that carries the floor."""
        return self.where.carrier.format(name=self.name)

    def open(self) -> Target:
        common = {"type": _TYPES.get(self.kind, self.kind), "namespace": NAMESPACE, "name": self.name, "cluster": {"server": self.api.url}}
        return open_target(CONFIGS.validate_python({**common, **self.where.settings, **self.settings}))

    def look(self) -> Json:
        """The object that carries the floor."""
        return self.api.look(self.where.plural, NAMESPACE, self.carrier)

    def change(self, patch: Json, *, manager: str = "kubectl-edit") -> None:
        """A merge patch of the object that carries the floor, by somebody else."""
        self.api.change(self.where.plural, NAMESPACE, self.carrier, patch, manager=manager)

    def floor(self) -> int:
        value: Any = self.look()
        for key in self.where.floor:
            value = value[key]
        return int(value)

    def annotations(self) -> dict[str, str]:
        """Every annotation as it stands."""
        found: dict[str, str] = self.look()["metadata"].get("annotations") or {}
        return found

    def marks(self) -> dict[str, str]:
        prefix = self.where.prefix
        return {f"{PREFIX}{key.removeprefix(prefix)}": text for key, text in self.annotations().items() if key.startswith(prefix)}

    def writes(self) -> int:
        return sum(f"/{self.name}" in write.path for write in self.api.writes)

    def meddle(self, floor: int) -> None:
        self.change(self._patch(self.where.floor, floor))

    def limit(self, ceiling: int) -> None:
        if self.where.ceiling is not None:
            self.change(self._patch(self.where.ceiling, ceiling))

    def mark(self, key: str, text: str) -> None:
        self.change({"metadata": {"annotations": {f"{self.where.prefix}{key.removeprefix(PREFIX)}": text}}})

    def remove(self) -> None:
        self.api.remove(self.where.plural, NAMESPACE, self.carrier)

    def serve(self, name: str, *, replicas: int = 3, ready: int = 3) -> None:
        """The Deployment behind it."""
        self.api.put("deployments", NAMESPACE, name, metadata={}, spec={"replicas": replicas}, status={"readyReplicas": ready})

    def _patch(self, path: Path, count: int) -> Json:
        patch: Any = str(count) if "annotations" in path else count
        for key in reversed(path):
            patch = {key: patch}
        found: Json = patch
        return found

    def _put(self, spec: Json, status: Json | None = None, plural: str | None = None) -> None:
        self.api.put(plural or self.where.plural, NAMESPACE, self.name, metadata={}, spec=spec, status=status)

    def _put_keda_scaledobject(self) -> None:
        self.serve(self.name)
        self._put({"scaleTargetRef": {"name": self.name}, "minReplicaCount": FOUND, "maxReplicaCount": CEILING})

    _put_kubernetes_field = _put_keda_scaledobject

    def _put_aibrix(self) -> None:
        self.serve(self.name)
        scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name}
        self._put({"scaleTargetRef": scaled, "minReplicas": FOUND, "maxReplicas": CEILING, "scalingStrategy": "APA"})

    def _put_kserve(self) -> None:
        self.serve(f"{self.name}-predictor")
        self._put({"predictor": {"minReplicas": FOUND, "maxReplicas": CEILING}}, {"deploymentMode": "Standard"})

    def _put_kserve_serverless(self) -> None:
        traffic = [{"revisionName": self.carrier, "percent": 100, "latestRevision": True}]
        predictor = {"latestReadyRevision": self.carrier, "traffic": traffic}
        status = {"deploymentMode": "Knative", "components": {"predictor": predictor}}
        self._put({"predictor": {"minReplicas": FOUND, "maxReplicas": CEILING}}, status, "inferenceservices")
        self.put_revision(self.carrier)

    def _put_knative(self) -> None:
        self.route(self.carrier)
        self.put_revision(self.carrier)

    def put_revision(self, name: str) -> None:
        """A Revision and its Deployment."""
        self.serve(f"{name}-deployment")
        annotations = {_MIN_SCALE[-1]: str(FOUND), _MAX_SCALE[-1]: str(CEILING)}
        self.api.put("revisions", NAMESPACE, name, metadata={"annotations": annotations})

    def route(self, *revisions: str, percents: tuple[int, ...] = (100,)) -> None:
        """Traffic of the Knative Service goes to these Revisions."""
        traffic = [{"revisionName": name, "percent": share} for name, share in zip(revisions, percents, strict=True)]
        self._put({}, {"latestReadyRevisionName": revisions[-1], "traffic": traffic}, "services")

    def _put_dynamo(self) -> None:
        self._put({"replicas": FOUND, "dgdRef": {"name": f"{self.name}-graph", "serviceName": "decode"}}, {"replicas": FOUND})
        self.put_graph(f"{self.name}-graph")

    def _put_dynamo_service(self) -> None:
        self.put_graph(self.name)

    def put_graph(self, name: str, **services: Json) -> None:
        """A graph of a frontend and decode workers."""
        told = {"decode": {"replicas": 3, "readyReplicas": 3}}
        spec = {
            "services": {"Frontend": {"componentType": "frontend"}, "decode": {"componentType": "worker", "replicas": FOUND}, **services}
        }
        self.api.put("dynamographdeployments", NAMESPACE, name, metadata={}, spec=spec, status={"services": told})

    def _put_capacity_buffer(self) -> None:
        self.serve(self.name, replicas=0, ready=0)
        scaled = {"apiGroup": "apps", "kind": "Deployment", "name": self.name}
        self._put({"replicas": FOUND, "scalableRef": scaled}, {"replicas": FOUND})


def refused(subject: ObjectSubject, told: str) -> None:
    """The object cannot be a target as it is, and nothing was written to it."""
    with pytest.raises(TargetRefused, match=told):
        subject.open().observe(NOW)
    assert subject.writes() == 0


def checked(subject: ObjectSubject) -> Checkable:
    """The target as `check` has it."""
    target = subject.open()
    assert isinstance(target, Checkable)
    return target

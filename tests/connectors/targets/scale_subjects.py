"""Targets over objects that are scaled by their scale subresource. Found at 2 replicas."""

from dataclasses import dataclass, field
from uuid import uuid4

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_scale import KubernetesScaleConfig
from connectors.targets.placeholder_pods import PlaceholderPodsConfig
from connectors.targets.registry import Target, open_target
from tests.connectors.targets.subjects import FOUND
from tests.kube_api import KubeApi

APP = {"app": "llm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSubject:
    """A Deployment of 2 replicas, both ready, that may be lowered, on the double of the API server. Without pods nothing drains."""

    api: KubeApi
    name: str = field(default_factory=lambda: f"llm-{uuid4().hex[:8]}")
    plural: str = "deployments"
    kind: str = "Deployment"
    lower: bool = True
    drain_s: float = 0.0

    def __post_init__(self) -> None:
        spec = {"replicas": FOUND, "selector": {"matchLabels": APP | {"name": self.name}}}
        self.api.put(self.plural, "inference", self.name, metadata={}, spec=spec, status={"readyReplicas": FOUND})

    def open(self) -> Target:
        return open_target(
            KubernetesScaleConfig(
                type="kubernetes-scale",
                kind=self.kind,
                namespace="inference",
                name=self.name,
                lower=self.lower,
                drain_s=self.drain_s,
                cluster=KubeConnection(server=self.api.url),
            )
        )

    def floor(self) -> int:
        replicas: int = self.api.look(self.plural, "inference", self.name)["spec"]["replicas"]
        return replicas

    def marks(self) -> dict[str, str]:
        annotations = self.api.look(self.plural, "inference", self.name)["metadata"].get("annotations", {})
        return {key: text for key, text in annotations.items() if key.startswith("forecaster/")}

    def writes(self) -> int:
        return sum(f"/{self.name}" in write.path for write in self.api.writes)

    def meddle(self, floor: int) -> None:
        self.api.change(self.plural, "inference", self.name, {"spec": {"replicas": floor}})

    def limit(self, ceiling: int) -> None:
        """Nobody can: it has no ceiling."""

    def mark(self, key: str, text: str) -> None:
        self.api.change(self.plural, "inference", self.name, {"metadata": {"annotations": {key: text}}})

    def remove(self) -> None:
        self.api.remove(self.plural, "inference", self.name)

    def add_pod(self, name: str, *, phase: str = "Running", deletion: str | None = None, labels: dict[str, str] | None = None) -> None:
        """A pod of it; `deletion`: until when it has time to finish, after it was told to go."""
        metadata: dict[str, object] = {"labels": APP | {"name": self.name} | (labels or {}), "uid": name}
        if deletion is not None:
            metadata["deletionTimestamp"] = deletion
        self.api.put("pods", "inference", f"{self.name}-{name}", metadata=metadata, status={"phase": phase})

    def add_budget(self, *, allowed: int, labels: dict[str, str] | None = None) -> None:
        """A PodDisruptionBudget over its pods, or those of other labels."""
        selector = {"matchLabels": {"name": self.name} if labels is None else labels}
        self.api.put(
            "poddisruptionbudgets",
            "inference",
            f"{self.name}-{uuid4().hex[:4]}",
            metadata={"generation": 1},
            spec={"selector": selector},
            status={"disruptionsAllowed": allowed, "observedGeneration": 1},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceholderSubject:
    """A Deployment of placeholders, 2 of which hold nodes open, beside a Deployment that serves, of no replicas unless told otherwise."""

    api: KubeApi
    name: str = field(default_factory=lambda: f"held-{uuid4().hex[:8]}")
    real: int = 0
    found: int = FOUND
    pods_per_replica: int = 1
    priority_class: str | None = "placeholder"

    def __post_init__(self) -> None:
        self.serve(self.real, placed=self.real)
        template = {"spec": {"priorityClassName": self.priority_class} if self.priority_class else {}}
        spec = {"replicas": self.found, "selector": {"matchLabels": {"app": self.name}}, "template": template}
        self.api.put("deployments", "inference", self.name, metadata={}, spec=spec, status={"readyReplicas": self.found})

    @property
    def workload(self) -> str:
        """The name of the Deployment that serves."""
        return f"{self.name}-llm"

    def open(self) -> Target:
        written = {
            "type": "placeholder-pods",
            "namespace": "inference",
            "name": self.name,
            "for": {"kind": "Deployment", "name": self.workload},
            "pods_per_replica": self.pods_per_replica,
            "cluster": {"server": self.api.url},
        }
        return open_target(PlaceholderPodsConfig.model_validate(written))

    def placeholders(self) -> int:
        """The placeholders asked for."""
        replicas: int = self.api.look("deployments", "inference", self.name)["spec"]["replicas"]
        return replicas

    def serve(self, replicas: int, *, placed: int) -> None:
        """The workload's own autoscaler asks for so many replicas, and so many have a node."""
        labels = {"app": self.workload}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}}
        self.api.put("deployments", "inference", self.workload, metadata={}, spec=spec)
        for number in range(placed):
            metadata = {"labels": labels, "uid": f"{self.workload}-{number}"}
            node = {"nodeName": f"gpu-{number}"}
            self.api.put("pods", "inference", f"{self.workload}-{number}", metadata=metadata, spec=node, status={"phase": "Running"})

    def floor(self) -> int:
        real: int = self.api.look("deployments", "inference", self.workload)["spec"]["replicas"]
        return self.placeholders() // self.pods_per_replica + real

    def marks(self) -> dict[str, str]:
        annotations = self.api.look("deployments", "inference", self.name)["metadata"].get("annotations", {})
        return {key: text for key, text in annotations.items() if key.startswith("forecaster/")}

    def writes(self) -> int:
        return sum(f"/{self.name}" in write.path for write in self.api.writes)

    def meddle(self, floor: int) -> None:
        self.api.change("deployments", "inference", self.name, {"spec": {"replicas": floor * self.pods_per_replica}})

    def limit(self, ceiling: int) -> None:
        """Nobody can: it has no ceiling."""

    def mark(self, key: str, text: str) -> None:
        self.api.change("deployments", "inference", self.name, {"metadata": {"annotations": {key: text}}})

    def remove(self) -> None:
        self.api.remove("deployments", "inference", self.name)

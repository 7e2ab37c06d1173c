"""A model server as a platform team runs it, a Deployment and a HPA on a metric of its own, and Forecaster's target over it."""

import math
from collections.abc import Callable
from typing import TypeVar

import yaml

from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import Target, open_target
from forecaster.decision import Applied
from forecaster.errors import TargetConflict
from forecaster.ports import ScaleTarget
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.connectors.targets import subjects

Answer = TypeVar("Answer")

_CYCLES = 20

METRIC = "requests"
"""The external metric that the HPA scales on."""


def deployment(name: str = "llm", *, replicas: int | None = 1) -> Json:
    """A Deployment whose pods never run."""
    labels = {"app": name}
    pod = {"terminationGracePeriodSeconds": 0, "containers": [{"name": "server", "image": "example.test/llm:1"}]}
    spec: Json = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": spec | ({} if replicas is None else {"replicas": replicas}),
    }


def hpa(
    name: str = "llm", *, scales: str = "apps/v1/Deployment", min_replicas: int = 1, max_replicas: int = 20, carries: float = 100
) -> Json:
    """A HPA over it. scales: API version and kind. carries: how much of the metric a replica is to get; nan = it scales on CPU."""
    api, _, kind = scales.rpartition("/")
    external = {"metric": {"name": METRIC}, "target": {"type": "AverageValue", "averageValue": str(carries)}}
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": api, "kind": kind, "name": name},
            "minReplicas": min_replicas,
            "maxReplicas": max_replicas,
            "metrics": [{"type": "Resource", "resource": cpu} if math.isnan(carries) else {"type": "External", "external": external}],
        },
    }


def apply(plane: ControlPlane, namespace: str, *objects: Json, manager: str = "platform-team") -> None:
    """The objects as they are to stand in the namespace, written by a field manager."""
    plane.apply(yaml.safe_dump_all(objects), manager=manager, namespace=namespace)


def ready(plane: ControlPlane, namespace: str, name: str = "llm", *, kind: str = "deployment") -> int:
    """How many replicas are ready."""
    return int(plane.value(kind, namespace, name, ".status.readyReplicas") or 0)


def eventually_ready(plane: ControlPlane, namespace: str, count: int, name: str = "llm", *, kind: str = "deployment") -> None:
    """Waits until so many replicas are ready."""
    eventually(lambda: ready(plane, namespace, name, kind=kind) == count)


def target_of(plane: ControlPlane, namespace: str, *, name: str = "llm", token: str | None = None) -> Target:
    """A target over the HPA, as a new process opens it."""
    return open_target(KubernetesHpaConfig(type="kubernetes-hpa", namespace=namespace, name=name, cluster=plane.connection(token)))


def observed_again(cycle: Callable[[], Answer]) -> Answer:
    """A cycle, again where somebody wrote between its read and its write: the HPA controller may do so at any time."""
    for _ in range(_CYCLES):
        try:
            return cycle()
        except TargetConflict:
            continue
    return cycle()


def stand(target: ScaleTarget, floor: int) -> Applied:
    """Make a floor stand."""
    return observed_again(lambda: subjects.stand(target, floor))


def let_go(target: ScaleTarget) -> Applied:
    """Put the original back."""
    return observed_again(lambda: subjects.let_go(target))


def hpa_of(plane: ControlPlane, namespace: str, name: str = "llm") -> Json:
    """The HPA as the API server has it, with the book of who wrote what."""
    found = plane.read(f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/{name}")
    assert found is not None, f"no HPA {namespace}/{name}"
    return found


def our_marks(plane: ControlPlane, namespace: str) -> dict[str, str]:
    """Our texts on the HPA."""
    annotations = hpa_of(plane, namespace)["metadata"].get("annotations", {})
    return {key: text for key, text in annotations.items() if key.startswith("forecaster/")}


def min_replicas(plane: ControlPlane, namespace: str) -> int:
    """The floor on the HPA."""
    value: int = hpa_of(plane, namespace)["spec"]["minReplicas"]
    return value

"""A model server as a platform team runs it: a Deployment, and a HPA on a metric of its own."""

import yaml

from tests.cluster.control_plane import ControlPlane, Json, eventually

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
    name: str = "llm",
    *,
    kind: str = "Deployment",
    api: str = "apps/v1",
    min_replicas: int = 1,
    max_replicas: int = 20,
    carries: float = 100,
) -> Json:
    """A HPA over it. carries: how much of the metric one replica is to get."""
    target = {"type": "AverageValue", "averageValue": str(carries)}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": api, "kind": kind, "name": name},
            "minReplicas": min_replicas,
            "maxReplicas": max_replicas,
            "metrics": [{"type": "External", "external": {"metric": {"name": METRIC}, "target": target}}],
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

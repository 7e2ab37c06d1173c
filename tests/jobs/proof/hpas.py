"""HPAs as clusters hold them, and the way to them."""

from pathlib import Path
from typing import Any

import yaml

from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from tests.kube_api import KubeApi
from tests.kube_objects import HPAS


def pods(name: str, average: str, **labels: str) -> dict[str, Any]:
    """A metric of each pod."""
    metric: dict[str, Any] = {"name": name, **({"selector": {"matchLabels": labels}} if labels else {})}
    return {"type": "Pods", "pods": {"metric": metric, "target": {"type": "AverageValue", "averageValue": average}}}


def cpu(percent: int) -> dict[str, Any]:
    """The metric that most HPAs have."""
    return {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}}


def external(name: str, average: str) -> dict[str, Any]:
    """A metric of something outside of the cluster."""
    return {"type": "External", "external": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": average}}}


def add(api: KubeApi, *metrics: dict[str, Any], name: str = "chat", labels: dict[str, str] | None = None, **spec: Any) -> None:
    """An HPA of namespace inference over the Deployment chat."""
    scales = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    whole = {"minReplicas": 2, "maxReplicas": 40, "scaleTargetRef": scales, "metrics": list(metrics)} | spec
    api.put(HPAS, "inference", name, metadata={"labels": labels or {}}, spec=whole)


def cluster(api: KubeApi) -> Cluster:
    """The way to it."""
    return Cluster(KubeConnection(server=api.url))


def kubeconfig(path: Path, server: str) -> Path:
    """The file of somebody who is logged in."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "somebody", "user": {"token": "t"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "somebody"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path

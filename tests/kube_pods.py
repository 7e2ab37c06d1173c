"""Pods and nodes on the double of the API server, as they look at one moment of their way from request to ready."""

from datetime import datetime, timedelta

from tests.kube_api import KubeApi
from tests.kube_objects import Json


def stamp(instant: datetime) -> str:
    """As the API server writes instants."""
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")


def put_workload(api: KubeApi, namespace: str, name: str, *, replicas: int, ready: int) -> None:
    """A Deployment that selects the pods of `put_pod`."""
    spec: Json = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
    api.put("deployments", namespace, name, metadata={}, spec=spec, status={"readyReplicas": ready})


def put_node(api: KubeApi, name: str, created: datetime) -> None:
    """A node that was created at an instant."""
    api.put("nodes", "", name, metadata={"creationTimestamp": stamp(created)})


def put_pod(
    api: KubeApi,
    namespace: str,
    name: str,
    created: datetime,
    *,
    app: str,
    now: datetime,
    scheduled_s: float = 20,
    pulled_s: float = 80,
    ready_s: float = 300,
    node: str = "gpu-1",
    revision: str = "1",
    restarts: int = 0,
    deleted: bool = False,
    phase: str = "Running",
) -> None:
    """A pod as it stands at `now`: what comes later than that has not happened yet."""

    def at(after_s: float) -> str | None:
        instant = created + timedelta(seconds=after_s)
        return stamp(instant) if instant <= now else None

    conditions = [
        {"type": kind, "status": "True" if at(after_s) else "False", "lastTransitionTime": at(after_s) or stamp(created)}
        for kind, after_s in (("PodScheduled", scheduled_s), ("Ready", ready_s))
    ]
    state = {"running": {"startedAt": at(pulled_s)}} if at(pulled_s) else {"waiting": {"reason": "ContainerCreating"}}
    metadata: Json = {"uid": f"uid-{name}", "creationTimestamp": stamp(created), "labels": {"app": app, "pod-template-hash": revision}}
    api.put(
        "pods",
        namespace,
        name,
        metadata=metadata | ({"deletionTimestamp": stamp(now)} if deleted else {}),
        spec={"nodeName": node} if at(scheduled_s) else {},
        status={"phase": phase, "conditions": conditions, "containerStatuses": [{"restartCount": restarts, "state": state}]},
    )

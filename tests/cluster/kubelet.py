"""Scheduler, node provisioner and kubelet in one thread: pods find nodes, become ready after a cold start, and go when they are told to.

Nothing runs. What a pod goes through is decided by the pace of its namespace, and stands in its status as a real kubelet writes it.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx2

from forecaster.units import iso
from jobs.clock import SystemClock
from tests.cluster.control_plane import ControlPlane

Json: TypeAlias = dict[str, Any]

_TICK_S = 0.1
_WARM = "warm"
_STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the pods of a namespace come up.

    cold_start_s: from having a node to ready. room: so many pods find a node that is there, None = all; a pod of higher priority takes
    the place of a lower one. node_start_s: the next ones get a new node each after so long, None = they stay Pending. stop_s: from being
    told to go until gone.
    """

    cold_start_s: float = 0.0
    room: int | None = None
    node_start_s: float | None = None
    stop_s: float = 0.0


class Kubelet:
    """Keeps every pod of the cluster going. `paces` may be changed at any time; a namespace without one is as quick as it gets."""

    def __init__(self, http: httpx2.Client) -> None:
        self.paces: dict[str, Pace] = {}
        self._http = http
        self._since: dict[tuple[str, str], float] = {}

    def tick(self) -> None:
        """One look at all pods, and what is due for each."""
        pods: list[Json] = self._http.get("/api/v1/pods").raise_for_status().json()["items"]
        for pod in pods:
            metadata = pod["metadata"]
            pace = self.paces.get(metadata["namespace"], Pace())
            if "deletionTimestamp" in metadata:
                self._stop(pod, pace)
            elif not pod["spec"].get("nodeName"):
                self._schedule(pod, pace, [other for other in pods if other["metadata"]["namespace"] == metadata["namespace"]])
            elif not _is_ready(pod) and self._passed_s(pod, "node") >= pace.cold_start_s:
                self._http.patch(f"{_path(pod)}/status", json={"status": self._ready(pod)}, headers=_STRATEGIC)

    def add_node(self, name: str, labels: dict[str, str] | None = None) -> None:
        """A node that is ready."""
        size = {"cpu": "64", "memory": "512Gi", "pods": "110"}
        status = {"capacity": size, "allocatable": size, "conditions": [_condition("Ready")]}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "status": status}
        self._http.post("/api/v1/nodes", json=node)

    def _schedule(self, pod: Json, pace: Pace, beside: list[Json]) -> None:
        on_warm = [other for other in beside if other["spec"].get("nodeName") == _WARM]
        if pace.room is None or len(on_warm) < pace.room:
            self._bind(pod, _WARM)
            pod["spec"]["nodeName"] = _WARM  # the next in this tick counts it
            return
        lower = [other for other in on_warm if _priority(other) < _priority(pod)]
        if lower:
            self._http.request("DELETE", _path(min(lower, key=_priority)), json={"gracePeriodSeconds": 0})
            return  # the place is free at the next tick
        if pace.node_start_s is not None and self._passed_s(pod, "asked") >= pace.node_start_s:
            self._bind(pod, self._node_of_its_own(pod))
        elif not pod["status"].get("conditions"):
            waits = _condition("PodScheduled", status="False") | {"reason": "Unschedulable", "message": "0/1 nodes are available"}
            self._http.patch(f"{_path(pod)}/status", json={"status": {"conditions": [waits]}}, headers=_STRATEGIC)

    def _node_of_its_own(self, pod: Json) -> str:
        name = f"own-{pod['metadata']['uid'][:13]}"
        self.add_node(name)
        return name

    def _bind(self, pod: Json, node: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        self._http.post(f"{_path(pod)}/binding", json={"metadata": {"name": pod["metadata"]["name"]}, "target": target})

    def _stop(self, pod: Json, pace: Pace) -> None:
        if self._passed_s(pod, "stop") >= pace.stop_s:
            self._http.request("DELETE", _path(pod), json={"gracePeriodSeconds": 0})

    def _passed_s(self, pod: Json, what: str) -> float:
        """Seconds since this was first asked of the pod."""
        now = time.monotonic()
        return now - self._since.setdefault((pod["metadata"]["uid"], what), now)

    def _ready(self, pod: Json) -> Json:
        now = iso(SystemClock().now())
        runs = [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": container["image"],
                "ready": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"]["containers"]
        ]
        conditions = [_condition(name) for name in ("Initialized", "ContainersReady", "Ready")]
        return {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": runs}


@contextmanager
def kubelet_of(plane: ControlPlane) -> Iterator[Kubelet]:
    """A kubelet at work, with one node that is there from the beginning."""
    ended = threading.Event()
    with plane.http() as http:
        kubelet = Kubelet(http)
        kubelet.add_node(_WARM)
        thread = threading.Thread(target=_run, args=(kubelet, ended), daemon=True)
        thread.start()
        try:
            yield kubelet
        finally:
            ended.set()
            thread.join()


def _run(kubelet: Kubelet, ended: threading.Event) -> None:
    while not ended.wait(_TICK_S):
        with suppress(httpx2.HTTPError):  # a busy API server is asked again at the next tick
            kubelet.tick()


def _path(pod: Json) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _priority(pod: Json) -> int:
    value: int = pod["spec"].get("priority", 0)
    return value


def _is_ready(pod: Json) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions") or ())


def _condition(name: str, *, status: str = "True") -> Json:
    return {"type": name, "status": status, "lastTransitionTime": iso(SystemClock().now())}

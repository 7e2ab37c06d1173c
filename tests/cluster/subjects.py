"""Objects on the real API server behind targets, as the contract suite asks for them. Found at 2 of at most 20 replicas.

A kind for each machine behind targets: one field of a spec, one annotation under marks of another name, and a count that is written apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from connectors.kube.connection import KubeConnection
from connectors.kube.paths import Path
from connectors.targets.knative import KnativeConfig
from connectors.targets.knative_revision import MARK_PREFIX, MAX_SCALE, MIN_SCALE
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.kubernetes_scale import KubernetesScaleConfig
from connectors.targets.marks import PREFIX
from connectors.targets.object_fields import patch_of
from connectors.targets.registry import Target, TargetConfig, open_target
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.llm import hpa
from tests.connectors.targets.subjects import CEILING, FOUND

LWS = "leaderworkerset.x-k8s.io/v1"
_MERGE = {"Content-Type": "application/merge-patch+json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RealSubject:
    """One object. path: where the API serves it. config: of namespace and name. floor_at, ceiling_at: where they stand in it.

    carrier: the name of the object that carries the floor, where it is not the one that is configured. prefix: what our marks begin with.
    settled: whether its controllers are done.
    """

    plane: ControlPlane
    http: httpx2.Client
    namespace: str
    name: str
    path: str
    config: Callable[[str, str, KubeConnection], TargetConfig]
    floor_at: Path
    ceiling_at: Path | None = None
    carrier: str | None = None
    prefix: str = PREFIX
    settled: Callable[[Json], bool] = lambda _: True

    def open(self) -> Target:
        self.settle()
        return open_target(self.config(self.namespace, self.name, self.plane.connection()))

    def floor(self) -> int:
        value: Any = self.body()
        for key in self.floor_at:
            value = value[key]
        return int(value)

    def marks(self) -> dict[str, str]:
        annotations = self.body()["metadata"].get("annotations", {})
        return {f"{PREFIX}{key.removeprefix(self.prefix)}": text for key, text in annotations.items() if key.startswith(self.prefix)}

    def writes(self) -> int:
        return self.plane.patches(self.namespace, self.carrier or self.name)

    def meddle(self, floor: int) -> None:
        self.edit(patch_of(self.floor_at, floor))
        self.settle()

    def limit(self, ceiling: int) -> None:
        if self.ceiling_at is not None:
            self.edit(patch_of(self.ceiling_at, ceiling))
            self.settle()

    def mark(self, key: str, text: str) -> None:
        self.edit({"metadata": {"annotations": {f"{self.prefix}{key.removeprefix(PREFIX)}": text}}})

    def remove(self) -> None:
        self.http.delete(self.path).raise_for_status()

    def body(self) -> Json:
        """The object as the API server has it."""
        value: Json = self.http.get(self.path).raise_for_status().json()
        return value

    def edit(self, patch: Json) -> None:
        """A merge patch by a person."""
        self.http.patch(self.path, params={"fieldManager": "kubectl-edit"}, json=patch, headers=_MERGE).raise_for_status()

    def settle(self) -> None:
        """Waits until the controllers have nothing more to write on the object."""
        eventually(self._is_settled)

    def _is_settled(self) -> bool:
        answer = self.http.get(self.path)
        return answer.status_code == httpx2.codes.NOT_FOUND or self.settled(answer.raise_for_status().json())


def hpa_subject(plane: ControlPlane, http: httpx2.Client, namespace: str, name: str) -> RealSubject:
    """A HPA that the real controller looks at and has nothing to say of: it measures nothing, and what it scales is at the ceiling."""
    _leader_worker_set(http, namespace, name, replicas=CEILING)
    served = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    made = hpa(name, scales=f"{LWS}/LeaderWorkerSet", min_replicas=FOUND, max_replicas=CEILING)
    http.post(served, params={"fieldManager": "platform-team"}, json=made).raise_for_status()
    return RealSubject(
        plane=plane,
        http=http,
        namespace=namespace,
        name=name,
        path=f"{served}/{name}",
        config=lambda namespace, name, cluster: KubernetesHpaConfig(type="kubernetes-hpa", namespace=namespace, name=name, cluster=cluster),
        floor_at=("spec", "minReplicas"),
        ceiling_at=("spec", "maxReplicas"),
        settled=_has_been_looked_at,
    )


def scale_subject(plane: ControlPlane, http: httpx2.Client, namespace: str, name: str) -> RealSubject:
    """A LeaderWorkerSet, of which no controller runs here: without pods nothing drains."""
    return RealSubject(
        plane=plane,
        http=http,
        namespace=namespace,
        name=name,
        path=_leader_worker_set(http, namespace, name, replicas=FOUND),
        config=lambda namespace, name, cluster: KubernetesScaleConfig(
            type="kubernetes-scale", kind="LeaderWorkerSet", namespace=namespace, name=name, lower=True, drain_s=0, cluster=cluster
        ),
        floor_at=("spec", "replicas"),
    )


def revision_subject(plane: ControlPlane, http: httpx2.Client, namespace: str, name: str) -> RealSubject:
    """The Revision of a Knative Service that all traffic goes to, without its Deployment: no pod has to run."""
    revision, served = f"{name}-00001", f"/apis/serving.knative.dev/v1/namespaces/{namespace}"
    service = {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": name}, "spec": {}}
    http.post(f"{served}/services", json=service).raise_for_status()
    status = {"latestReadyRevisionName": revision, "traffic": [{"revisionName": revision, "percent": 100}]}
    http.patch(f"{served}/services/{name}/status", json={"status": status}, headers=_MERGE).raise_for_status()
    scale = {MIN_SCALE.name: str(FOUND), MAX_SCALE.name: str(CEILING)}
    metadata = {"name": revision, "annotations": scale}
    made = {"apiVersion": "serving.knative.dev/v1", "kind": "Revision", "metadata": metadata, "spec": {}}
    http.post(f"{served}/revisions", params={"fieldManager": "platform-team"}, json=made).raise_for_status()
    return RealSubject(
        plane=plane,
        http=http,
        namespace=namespace,
        name=name,
        path=f"{served}/revisions/{revision}",
        config=lambda namespace, name, cluster: KnativeConfig(type="knative", namespace=namespace, name=name, cluster=cluster),
        floor_at=MIN_SCALE.path,
        ceiling_at=MAX_SCALE.path,
        carrier=revision,
        prefix=MARK_PREFIX,
    )


def _leader_worker_set(http: httpx2.Client, namespace: str, name: str, *, replicas: int) -> str:
    """Where the API serves one whose replicas are all ready."""
    lws = {"apiVersion": LWS, "kind": "LeaderWorkerSet", "metadata": {"name": name}, "spec": {"replicas": replicas}}
    scaled = f"/apis/{LWS}/namespaces/{namespace}/leaderworkersets"
    http.post(scaled, json=lws).raise_for_status()
    status = {"status": {"replicas": replicas, "readyReplicas": replicas, "hpaPodSelector": f"lws={name}"}}
    http.patch(f"{scaled}/{name}/status", json=status, headers=_MERGE).raise_for_status()
    return f"{scaled}/{name}"


def _has_been_looked_at(hpa: Json) -> bool:
    """Whether the controller has said that it cannot compute a number, of this very spec, and what it scales is within the ceiling."""
    status = hpa.get("status", {})
    inactive = any((each["type"], each["status"]) == ("ScalingActive", "False") for each in status.get("conditions") or ())
    this = status.get("observedGeneration") == hpa["metadata"]["generation"]
    return inactive and this and status.get("currentReplicas", 0) <= hpa["spec"]["maxReplicas"]

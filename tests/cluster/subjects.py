"""Objects on the real API server behind targets, as the contract suite asks for them. Found at 2 of at most 20 replicas."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import Target, TargetConfig, open_target
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.llm import hpa
from tests.connectors.targets.subjects import CEILING, FOUND

LWS = "leaderworkerset.x-k8s.io/v1"
_MERGE = {"Content-Type": "application/merge-patch+json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RealSubject:
    """One object. path: where the API serves it. floor_at, ceiling_at: fields of its spec; settled: whether its controllers are done."""

    plane: ControlPlane
    http: httpx2.Client
    namespace: str
    name: str
    path: str
    config: Callable[[str, str, KubeConnection], TargetConfig]
    floor_at: str
    ceiling_at: str
    settled: Callable[[Json], bool] = lambda _: True

    def open(self) -> Target:
        self.settle()
        return open_target(self.config(self.namespace, self.name, self.plane.connection()))

    def floor(self) -> int:
        value: int = self.body()["spec"][self.floor_at]
        return value

    def marks(self) -> dict[str, str]:
        annotations = self.body()["metadata"].get("annotations", {})
        return {key: text for key, text in annotations.items() if key.startswith("forecaster/")}

    def writes(self) -> int:
        return self.plane.patches(self.namespace, self.name)

    def meddle(self, floor: int) -> None:
        self.edit({"spec": {self.floor_at: floor}})
        self.settle()

    def limit(self, ceiling: int) -> None:
        self.edit({"spec": {self.ceiling_at: ceiling}})
        self.settle()

    def mark(self, key: str, text: str) -> None:
        self.edit({"metadata": {"annotations": {key: text}}})

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
    lws = {
        "apiVersion": LWS,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": CEILING},
    }
    scaled = f"/apis/{LWS}/namespaces/{namespace}/leaderworkersets"
    http.post(scaled, json=lws).raise_for_status()
    status = {"status": {"replicas": CEILING, "readyReplicas": CEILING}}
    http.patch(f"{scaled}/{name}/status", json=status, headers=_MERGE).raise_for_status()
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
        floor_at="minReplicas",
        ceiling_at="maxReplicas",
        settled=_has_been_looked_at,
    )


def _has_been_looked_at(hpa: Json) -> bool:
    """Whether the controller has said that it cannot compute a number, of this very spec, and what it scales is within the ceiling."""
    status = hpa.get("status", {})
    inactive = any((each["type"], each["status"]) == ("ScalingActive", "False") for each in status.get("conditions") or ())
    this = status.get("observedGeneration") == hpa["metadata"]["generation"]
    return inactive and this and status.get("currentReplicas", 0) <= hpa["spec"]["maxReplicas"]

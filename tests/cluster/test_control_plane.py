"""What the other tests of this folder build on: the controllers are the real ones, kubelets and metrics are ours."""

from tests.cluster.control_plane import ControlPlane, eventually
from tests.cluster.kubelet import Kubelet, Pace
from tests.cluster.llm import METRIC, apply, deployment, eventually_ready, hpa, ready
from tests.cluster.metrics_api import ExternalMetrics


def pods(cluster: ControlPlane, namespace: str, phase: str) -> int:
    names = cluster.kubectl("get", "pods", "--namespace", namespace, f"--field-selector=status.phase={phase}", "-o", "name")
    return len(names.splitlines())


def test_a_deployment_becomes_ready_after_its_cold_start(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> None:
    kubelet.paces[namespace] = Pace(cold_start_s=1)
    apply(cluster, namespace, deployment(replicas=3))
    eventually(lambda: pods(cluster, namespace, "Pending") == 3)
    assert ready(cluster, namespace) == 0
    eventually_ready(cluster, namespace, 3)


def test_without_room_pods_stay_pending_until_there_is_some(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> None:
    kubelet.paces[namespace] = Pace(room=2)
    apply(cluster, namespace, deployment(replicas=3))
    eventually_ready(cluster, namespace, 2)
    assert pods(cluster, namespace, "Pending") == 1
    kubelet.paces[namespace] = Pace(room=3)
    eventually_ready(cluster, namespace, 3)


def test_the_real_hpa_follows_the_metric_that_a_test_sets_up_and_down(
    cluster: ControlPlane, namespace: str, metrics: ExternalMetrics
) -> None:
    metrics.values[namespace, METRIC] = 350
    apply(cluster, namespace, deployment(replicas=None), hpa(min_replicas=2))
    eventually_ready(cluster, namespace, 4)
    metrics.values[namespace, METRIC] = 10
    eventually_ready(cluster, namespace, 2)


def test_the_real_hpa_raises_the_deployment_to_its_minimum(cluster: ControlPlane, namespace: str, metrics: ExternalMetrics) -> None:
    metrics.values[namespace, METRIC] = 10
    apply(cluster, namespace, deployment(replicas=None), hpa(min_replicas=2))
    eventually_ready(cluster, namespace, 2)
    cluster.kubectl("patch", "hpa", "llm", "--namespace", namespace, "--type=merge", "-p", '{"spec":{"minReplicas":6}}')
    eventually_ready(cluster, namespace, 6)

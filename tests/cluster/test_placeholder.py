"""Placeholders on a real API server: the manifest of deploy/, real priorities, and a replica that takes a place."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from connectors.targets.access import Checkable
from connectors.targets.placeholder_pods import PlaceholderPodsConfig
from connectors.targets.registry import Target, open_target
from forecaster.errors import TargetForbidden, TargetRefused
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kubelet import Kubelet, Pace
from tests.cluster.llm import apply, deployment, eventually_ready, let_go, ready, stand
from tests.connectors.targets.subjects import NOW

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "targets" / "placeholder-pods.md"
WORKLOAD, HELD = "llm-70b", "llm-70b-placeholder"


def target_of(plane: ControlPlane, namespace: str, *, token: str | None = None) -> Target:
    written = {
        "type": "placeholder-pods",
        "namespace": namespace,
        "name": HELD,
        "for": {"kind": "Deployment", "name": WORKLOAD},
        "cluster": plane.connection(token),
    }
    return open_target(PlaceholderPodsConfig.model_validate(written))


def manifest(plane: ControlPlane, namespace: str) -> list[Json]:
    """The PriorityClass and the Deployment, as kustomize prints them."""
    printed = plane.kubectl("kustomize", str(ROOT / "deploy" / "placeholder")).replace("namespace: inference", f"namespace: {namespace}")
    return list(yaml.safe_load_all(printed))


def scale(plane: ControlPlane, namespace: str, replicas: int) -> None:
    """The workload's own autoscaler asks for so many replicas."""
    plane.kubectl("scale", "deployment", WORKLOAD, "--namespace", namespace, f"--replicas={replicas}")


def pods(plane: ControlPlane, namespace: str, name: str) -> list[Json]:
    """The pods of a Deployment that were not told to go."""
    found = plane.read(f"/api/v1/namespaces/{namespace}/pods?labelSelector=app%3D{name}")
    assert found is not None
    return [pod for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]]


@pytest.fixture
def held(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> str:
    """A namespace with 2 ready replicas, no placeholder yet, 4 places on nodes that are up, and no way to more."""
    kubelet.paces[namespace] = Pace(room=4)
    cluster.apply(yaml.safe_dump_all(manifest(cluster, namespace)))
    apply(cluster, namespace, deployment(WORKLOAD, replicas=2))
    eventually_ready(cluster, namespace, 2, WORKLOAD)
    return namespace


def test_the_floor_is_filled_up_with_placeholders_of_a_priority_below_everybody(cluster: ControlPlane, held: str) -> None:
    target = target_of(cluster, held)
    assert stand(target, 4).after == 4
    eventually_ready(cluster, held, 2, HELD)
    assert {pod["spec"]["priority"] for pod in pods(cluster, held, HELD)} == {-10}
    assert {pod["spec"]["priority"] for pod in pods(cluster, held, WORKLOAD)} == {0}
    seen = target.observe(NOW)
    assert (seen.floor, seen.ready, seen.pending, seen.original) == (4, 4, 0, 0)
    assert not stand(target, 4).written


def test_k42_a_replica_takes_the_place_of_a_placeholder_and_is_ready_without_a_new_node(cluster: ControlPlane, held: str) -> None:
    target = target_of(cluster, held)
    stand(target, 4)
    eventually_ready(cluster, held, 2, HELD)
    scale(cluster, held, 3)
    eventually_ready(cluster, held, 3, WORKLOAD)
    assert {pod["spec"]["nodeName"] for pod in pods(cluster, held, WORKLOAD)} == {"warm"}
    eventually(lambda: ready(cluster, held, HELD) == 1)
    assert target.observe(NOW).floor == 5
    assert stand(target, 4).written  # the placeholder that now waits in vain goes
    eventually(lambda: len(pods(cluster, held, HELD)) == 1)
    seen = target.observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (4, 4, 0)


def test_a_replica_that_still_loads_its_model_has_its_node_already(cluster: ControlPlane, held: str, kubelet: Kubelet) -> None:
    target = target_of(cluster, held)
    stand(target, 4)
    eventually_ready(cluster, held, 2, HELD)
    kubelet.paces[held] = Pace(room=4, cold_start_s=3_600)
    scale(cluster, held, 3)
    eventually(lambda: [pod["spec"].get("nodeName") for pod in pods(cluster, held, WORKLOAD)] == ["warm"] * 3)
    stand(target, 4)
    eventually(lambda: ready(cluster, held, HELD) == 1)
    seen = target.observe(NOW)
    assert (ready(cluster, held, WORKLOAD), seen.ready, seen.pending) == (2, 4, 0)


def test_beyond_the_floor_no_placeholder_is_left_and_the_replicas_are_not_ours(cluster: ControlPlane, held: str) -> None:
    target = target_of(cluster, held)
    stand(target, 3)
    scale(cluster, held, 4)
    stand(target, 3)
    eventually_ready(cluster, held, 4, WORKLOAD)
    eventually(lambda: pods(cluster, held, HELD) == [])
    body = cluster.read(f"/apis/apps/v1/namespaces/{held}/deployments/{WORKLOAD}")
    assert body is not None
    assert "forecaster" not in {entry["manager"] for entry in body["metadata"]["managedFields"]}


def test_a_release_takes_the_placeholders_away(cluster: ControlPlane, held: str) -> None:
    target = target_of(cluster, held)
    stand(target, 4)
    applied = let_go(target)
    assert (applied.before, applied.after) == (4, 2)
    eventually(lambda: pods(cluster, held, HELD) == [])
    assert "forecaster/" not in cluster.value("deployment", held, HELD, ".metadata.annotations")
    assert ready(cluster, held, WORKLOAD) == 2


def test_a_priority_that_is_not_negative_is_refused(cluster: ControlPlane, held: str) -> None:
    apply(cluster, held, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "not-below"}, "value": 7})
    change = {"spec": {"template": {"spec": {"priorityClassName": "not-below"}}}}
    cluster.kubectl("patch", "deployment", HELD, "--namespace", held, "-p", json.dumps(change))
    with pytest.raises(TargetRefused, match="its PriorityClass not-below has the value 7: give it a PriorityClass of a negative value"):
        target_of(cluster, held).observe(NOW)


def token_of_the_page(cluster: ControlPlane, namespace: str) -> str:
    """The token of an account with the rights that the page grants."""
    fence = next(fence for fence in PAGE.read_text(encoding="utf-8").split("```yaml\n") if "kind: Role" in fence)
    account: dict[str, Any] = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "holder", "namespace": namespace}}
    granted = [account]
    for role in yaml.safe_load_all(fence.partition("```")[0]):
        place = {"namespace": namespace} if role["kind"] == "Role" else {}
        name = f"holder-{namespace}"
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": name}
        granted += [
            role | {"metadata": {"name": name} | place},
            {
                "apiVersion": role["apiVersion"],
                "kind": f"{role['kind']}Binding",
                "metadata": {"name": name} | place,
                "roleRef": reference,
                "subjects": [{"kind": "ServiceAccount", "name": "holder", "namespace": namespace}],
            },
        ]
    cluster.apply(yaml.safe_dump_all(granted))
    return cluster.token_for(namespace, "holder")


def test_the_rights_of_the_page_are_enough_and_let_us_write_the_placeholders_alone(cluster: ControlPlane, held: str) -> None:
    token = token_of_the_page(cluster, held)
    target = target_of(cluster, held, token=token)
    assert isinstance(target, Checkable)
    target.check_write()
    assert stand(target, 4).written
    assert let_go(target).written
    us = f"--as=system:serviceaccount:{held}:holder"
    for part in ((), ("--subresource=scale",)):
        answers = [
            cluster.tried("auth", "can-i", "patch", f"deployments/{name}", *part, "--namespace", held, us) for name in (HELD, WORKLOAD)
        ]
        assert [answer.stdout.strip() for answer in answers] == ["yes", "no"]


def test_without_the_right_to_see_the_workload_the_rule_is_named(cluster: ControlPlane, held: str) -> None:
    token_of_the_page(cluster, held)
    rules = [
        {"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "resourceNames": [HELD], "verbs": ["get", "patch"]},
        {"apiGroups": ["autoscaling", "keda.sh"], "resources": ["horizontalpodautoscalers", "scaledobjects"], "verbs": ["list"]},
    ]
    cluster.kubectl("patch", "role", f"holder-{held}", "--namespace", held, "--type=merge", "-p", json.dumps({"rules": rules}))
    target = target_of(cluster, held, token=cluster.token_for(held, "holder"))

    def refused() -> bool:  # the API server takes a moment to see the role
        try:
            target.observe(NOW)
        except TargetForbidden as error:
            return f"cannot get deployments.apps {held}/{WORKLOAD}" in str(error)
        return False

    eventually(refused)

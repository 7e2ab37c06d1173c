"""The target kubernetes-scale on a real API server: real controllers scale, count and guard; the scale subresource is its own right."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from connectors.targets.access import Checkable
from connectors.targets.kubernetes_scale import KubernetesScaleConfig
from connectors.targets.registry import Target, open_target
from forecaster.errors import TargetForbidden, TargetRefused
from forecaster.reasons import Code
from forecaster.units import iso
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kubelet import Kubelet, Pace
from tests.cluster.llm import apply, deployment, eventually_ready, hpa, let_go, stand
from tests.connectors.targets.subjects import NOW, UNTIL, codes, decided

PAGE = Path(__file__).parents[2] / "docs" / "targets" / "kubernetes-scale.md"
PLURALS = {
    "Deployment": "apps/v1/{}deployments",
    "StatefulSet": "apps/v1/{}statefulsets",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1/{}leaderworkersets",
    "Rollout": "argoproj.io/v1alpha1/{}rollouts",
}


def target_of(plane: ControlPlane, namespace: str, *, kind: str = "Deployment", lower: bool = True, token: str | None = None) -> Target:
    """A target that gives replicas no time beyond what their pods take."""
    return open_target(
        KubernetesScaleConfig(
            type="kubernetes-scale", kind=kind, namespace=namespace, name="llm", lower=lower, drain_s=0, cluster=plane.connection(token)
        )
    )


def body_of(plane: ControlPlane, namespace: str, kind: str = "Deployment") -> Json:
    found = plane.read("/apis/" + PLURALS[kind].format(f"namespaces/{namespace}/") + "/llm")
    assert found is not None
    return found


def replicas(plane: ControlPlane, namespace: str, kind: str = "Deployment") -> int:
    count: int = body_of(plane, namespace, kind)["spec"]["replicas"]
    return count


def marks(plane: ControlPlane, namespace: str, kind: str = "Deployment") -> dict[str, str]:
    annotations = body_of(plane, namespace, kind)["metadata"].get("annotations", {})
    return {key: text for key, text in annotations.items() if key.startswith("forecaster/")}


@pytest.fixture
def llm(cluster: ControlPlane, namespace: str) -> str:
    """A namespace with a Deployment of 2 ready replicas that nothing scales."""
    apply(cluster, namespace, deployment(replicas=2))
    eventually_ready(cluster, namespace, 2)
    return namespace


def test_a_floor_becomes_pods_that_are_ready_and_a_release_takes_them_away(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm)
    assert stand(target, 5).written
    assert marks(cluster, llm) == {"forecaster/original": "2", "forecaster/floor": "5", "forecaster/valid-until": iso(UNTIL)}
    eventually_ready(cluster, llm, 5)
    seen = target.observe(NOW)
    assert (seen.floor, seen.original, seen.ready, seen.pending, seen.writer) == (5, 2, 5, 0, None)
    assert not stand(target, 5).written
    assert let_go(target).after == 2
    assert marks(cluster, llm) == {}
    eventually_ready(cluster, llm, 2)


def test_the_count_is_written_by_the_scale_subresource_under_our_name_and_nothing_else_is_ours(cluster: ControlPlane, llm: str) -> None:
    stand(target_of(cluster, llm), 5)
    ours = [entry for entry in body_of(cluster, llm)["metadata"]["managedFields"] if entry["manager"] == "forecaster"]
    by_part = {entry.get("subresource", ""): entry["fieldsV1"] for entry in ours}
    assert by_part["scale"] == {"f:spec": {"f:replicas": {}}}
    assert set(by_part[""]) == {"f:metadata"}
    assert set(by_part[""]["f:metadata"]) == {"f:annotations"}


def test_status_that_controllers_write_while_pods_come_up_keeps_no_floor_from_being_written(
    cluster: ControlPlane, llm: str, kubelet: Kubelet
) -> None:
    kubelet.paces[llm] = Pace(cold_start_s=0.2)
    target = target_of(cluster, llm)
    for floor in range(3, 9):
        assert stand(target, floor).after == floor
    eventually_ready(cluster, llm, 8)
    assert marks(cluster, llm)["forecaster/original"] == "2"


def test_somebody_who_scales_after_us_is_named(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm)
    stand(target, 5)
    cluster.kubectl("scale", "deployment", "llm", "--namespace", llm, "--replicas=3")
    seen = target.observe(NOW)
    assert (seen.floor, seen.writer is not None and seen.writer.startswith("kubectl")) == (3, True)
    assert stand(target, 5).written
    assert target.observe(NOW).writer is None


def test_an_apply_of_the_manifest_that_carries_replicas_is_named(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm)
    stand(target, 5)
    apply(cluster, llm, deployment(replicas=2), manager="argocd-controller")
    seen = target.observe(NOW)
    assert seen.writer == "argocd-controller"
    assert "/spec/replicas" in str(seen.remedy)


def test_the_real_disruption_controllers_budget_bounds_how_many_go_at_once(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm)
    stand(target, 6)
    eventually_ready(cluster, llm, 6)
    selector = {"matchLabels": {"app": "llm"}}
    apply(
        cluster,
        llm,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "llm"},
            "spec": {"maxUnavailable": 2, "selector": selector},
        },
    )
    eventually(lambda: cluster.value("pdb", llm, "llm", ".status.disruptionsAllowed") == "2")
    applied = stand(target, 1)
    assert (applied.after, codes(applied), replicas(cluster, llm)) == (4, {Code.LOWER_LIMITED}, 4)
    eventually_ready(cluster, llm, 4)
    eventually(lambda: stand(target, 1).after == 2)  # once the controller has counted again


def test_pods_that_still_finish_what_they_serve_hold_the_next_lowering(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> None:
    kubelet.paces[namespace] = Pace(stop_s=4)
    slow = deployment(replicas=4)
    slow["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 30
    apply(cluster, namespace, slow)
    eventually_ready(cluster, namespace, 4)
    target = target_of(cluster, namespace)
    assert stand(target, 3).after == 3
    eventually(lambda: terminating(cluster, namespace) == 1)
    assert stand(target, 2).after == 3
    eventually(lambda: terminating(cluster, namespace) == 0)
    assert stand(target, 2).after == 2


def terminating(plane: ControlPlane, namespace: str) -> int:
    pods = plane.read(f"/api/v1/namespaces/{namespace}/pods")
    assert pods is not None
    return sum("deletionTimestamp" in pod["metadata"] for pod in pods["items"])


def test_pods_that_no_node_takes_go_first_and_in_any_case(cluster: ControlPlane, namespace: str, kubelet: Kubelet) -> None:
    kubelet.paces[namespace] = Pace(room=2)
    apply(cluster, namespace, deployment(replicas=2))
    eventually_ready(cluster, namespace, 2)
    target = target_of(cluster, namespace)
    stand(target, 5)
    selector = {"matchLabels": {"app": "llm"}}
    apply(
        cluster,
        namespace,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "llm"},
            "spec": {"minAvailable": 2, "selector": selector},
        },
    )
    eventually(lambda: len(pods_of(cluster, namespace)) == 5)
    eventually(lambda: cluster.value("pdb", namespace, "llm", ".status.currentHealthy") == "2")
    assert stand(target, 1).after == 2
    eventually(lambda: len(pods_of(cluster, namespace)) == 2)
    assert cluster.value("deployment", namespace, "llm", ".status.readyReplicas") == "2"


def pods_of(plane: ControlPlane, namespace: str) -> list[Any]:
    pods = plane.read(f"/api/v1/namespaces/{namespace}/pods")
    assert pods is not None
    items: list[Any] = pods["items"]
    return items


def stateful() -> Json:
    body = deployment(replicas=2)
    return body | {"kind": "StatefulSet", "spec": body["spec"] | {"serviceName": "llm"}}


def custom(api_version: str, kind: str) -> Callable[[], Json]:
    return lambda: {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm"}, "spec": {"replicas": 2}}


@pytest.mark.parametrize(
    ("kind", "manifest"),
    [
        ("StatefulSet", stateful),
        ("LeaderWorkerSet", custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")),
        ("Rollout", custom("argoproj.io/v1alpha1", "Rollout")),
    ],
)
def test_every_kind_with_a_scale_subresource_keeps_the_same_promises(
    cluster: ControlPlane, namespace: str, kind: str, manifest: Callable[[], Json]
) -> None:
    apply(cluster, namespace, manifest())
    target = target_of(cluster, namespace, kind=kind, lower=False)
    assert stand(target, 5).written
    assert replicas(cluster, namespace, kind) == 5
    assert target.observe(NOW).original == 2
    assert codes(stand(target, 3)) == {Code.RAISE_ONLY}
    assert let_go(target).after == 2
    assert (replicas(cluster, namespace, kind), marks(cluster, namespace, kind)) == (2, {})


def test_what_a_real_hpa_scales_is_refused_with_the_hpa_to_use_instead(cluster: ControlPlane, llm: str) -> None:
    apply(cluster, llm, hpa(min_replicas=2))
    with pytest.raises(TargetRefused, match=rf"the HPA {llm}/llm scales .* \(type kubernetes-hpa\)"):
        target_of(cluster, llm).observe(NOW)


def test_what_a_scaled_object_scales_is_refused_with_the_scaled_object_to_use_instead(cluster: ControlPlane, llm: str) -> None:
    spec = {"scaleTargetRef": {"name": "llm"}, "triggers": [{"type": "cron"}]}
    apply(cluster, llm, {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "llm-so"}, "spec": spec})
    with pytest.raises(TargetRefused, match=rf"ScaledObject {llm}/llm-so scales .* \(type keda-scaledobject\)"):
        target_of(cluster, llm).observe(NOW)


def test_a_kind_without_a_scale_subresource_is_refused(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, hpa())
    config = KubernetesScaleConfig(
        type="kubernetes-scale",
        kind="HorizontalPodAutoscaler",
        api_version="autoscaling/v2",
        plural="horizontalpodautoscalers",
        namespace=namespace,
        name="llm",
        cluster=cluster.connection(),
    )
    with pytest.raises(TargetRefused, match="has no scale subresource"):
        open_target(config).observe(NOW)


def token_of_the_page(cluster: ControlPlane, namespace: str, *, without: str = "") -> str:
    """The token of an account with the rights that the page grants, but for one resource."""
    (role,) = [
        document
        for fence in PAGE.read_text(encoding="utf-8").split("```yaml\n")[1:]
        for document in yaml.safe_load_all(fence.partition("```")[0])
        if isinstance(document, dict) and document.get("kind") == "Role"
    ]
    role["metadata"]["namespace"] = namespace
    role["rules"] = [rule for rule in role["rules"] if without not in rule["resources"]]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "scaler"}}
    subject = {"kind": "ServiceAccount", "name": "scaler", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "scaler"},
        "roleRef": reference,
        "subjects": [subject],
    }
    apply(cluster, namespace, account, role, binding)
    return cluster.token_for(namespace, "scaler")


def test_the_rights_of_the_page_are_enough_to_raise_to_lower_and_to_release(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm, token=token_of_the_page(cluster, llm))
    assert isinstance(target, Checkable)
    target.check_write()
    assert replicas(cluster, llm) == 2  # asked, not written
    assert stand(target, 5).after == 5
    eventually_ready(cluster, llm, 5)
    assert stand(target, 3).after == 3
    assert let_go(target).after == 2


def test_without_the_right_to_scale_the_rule_is_named_before_the_first_write(cluster: ControlPlane, llm: str) -> None:
    target = target_of(cluster, llm, token=token_of_the_page(cluster, llm, without="deployments/scale"))
    with pytest.raises(TargetForbidden, match=r"apiGroups: \[apps\], resources: \[deployments/scale\], verbs: \[get\]"):
        target.observe(NOW)


def test_a_right_to_read_alone_writes_nothing_and_names_both_rules(cluster: ControlPlane, llm: str) -> None:
    token = token_of_the_page(cluster, llm)
    role = json.dumps(
        {
            "rules": [
                {"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "verbs": ["get"]},
                {"apiGroups": ["autoscaling", "keda.sh"], "resources": ["horizontalpodautoscalers", "scaledobjects"], "verbs": ["list"]},
            ]
        }
    )
    cluster.kubectl("patch", "role", "forecaster-scale", "--namespace", llm, "--type=merge", "-p", role)
    target = target_of(cluster, llm, lower=False, token=token)

    def refused() -> bool:  # the API server takes a moment to see the role
        try:
            target.set_floor(decided(target.name, 5), target.observe(NOW))
        except TargetForbidden as error:
            return "resources: [deployments], verbs: [patch]" in str(error)
        return False

    eventually(refused)

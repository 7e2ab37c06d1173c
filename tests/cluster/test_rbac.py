"""What Forecaster's service account may do with the roles of deploy/, on a real API server that enforces them."""

import json

import pytest

from connectors.targets.kubernetes_field import KubernetesFieldConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetForbidden, TargetMissing
from forecaster.ports import StartSource
from jobs.clock import SystemClock
from tests.cluster.control_plane import ControlPlane, eventually
from tests.cluster.granted import token_granted
from tests.cluster.llm import apply, hpa, let_go, min_replicas, stand, target_of
from tests.connectors.targets.subjects import NOW

AS_US = "--as=system:serviceaccount:forecaster:forecaster"
NOT_OURS = [
    ("patch", "deployments.apps"),
    ("patch", "deployments.apps/scale"),
    ("update", "horizontalpodautoscalers.autoscaling"),
    ("create", "horizontalpodautoscalers.autoscaling"),
    ("delete", "horizontalpodautoscalers.autoscaling"),
    ("get", "secrets"),
    ("get", "configmaps"),
    ("delete", "pods"),
    ("create", "pods/exec"),
    ("list", "nodes"),
    ("patch", "nodes"),
]


def test_the_granted_role_is_enough_for_everything_that_a_target_does(cluster: ControlPlane, served: str) -> None:
    target = target_of(cluster, served, token=token_granted(cluster, served))
    assert target.observe(NOW).ready == 3
    assert stand(target, 8).written
    assert let_go(target).written
    assert isinstance(target, StartSource)
    assert len(target.starts(SystemClock().now())) >= 3


def test_k44_a_namespace_without_rights_is_named_and_leaves_the_others_working(cluster: ControlPlane, served: str) -> None:
    token = token_granted(cluster, served)
    cluster.kubectl("create", "namespace", f"{served}-other")
    apply(cluster, f"{served}-other", hpa())
    with pytest.raises(TargetForbidden, match=rf"verbs: \[get\]}} to our role in namespace {served}-other"):
        target_of(cluster, f"{served}-other", token=token).observe(NOW)
    assert stand(target_of(cluster, served, token=token), 8).written  # a 403 there leaves this one working


def test_what_is_not_there_is_named_though_it_is_denied_like_what_we_may_not_see(cluster: ControlPlane, served: str) -> None:
    misspelled = KubernetesFieldConfig(
        type="kubernetes-field",
        api_version="autoscaling/v2",
        plural="horizontalpodautoscaler",
        namespace=served,
        name="llm",
        field="spec.minReplicas",
        cluster=cluster.connection(token_granted(cluster, served)),
    )
    with pytest.raises(TargetMissing, match=r"forbidden.*the API server serves no horizontalpodautoscaler in version v2 of autoscaling"):
        open_target(misspelled).observe(NOW)
    nowhere = misspelled.model_copy(update={"plural": "horizontalpodautoscalers", "namespace": f"{served}-2"})
    with pytest.raises(TargetForbidden, match=rf"add the RBAC rule .*, or correct the namespace if {served}-2 is misspelled"):
        open_target(nowhere).observe(NOW)
    cluster.kubectl("create", "clusterrole", served, "--verb=get", "--resource=namespaces")
    cluster.kubectl("create", "clusterrolebinding", served, f"--clusterrole={served}", "--serviceaccount=forecaster:forecaster")
    eventually(lambda: may(cluster, served, "get", "namespaces"))
    with pytest.raises(TargetMissing, match=f"there is no namespace {served}-2: correct it in the configuration"):
        open_target(nowhere).observe(NOW)


def test_the_granted_role_allows_nothing_else(cluster: ControlPlane, served: str) -> None:
    token_granted(cluster, served)
    assert may(cluster, served, "patch", "horizontalpodautoscalers.autoscaling")
    assert [(verb, what) for verb, what in NOT_OURS if may(cluster, served, verb, what)] == []


def test_a_write_without_the_right_to_patch_names_the_rule_and_writes_nothing(cluster: ControlPlane, served: str) -> None:
    token = token_granted(cluster, served)
    reads = {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["get", "list"]}
    cluster.kubectl("patch", "role", "forecaster", "--namespace", served, "--type=merge", "-p", json.dumps({"rules": [reads]}))
    target = target_of(cluster, served, token=token)
    eventually(lambda: not may(cluster, served, "patch", "horizontalpodautoscalers.autoscaling"))
    with pytest.raises(TargetForbidden, match=r"\{apiGroups: \[autoscaling\], resources: \[horizontalpodautoscalers\], verbs: \[patch\]\}"):
        stand(target, 8)
    assert min_replicas(cluster, served) == 2


def may(cluster: ControlPlane, namespace: str, verb: str, what: str) -> bool:
    """What the API server answers of our service account; `what` as kubectl writes it, with a subresource."""
    resource, _, sub = what.partition("/")
    subresource = (f"--subresource={sub}",) if sub else ()
    answer = cluster.tried("auth", "can-i", verb, resource, *subresource, "--namespace", namespace, AS_US)
    assert answer.stdout.strip() in {"yes", "no"}, answer
    return answer.stdout.strip() == "yes"

"""Levers on the real API server: a gateway's policy, a key of a ConfigMap, rights on these objects alone, and our fields alone."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from connectors.kube.cluster import ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.kube.paths import parse
from connectors.levers.access import Checkable, Tried
from connectors.levers.kubernetes_field import MARK, KubernetesFieldLeverConfig
from connectors.levers.registry import open_levers
from forecaster.errors import TargetConflict, TargetForbidden, TargetRefused
from forecaster.ladder import LeverValue
from forecaster.levers import Moved
from forecaster.ports import Lever
from jobs.drill.levers import drill_levers
from jobs.drill.outcome import Promise, Result
from jobs.export.lever_policy import lever_expression, policy_component
from jobs.export.lever_rights import lever_roles
from jobs.watchdog.levers import lever_kind, look_at_levers, put_back
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kustomized import KUSTOMIZE, overlay, rendered, standing

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)
PARALLEL, REQUESTS = "spec.circuitBreaker.maxParallelRequests", "spec.rateLimit.local.rules.0.limit.requests"
OBJECTS = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: chat}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: chat}]
  circuitBreaker: {maxParallelRequests: 64}
  rateLimit: {type: Local, local: {rules: [{limit: {requests: 900, unit: Minute}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: engine}
data: {max_batch: "32", note: "mind me"}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: levers}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: levers}
rules:
  - {apiGroups: [gateway.envoyproxy.io], resources: [backendtrafficpolicies], resourceNames: [chat], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: levers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: levers}
subjects: [{kind: ServiceAccount, name: levers}]
"""

NOT_OURS: tuple[tuple[str, Json], ...] = (
    ("backendtrafficpolicy/chat", {"spec": {"circuitBreaker": {"maxConnections": 1}}}),
    ("backendtrafficpolicy/chat", {"spec": {"circuitBreaker": {"maxParallelRequests": 8}, "targetRefs": []}}),
    ("backendtrafficpolicy/chat", {"spec": {"retry": {"numRetries": 1, "perRetry": {}}}}),
    ("backendtrafficpolicy/chat", {"spec": {"circuitBreaker": None}}),
    ("backendtrafficpolicy/chat", {"spec": {"rateLimit": {"local": {"rules": [{"limit": {"requests": 60, "unit": "Second"}}]}}}}),
    ("backendtrafficpolicy/chat", {"spec": {"rateLimit": {"local": {"rules": []}}}}),
    ("backendtrafficpolicy/chat", {"metadata": {"labels": {"team": "us"}}}),
    ("configmap/engine", {"data": {"note": "ours"}}),
    ("configmap/engine", {"data": None}),
    ("configmap/engine", {"immutable": True}),
)
"""What rights allow on these objects, and no lever moves."""


@pytest.fixture(autouse=True)
def _objects(cluster: ControlPlane, namespace: str) -> None:
    cluster.apply(OBJECTS, namespace=namespace)


@pytest.fixture
def lever(cluster: ControlPlane, namespace: str) -> Callable[..., Lever]:
    def opened(field: str, connection: KubeConnection | None = None) -> Lever:
        of_the_gateway = field.startswith("spec")
        config = KubernetesFieldLeverConfig(
            type="kubernetes-field",
            api_version="gateway.envoyproxy.io/v1alpha1" if of_the_gateway else "v1",
            kind="BackendTrafficPolicy" if of_the_gateway else "ConfigMap",
            namespace=namespace,
            name="chat" if of_the_gateway else "engine",
            field=field,
            cluster=connection or cluster.connection(),
        )
        return open_levers({"it": config})["it"]

    return opened


def stand(of: Lever, value: LeverValue) -> Moved:
    return of.set(value, UNTIL, of.observe(NOW))


def let_go(of: Lever) -> Moved:
    return of.release(of.observe(NOW))


def test_two_fields_of_a_gateways_policy_move_and_go_back_each_by_itself(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]
) -> None:
    parallel, requests = lever(PARALLEL), lever(REQUESTS)
    path = f"/apis/gateway.envoyproxy.io/v1alpha1/namespaces/{namespace}/backendtrafficpolicies/chat"
    found = cluster.read(path)
    assert found is not None
    assert stand(parallel, 8).written
    assert stand(requests, 60).written
    moved = cluster.read(path)
    assert moved is not None
    assert moved["spec"]["circuitBreaker"]["maxParallelRequests"] == 8
    assert moved["spec"]["rateLimit"]["local"]["rules"] == [{"limit": {"requests": 60, "unit": "Minute"}}]
    assert sum(key.startswith(MARK) for key in moved["metadata"]["annotations"]) == 2
    assert not stand(parallel, 8).written
    assert let_go(parallel).written
    assert let_go(requests).written
    back = cluster.read(path)
    assert back is not None
    assert back["spec"] == found["spec"]
    assert not [key for key in back["metadata"].get("annotations", {}) if key.startswith(MARK)]


def test_a_key_of_a_configmap_moves_and_goes_back(cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]) -> None:
    of, extra = lever("data.max_batch"), lever("data.cache")
    stand(of, 8)
    stand(extra, value=True)
    config_map = cluster.read(f"/api/v1/namespaces/{namespace}/configmaps/engine")
    assert config_map is not None
    assert config_map["data"] == {"max_batch": "8", "cache": "true", "note": "mind me"}
    assert {entry["manager"] for entry in config_map["metadata"]["managedFields"]} >= {"forecaster"}
    let_go(of)
    let_go(extra)
    config_map = cluster.read(f"/api/v1/namespaces/{namespace}/configmaps/engine")
    assert config_map is not None
    assert config_map["data"] == {"max_batch": "32", "note": "mind me"}


OTHERS = """
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceObjective
metadata: {name: it}
spec: {poolRef: {name: llm}, priority: 0}
---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModelRewrite
metadata: {name: it}
spec: {poolRef: {name: llm}, rules: [{targets: [{modelRewrite: large, weight: 1}]}]}
---
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: it}
spec: {model: {modelURL: large, maxNumSeqs: 64}}
"""
KINDS: dict[str, tuple[str, str, LeverValue, LeverValue]] = {
    "InferenceObjective": ("inference.networking.x-k8s.io/v1alpha2", "spec.priority", 0, -10),
    "InferenceModelRewrite": ("inference.networking.x-k8s.io/v1alpha2", "spec.rules.0.targets.0.modelRewrite", "large", "small"),
    "VLLMRuntime": ("production-stack.vllm.ai/v1alpha1", "spec.model.maxNumSeqs", 64, 16),
}
"""By kind: its version, a field, what is found there and what it is moved to."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_of_a_gateways_or_an_engines_own_kind_moves_and_goes_back(cluster: ControlPlane, namespace: str, kind: str) -> None:
    cluster.apply(OTHERS, namespace=namespace)
    api_version, field, found, moved = KINDS[kind]
    place = {"api_version": api_version, "kind": kind, "namespace": namespace, "name": "it", "field": field}
    config = KubernetesFieldLeverConfig.model_validate({"type": "kubernetes-field", **place, "cluster": cluster.connection()})
    of = open_levers({"it": config})["it"]
    assert of.observe(NOW).value == found
    assert stand(of, moved).written
    assert (of.observe(NOW).value, of.observe(NOW).original) == (moved, found)
    assert let_go(of).written
    assert (of.observe(NOW).value, of.observe(NOW).until) == (found, None)


def test_a_change_in_between_is_a_conflict(cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]) -> None:
    of = lever("data.max_batch")
    seen = of.observe(NOW)
    cluster.kubectl("-n", namespace, "patch", "configmap", "engine", "--type=merge", '-p={"data":{"max_batch":"16"}}')
    with pytest.raises(TargetConflict):
        of.set(8, UNTIL, seen)


def test_a_value_that_the_kinds_schema_does_not_take_is_refused_in_the_servers_words(lever: Callable[..., Lever]) -> None:
    with pytest.raises(TargetRefused, match="maxParallelRequests"):
        stand(lever(PARALLEL), "many")


def test_get_and_patch_on_the_one_object_are_all_the_rights_that_a_lever_needs(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]
) -> None:
    ours = cluster.connection(cluster.token_for(namespace, "levers"))
    of = lever(REQUESTS, ours)
    assert stand(of, 60).written
    assert let_go(of).written
    with pytest.raises(TargetForbidden, match="configmaps"):
        lever("data.max_batch", ours).observe(NOW)


def test_the_printed_rights_are_enough_for_the_levers_of_a_configuration_and_for_no_other_object(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]
) -> None:
    refs = [ref(namespace, "gateway.envoyproxy.io", "backendtrafficpolicies", "chat"), ref(namespace, "", "configmaps", "engine")]
    grant(cluster, namespace, refs)
    ours = cluster.connection(cluster.token_for(namespace, "levers"))
    for field, value in ((REQUESTS, 60), ("data.max_batch", 8)):
        of = lever(field, ours)
        assert isinstance(of, Checkable)
        of.check_write(of.observe(NOW))
        assert stand(of, value).written
        assert let_go(of).written
    cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}", namespace=namespace)
    us = f"--as=system:serviceaccount:{namespace}:levers"
    for verb, name in (("get", "other"), ("patch", "other"), ("delete", "engine"), ("update", "engine")):
        assert cluster.tried("auth", "can-i", verb, f"configmaps/{name}", "--namespace", namespace, us).stdout.strip() == "no"


def test_the_printed_policy_lets_levers_move_their_fields_and_refuses_every_other(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever], tmp_path: Path
) -> None:
    gateway, engine = ref(namespace, "gateway.envoyproxy.io", "backendtrafficpolicies", "chat"), ref(namespace, "", "configmaps", "engine")
    grant(cluster, namespace, [gateway, engine])
    fields = [(gateway, PARALLEL), (gateway, REQUESTS), (gateway, "spec.retry.numRetries"), (engine, "data.max_batch")]
    component = tmp_path / "levers"
    component.mkdir()
    expression = lever_expression((each, parse(field)) for each, field in fields)
    (component / "kustomization.yaml").write_text(yaml.safe_dump(policy_component(expression)))
    objects = rendered(cluster, overlay(tmp_path / "ours", resources=[KUSTOMIZE / "admission"], components=[component]))
    us = f"system:serviceaccount:{namespace}:levers"
    text = yaml.safe_dump_all(objects).replace("forecaster-our-field-only", namespace)
    text = text.replace("system:serviceaccount:forecaster:forecaster", us)
    with standing(cluster, list(yaml.safe_load_all(text))):
        eventually(lambda: namespace in refusal(cluster, namespace, us, "configmap/engine", {"data": {"note": "ours"}}))
        ours = cluster.connection(cluster.token_for(namespace, "levers"))
        for field, value in ((PARALLEL, 8), (REQUESTS, 60), ("spec.retry.numRetries", 0), ("data.max_batch", 8)):
            of = lever(field, ours)
            assert stand(of, value).written
            assert let_go(of).written
        for what, patch in NOT_OURS:
            assert namespace in refusal(cluster, namespace, us, what, patch), patch
        assert refusal(cluster, namespace, us, "configmap/engine", {"data": {"max_batch": "4"}}) == ""


def test_the_drill_tries_every_value_on_the_server_itself_and_moves_nothing(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]
) -> None:
    grant(cluster, namespace, [ref(namespace, "gateway.envoyproxy.io", "backendtrafficpolicies", "chat")])
    of = lever(PARALLEL, cluster.connection(cluster.token_for(namespace, "levers")))
    before = of.observe(NOW)
    good = {outcome.promise: outcome.result for outcome in drill_levers({"breaker": of}, {"breaker": (8, 1)}, NOW)}
    assert set(good.values()) == {Result.PASS}
    bad = {outcome.promise: outcome for outcome in drill_levers({"breaker": of}, {"breaker": (-1,)}, NOW)}
    assert bad[Promise.TAKEN].result is Result.FAIL
    assert "maxParallelRequests" in bad[Promise.TAKEN].evidence
    assert of.observe(NOW) == before


def test_a_field_that_the_kind_does_not_have_is_told_before_it_is_moved(lever: Callable[..., Lever]) -> None:
    of = lever("spec.circuitBreaker.maxParalelRequests")
    assert isinstance(of, Tried)
    with pytest.raises(TargetRefused, match=r"does not keep spec\.circuitBreaker\.maxParalelRequests, it became nothing when 8 was to be"):
        of.try_set(8, UNTIL, of.observe(NOW))


def test_the_watchdog_finds_levers_by_their_marks_and_puts_them_back(
    cluster: ControlPlane, namespace: str, lever: Callable[..., Lever]
) -> None:
    stand(lever(PARALLEL), 8)
    stand(lever("data.max_batch"), 8)
    kinds = [lever_kind(f"lever:{kind}") for kind in ("gateway.envoyproxy.io/v1alpha1/backendtrafficpolicies", "v1/configmaps")]
    assert look_at_levers(kinds, [namespace], cluster.connection(), NOW).good == 2
    seen = look_at_levers(kinds, [namespace], cluster.connection(), UNTIL)
    told = [outcome.sentence.partition(": ")[2] for outcome in put_back(seen.expired, UNTIL, rehearsed=False)]
    assert sorted(told) == ["put back, 8 -> 32", "put back, 8 -> 64"]
    assert (lever(PARALLEL).observe(NOW).value, lever("data.max_batch").observe(NOW).value) == (64, "32")


def ref(namespace: str, group: str, plural: str, name: str) -> ObjectRef:
    return ObjectRef(group=group, version="v1alpha1" if group else "v1", plural=plural, namespace=namespace, name=name)


def grant(cluster: ControlPlane, namespace: str, objects: list[ObjectRef]) -> None:
    """What is printed, for the account of this namespace instead of ours; the role that stood there before goes."""
    cluster.kubectl("delete", "role/levers", "rolebinding/levers", "--namespace", namespace)
    printed = yaml.safe_dump_all(lever_roles(objects))
    cluster.apply(printed.replace("name: forecaster\n  namespace: forecaster", f"name: levers\n  namespace: {namespace}"))


def refusal(cluster: ControlPlane, namespace: str, user: str, what: str, patch: Json) -> str:
    """What the server said of a merge patch that is only tried; empty where it would be taken."""
    words = ("patch", what, "--namespace", namespace, "--type=merge", "-p", json.dumps(patch), "--dry-run=server", f"--as={user}")
    done = cluster.tried(*words)
    return done.stderr if done.returncode else ""

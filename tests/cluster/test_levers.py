"""Levers on the real API server: a gateway's policy, a key of a ConfigMap, and rights on these objects alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from connectors.kube.connection import KubeConnection
from connectors.levers.kubernetes_field import MARK, KubernetesFieldLeverConfig
from connectors.levers.registry import open_levers
from forecaster.errors import TargetConflict, TargetForbidden, TargetRefused
from forecaster.ladder import LeverValue
from forecaster.levers import Moved
from forecaster.ports import Lever
from tests.cluster.control_plane import ControlPlane

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

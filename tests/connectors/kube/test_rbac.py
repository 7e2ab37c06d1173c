"""deploy/kubernetes-rbac.yaml allows what we ask of an API server, and nothing else."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from connectors.kube.connection import KubeConnection
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import open_target
from forecaster.ports import StartSource
from tests.connectors.targets.subjects import let_go, stand
from tests.kube_api import KubeApi
from tests.kube_pods import put_node, put_pod, put_workload

ROLES = Path(__file__).parents[3] / "deploy" / "kubernetes-rbac.yaml"
NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(ROLES.read_text()))


def granted() -> set[tuple[str, str, str, str]]:
    """Kind of role, API group, resource, verb."""
    return {
        (document["kind"], group, resource, verb)
        for document in documents()
        for rule in document.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def asked(verb: str, path: str) -> tuple[str, str, str, str]:
    root, *parts = path.strip("/").split("/")
    group = "" if root == "api" else parts[0]
    rest = parts[1:] if root == "api" else parts[2:]
    return ("Role", group, rest[2], verb) if rest[0] == "namespaces" else ("ClusterRole", group, rest[0], verb)


def test_everything_that_a_target_asks_is_granted() -> None:
    with KubeApi() as api:
        api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
        put_workload(api, "inference", "llm", replicas=2, ready=1)
        put_node(api, "gpu-1", NOW)
        put_pod(api, "inference", "llm-1", NOW, app="llm", now=NOW, scheduled_s=0)
        config = KubernetesHpaConfig(type="kubernetes-hpa", namespace="inference", name="llm", cluster=KubeConnection(server=api.url))
        target = open_target(config)
        assert isinstance(target, StartSource)
        stand(target, 8)
        let_go(target)
        target.starts(NOW)
        requests = {asked(request.verb, request.path) for request in api.requests}
    assert {resource for _, _, resource, _ in requests} == {"horizontalpodautoscalers", "deployments", "pods", "nodes"}
    assert requests <= granted()


def test_only_the_minimum_of_an_hpa_may_be_written() -> None:
    writes = {each for each in granted() if each[3] not in {"get", "list"}}
    assert writes == {("Role", "autoscaling", "horizontalpodautoscalers", "patch")}


def test_every_role_is_bound_to_our_service_account() -> None:
    roles = {(each["kind"], each["metadata"]["name"]) for each in documents() if "rules" in each}
    bound = {(each["roleRef"]["kind"], each["roleRef"]["name"]) for each in documents() if "roleRef" in each}
    assert roles == bound
    accounts = [each["subjects"] for each in documents() if "subjects" in each]
    assert all(account == [{"kind": "ServiceAccount", "name": "forecaster", "namespace": "forecaster"}] for account in accounts)

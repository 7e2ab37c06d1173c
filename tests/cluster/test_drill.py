"""`forecaster check --drill` on a real API server: its dry runs, its policies, its managed fields, its roles and its HPA controller."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from tests.cluster.control_plane import AUDIT_LOG, ControlPlane, Json, eventually
from tests.cluster.granted import token_granted
from tests.cluster.kustomized import KUSTOMIZE, rendered, standing
from tests.cluster.llm import apply, hpa, hpa_of
from tests.cluster.metrics_api import ExternalMetrics
from tests.end_to_end.desk import Desk
from tests.jobs.world import NOW, daily_rpm, write_trace

AS_US = "--as=system:serviceaccount:forecaster:forecaster"
SAME = ("spec", "metadata.annotations", "metadata.generation", "metadata.labels", "metadata.ownerReferences")


@pytest.fixture(scope="module")
def foreseen(tmp_path_factory: pytest.TempPathFactory, cluster: ControlPlane) -> Desk:
    """A desk with a plan; where its target is comes from its environment."""
    desk = Desk(folder=tmp_path_factory.mktemp("drill"), env={"KUBE": cluster.server, "KUBE_TOKEN": "none", "NAMESPACE": "nowhere"})
    write_trace(desk.folder / "load.csv", daily_rpm())
    reached = {"server": "${KUBE}", "token": "${KUBE_TOKEN}", "ca_file": str(cluster.ca_file)}
    target = {"type": "kubernetes-hpa", "namespace": "${NAMESPACE}", "name": "llm", "cluster": reached}
    workload = {
        "name": "llm",
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [{"name": "gpu", "capacity": {"rpm": 100}, "targets": [target]}],
    }
    desk.configure(
        {
            "sources": {"trace": {"type": "csv", "path": "load.csv"}},
            "forecast": {"watched": []},
            "operating_point": {"workloads": 0},
            "workloads": [workload],
        }
    )
    desk.done("forecast", at=NOW)
    return desk


def drilled(desk: Desk, cluster: ControlPlane, namespace: str) -> dict[str, tuple[str, str]]:
    """Result and evidence by promise, as Forecaster's own service account, and as the exit code says it."""
    env = {**desk.env, "NAMESPACE": namespace, "KUBE_TOKEN": token_granted(cluster, namespace)}
    return rows_of(Desk(folder=desk.folder, env=env))


def rows_of(desk: Desk) -> dict[str, tuple[str, str]]:
    outcome = desk.run("check", "--drill", "--json", at=NOW)
    assert outcome.code in {0, 3}, outcome
    rows: list[dict[str, Any]] = outcome.json
    assert outcome.code == (3 if any(row["result"] == "fail" for row in rows) else 0)
    return {row["promise"]: (row["result"], row["evidence"]) for row in rows}


def failed(rows: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {promise: evidence for promise, (result, evidence) in rows.items() if result == "fail"}


def writes(cluster: ControlPlane, namespace: str) -> list[str]:
    """What the server carried out and kept for our field manager in the namespace, by its own audit log."""
    entries = map(json.loads, (cluster.folder / AUDIT_LOG).read_text().splitlines())
    ours = (entry["requestURI"] for entry in entries if entry["objectRef"].get("namespace") == namespace)
    return [uri for uri in ours if "fieldManager=forecaster" in uri and "dryRun=All" not in uri]


def test_a_real_hpa_is_drilled_by_dry_runs_alone_and_stands_as_before(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    before = hpa_of(cluster, served)
    rows = drilled(foreseen, cluster, served)
    after = hpa_of(cluster, served)
    assert {result for result, _ in rows.values()} == {"pass"}, rows
    assert rows["7 the API takes the write"][1].startswith("a dry run takes 5 and 20 with forecaster/original=2")
    assert cluster.patches(served, "llm") >= 3  # two floors and a release at least, which the server took and did not keep
    assert writes(cluster, served) == []
    assert [part(after, path) for path in SAME] == [part(before, path) for path in SAME]
    assert "forecaster" not in {entry["manager"] for entry in after["metadata"]["managedFields"]}


def test_the_policy_that_deploy_recommends_takes_all_that_the_drill_sends(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    token_granted(cluster, served)
    with standing(cluster, rendered(cluster, KUSTOMIZE / "admission")):
        label = (
            "patch",
            "hpa",
            "llm",
            "--namespace",
            served,
            "--type=merge",
            "-p",
            '{"metadata":{"labels":{"a":""}}}',
            "--dry-run=server",
        )
        eventually(lambda: "forecaster-our-field-only" in cluster.tried(*label, AS_US).stderr)
        rows = drilled(foreseen, cluster, served)
    assert failed(rows) == {}
    assert rows["7 the API takes the write"][0] == "pass"


def test_a_policy_that_would_refuse_a_floor_is_told_in_the_servers_own_words(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    with denying(cluster, served, "object.spec.minReplicas <= 10", "a team has 10 GPUs"):
        found = failed(drilled(foreseen, cluster, served))
    assert found.keys() == {"7 the API takes the write"}
    assert "a team has 10 GPUs" in found["7 the API takes the write"]
    assert writes(cluster, served) == []


def test_a_field_that_argo_cd_holds_is_a_failure_with_the_entry_that_ends_it(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    apply(cluster, served, hpa(min_replicas=3), manager="argocd-controller")
    found = failed(drilled(foreseen, cluster, served))
    assert found.keys() == {"7 nobody else writes the field"}
    assert found["7 nobody else writes the field"].startswith("argocd-controller holds the field and will write its own value back")
    assert 'jsonPointers: ["/spec/minReplicas"]' in found["7 nobody else writes the field"]


def test_a_role_without_patch_fails_with_the_rule_and_all_else_is_rehearsed(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    token = token_granted(cluster, served)
    rules = [{"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["get", "list"]}]
    cluster.kubectl("patch", "role", "forecaster", "--namespace", served, "--type=merge", "-p", json.dumps({"rules": rules}))
    desk = Desk(folder=foreseen.folder, env={**foreseen.env, "NAMESPACE": served, "KUBE_TOKEN": token})
    eventually(lambda: "7 rights are enough" in failed(rows_of(desk)))
    rows = rows_of(desk)
    assert failed(rows).keys() == {"7 rights are enough"}
    assert "verbs: [patch]" in rows["7 rights are enough"][1]
    assert rows["7 the API takes the write"][0] == "not applicable"
    assert rows["8 the original comes back"][0] == "pass"


def test_an_administrator_is_told_what_it_may_and_needs_not(foreseen: Desk, cluster: ControlPlane, served: str) -> None:
    env = {**foreseen.env, "NAMESPACE": served, "KUBE_TOKEN": cluster.admin_token}
    result, evidence = rows_of(Desk(folder=foreseen.folder, env=env))["7 rights are no more than needed"]
    assert result == "warning"
    assert "get secrets, delete pods, create pods/exec" in evidence


def test_a_hpa_that_cannot_read_its_metric_leaves_nothing_above_the_floor(
    foreseen: Desk, cluster: ControlPlane, served: str, metrics: ExternalMetrics
) -> None:
    metrics.values.pop((served, "requests"))
    eventually(lambda: "FailedGetExternalMetric" in cluster.value("hpa", served, "llm", ".status.conditions"))
    found = failed(drilled(foreseen, cluster, served))
    assert found.keys() == {"if Forecaster dies"}
    assert "the HPA does not scale now (FailedGetExternalMetric" in found["if Forecaster dies"]


@contextmanager
def denying(cluster: ControlPlane, namespace: str, expression: str, message: str) -> Iterator[None]:
    """A ValidatingAdmissionPolicy over the HPAs of the namespace, once it is in force."""
    name = f"drill-{namespace}"
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["horizontalpodautoscalers"]}
    always = {"expression": "!has(object.metadata.labels) || !('probe' in object.metadata.labels)", "message": "the probe is seen"}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression, "message": message}, always],
    }
    selected = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": selected}
    objects = [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": each}
        for kind, each in (("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", binding))
    ]
    manifests = yaml.safe_dump_all(objects)
    cluster.apply(manifests)
    try:
        probe = ("label", "hpa", "llm", "--namespace", namespace, "probe=yes", "--dry-run=server")
        eventually(lambda: "the probe is seen" in cluster.tried(*probe).stderr)
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", stdin=manifests)


def part(value: Json, path: str) -> object:
    """A part of an object, None where it is not there."""
    found: Any = value
    for key in path.split("."):
        found = (found or {}).get(key)
    return found

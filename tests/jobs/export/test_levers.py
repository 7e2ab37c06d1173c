"""What `export lever-rights` and `export lever-policy` print. That the API server takes it is shown in tests/cluster/test_levers.py."""

import json
from pathlib import Path

import pytest
import yaml

from connectors.kube.cluster import ObjectRef
from connectors.kube.paths import parse
from jobs.export.lever_policy import POLICY, VARIABLE, lever_expression
from jobs.export.lever_rights import lever_roles
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.config.samples import SAMPLE

ROOT = Path(__file__).parents[3]
GATEWAY = {"type": "kubernetes-field", "api_version": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "name": "chat"}
ENGINE = {"type": "kubernetes-field", "api_version": "v1", "kind": "ConfigMap", "namespace": "llm", "name": "engine"}
LEVERS = {
    "breaker": GATEWAY | {"namespace": "llm", "field": "spec.circuitBreaker.maxParallelRequests"},
    "retries": GATEWAY | {"namespace": "llm", "field": "spec.retry.numRetries"},
    "batch": ENGINE | {"field": "data.max_num_seqs"},
    "note": ENGINE | {"field": "metadata.annotations.note"},
}


def exported(folder: Path, what: str, levers: dict[str, dict[str, str]]) -> Ended:
    tiers = yaml.safe_dump({"tiers": {"levers": levers}}) if levers else ""
    (folder / "forecaster.yaml").write_text(SAMPLE + tiers)
    return forecaster(folder, "export", what)


def test_rights_are_one_role_a_namespace_with_each_object_by_name(tmp_path: Path) -> None:
    other = GATEWAY | {"namespace": "code", "field": "spec.retry.numRetries"}
    ended = exported(tmp_path, "lever-rights", LEVERS | {"other": other})
    code, _, llm, binding = yaml.safe_load_all(ended.out)
    assert [(one["kind"], one["metadata"]["namespace"]) for one in (code, llm)] == [("Role", "code"), ("Role", "llm")]
    assert [(rule["apiGroups"], rule["resources"], rule["resourceNames"]) for rule in llm["rules"]] == [
        ([""], ["configmaps"], ["engine"]),
        (["gateway.envoyproxy.io"], ["backendtrafficpolicies"], ["chat"]),
    ]
    assert {verb for rule in llm["rules"] for verb in rule["verbs"]} == {"get", "patch"}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "forecaster", "namespace": "forecaster"}]


def test_an_object_of_the_whole_cluster_needs_a_cluster_role() -> None:
    role, binding = lever_roles([ObjectRef(group="example.com", version="v1", plural="engines", namespace="", name="all")])
    assert (role["kind"], binding["kind"], role["metadata"]) == ("ClusterRole", "ClusterRoleBinding", {"name": "forecaster-levers"})


def test_the_policys_component_replaces_the_variable_that_there_is(tmp_path: Path) -> None:
    ended = exported(tmp_path, "lever-policy", LEVERS)
    component = yaml.safe_load(ended.out)
    (change,) = component["patches"]
    tested, replaced = json.loads(change["patch"])
    policy, _ = yaml.safe_load_all((ROOT / "deploy" / "kustomize" / "admission" / "policy.yaml").read_text())
    assert change["target"] == {"kind": policy["kind"], "name": policy["metadata"]["name"]} == {"kind": policy["kind"], "name": POLICY}
    assert policy["spec"]["variables"][0] == {"name": VARIABLE, "expression": "false"}
    assert (tested["path"], tested["value"]) == ("/spec/variables/0/name", VARIABLE)
    assert "max_num_seqs" in replaced["value"]
    assert "note" not in replaced["value"]
    assert "left out: kubernetes-field:llm/configmaps/engine/metadata.annotations.note" in ended.err


def test_two_fields_of_one_object_are_one_condition_and_quotes_stay_inside_of_texts() -> None:
    ref = ObjectRef(group="", version="v1", plural="configmaps", namespace="llm", name="engine")
    said = lever_expression([(ref, ("data", 'a"b')), (ref, parse("data.c"))])
    assert said.count("request.name ==") == 1
    assert r'["a\"b", "c"]' in said
    assert lever_expression([]) == "false"


@pytest.mark.parametrize("what", ["lever-rights", "lever-policy"])
def test_without_a_lever_on_an_api_server_it_is_said(tmp_path: Path, what: str) -> None:
    ended = exported(tmp_path, what, {})
    assert (ended.code, ended.out) == (2, "")
    assert "there is no lever of type kubernetes-field in" in ended.err

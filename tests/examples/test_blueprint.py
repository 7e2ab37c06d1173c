"""examples/blueprint: its configurations say nothing wrong, and name what stands beside them."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.checking.check import check_all
from jobs.checking.finding import State
from jobs.clock import SystemClock
from tests.services import program

BLUEPRINT = Path(__file__).parents[2] / "examples" / "blueprint"
VARIANTS = ("hpa", "keda")


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


@pytest.mark.parametrize("variant", VARIANTS)
def test_check_finds_nothing_wrong_but_servers_that_cannot_be_reached(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORECASTER_STORE", "postgresql://forecaster:s3cret@127.0.0.1:1/forecaster")
    findings = check_all(BLUEPRINT / variant / "forecaster.yaml", SystemClock().now())
    wrong = [finding for finding in findings if finding.state is not State.OK]
    assert {finding.what for finding in findings if finding.state is State.OK} >= {"configuration", "policy"}
    assert all(re.search(r"cannot be reached|no way into the cluster", finding.sentence) for finding in wrong), wrong


@pytest.mark.parametrize(("variant", "file"), [("hpa", "hpa.yaml"), ("keda", "scaledobject.yaml")])
def test_the_target_is_the_autoscaler_beside_it_which_scales_the_model_server(variant: str, file: str) -> None:
    config = yaml.safe_load((BLUEPRINT / variant / "forecaster.yaml").read_text())
    (target,) = config["workloads"][0]["pools"][0]["targets"]
    (scaler,) = documents(BLUEPRINT / variant / file)
    assert (target["namespace"], target["name"]) == (scaler["metadata"]["namespace"], scaler["metadata"]["name"])
    server = documents(BLUEPRINT / "common" / "vllm.yaml")[0]
    assert scaler["spec"]["scaleTargetRef"]["name"] == server["metadata"]["name"]
    assert "replicas" not in server["spec"]  # its autoscaler's


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_counted_at_the_gateway_is_what_its_route_sends_to_the_server(variant: str) -> None:
    config = yaml.safe_load((BLUEPRINT / variant / "forecaster.yaml").read_text())
    envoy, vllm = config["workloads"][0]["presets"]
    route = next(each for each in documents(BLUEPRINT / "common" / "gateway.yaml") if each["kind"] == "HTTPRoute")
    named = f"httproute/{route['metadata']['namespace']}/{route['metadata']['name']}/rule/0"
    assert envoy["match"] == {"envoy_cluster_name": named}
    arguments = documents(BLUEPRINT / "common" / "vllm.yaml")[0]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert vllm["match"]["model_name"] == arguments[arguments.index("--served-model-name") + 1]


def test_taking_it_away_takes_no_namespace_that_others_live_in() -> None:
    folders = (BLUEPRINT, BLUEPRINT.parents[1] / "deploy" / "kustomize")
    names = {
        each["metadata"]["name"]
        for folder in folders
        for path in folder.rglob("*.yaml")
        for each in documents(path)
        if each.get("kind") == "Namespace"
    }
    assert names == {"forecaster", "forecaster-watchdog"}  # `kubectl delete -k` deletes a namespace with everything in it


def test_prometheus_takes_its_alerts(tmp_path: Path) -> None:
    promtool = program("promtool", "prometheus")
    rule = next(each for each in documents(BLUEPRINT / "common" / "monitoring.yaml") if each["kind"] == "PrometheusRule")
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule["spec"]))
    done = subprocess.run([promtool, "check", "rules", str(path)], capture_output=True, text=True, check=False)  # noqa: S603 - Debian's program
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_walk_names_files_that_are_there_and_commands_that_exist() -> None:
    text = (BLUEPRINT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)", text):
        assert (BLUEPRINT / link).exists(), link
    for folder in re.findall(r"-k (examples/blueprint/\w+)", text):
        assert (BLUEPRINT.parents[1] / folder / "kustomization.yaml").exists()

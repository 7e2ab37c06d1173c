"""What is in deploy/kustomize beside rights: the configuration to begin with, alerts, the dashboard, ports and names."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from jobs.checking.check import check_all
from jobs.checking.finding import State
from jobs.clock import SystemClock
from jobs.config.reading import read_config
from jobs.references.rules import rules_manifest
from jobs.telemetry.catalogue import METRICS
from jobs.telemetry.metric import Kind
from jobs.watchdog.kinds import kind_of
from jobs.watchdog.main import DEFAULT, app
from tests.services import program

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
BASE = KUSTOMIZE / "base"
DASHBOARD = json.loads((KUSTOMIZE / "monitoring" / "forecaster.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
SUFFIXES = ("_bucket", "_sum", "_count")


@pytest.fixture(autouse=True)
def _store(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address at which nobody listens."""
    monkeypatch.setenv("FORECASTER_STORE", "postgresql://forecaster:s3cret@127.0.0.1:1/forecaster")


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def test_the_configuration_of_the_base_observes_under_a_lease_and_opens_the_ports_of_the_deployment() -> None:
    config = read_config(BASE / "forecaster.yaml")
    assert [workload.policy.mode for workload in config.workloads] == ["observe"]
    assert config.lease is not None
    assert config.lease.namespace == "forecaster"
    assert config.serve.grpc is not None
    (deployment,) = documents(BASE / "deployment.yaml")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": config.daemon.port, "grpc": config.serve.grpc.port}
    (service,) = documents(BASE / "service.yaml")
    assert {port["name"]: port["port"] for port in service["spec"]["ports"]} == ports
    (network,) = documents(BASE / "network.yaml")
    assert {port["port"] for rule in network["spec"]["ingress"] for port in rule["ports"]} == set(ports.values())


def test_check_finds_nothing_wrong_with_it_but_servers_that_cannot_be_reached() -> None:
    findings = check_all(BASE / "forecaster.yaml", SystemClock().now())
    wrong = [finding for finding in findings if finding.state is not State.OK]
    assert {finding.what for finding in findings if finding.state is State.OK} >= {"configuration", "policy"}
    assert all(re.search(r"cannot be reached|no way into the cluster", finding.sentence) for finding in wrong), wrong


def test_two_replicas_on_sqlite_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text((BASE / "forecaster.yaml").read_text().replace("${FORECASTER_STORE}", "sqlite:///forecaster.db"))
    findings = check_all(path, SystemClock().now())
    assert [(finding.state, "share no sqlite store" in finding.sentence) for finding in findings] == [(State.FAILED, True)]


def test_the_alerts_are_those_of_the_one_place_where_they_are_written() -> None:
    rules = (ROOT / "deploy" / "prometheus-rules.yaml").read_text(encoding="utf-8")
    path = KUSTOMIZE / "monitoring" / "prometheusrule.yaml"
    assert path.read_text(encoding="utf-8") == rules_manifest(rules), "run `make docs` and commit what it writes"
    (manifest,) = documents(path)
    assert manifest["spec"] == yaml.safe_load(rules)


def test_every_panel_has_a_unit_and_a_description() -> None:
    for panel in PANELS:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["description"].endswith("."), panel["title"]


def test_panels_lie_beside_each_other() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [(x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_query_of_the_dashboard_asks_for_a_metric_of_the_catalogue_with_labels_that_it_has(expression: str) -> None:
    known = {metric.name: metric for metric in METRICS}
    named = re.findall(r"(forecaster_\w+)(?:\{([^}]*)\})?", expression)
    assert named
    for name, matchers in named:
        plain = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.removesuffix(suffix) in known), name)
        assert plain in known, expression
        assert (plain == name) != (known[plain].kind is Kind.HISTOGRAM)
        labels = {*known[plain].labels, *({"le"} if plain != name else ())}
        grouped = {label.strip() for by in re.findall(r"by \(([^)]*)\)", expression) for label in by.split(",")}
        assert set(re.findall(r"(\w+)=", matchers)) <= labels
        assert grouped <= labels, expression


def test_the_dashboard_shows_what_one_has_to_know() -> None:
    shown = {name for expression in EXPRESSIONS for name in re.findall(r"forecaster_\w+", expression)}
    assert shown >= {
        "forecaster_floor_replicas",
        "forecaster_planned_floor_replicas",
        "forecaster_live_need_replicas",
        "forecaster_ready_replicas",
        "forecaster_overdue_replicas",
        "forecaster_shortfall_replica_seconds_total",
        "forecaster_floor_binding_replica_seconds_total",
        "forecaster_floor_wasted_replica_seconds_total",
        "forecaster_plan_issued_timestamp_seconds",
        "forecaster_trust_score",
        "forecaster_forecast_coverage_ratio",
        "forecaster_failures_total",
        "forecaster_alert",
    }


def test_prometheus_takes_every_query_of_the_dashboard(tmp_path: Path) -> None:
    promtool = program("promtool", "prometheus")
    rules = [{"record": f"panel:{i}", "expr": re.sub(r"\$\w+", ".*", expression)} for i, expression in enumerate(EXPRESSIONS)]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run([promtool, "check", "rules", str(path)], capture_output=True, text=True, check=False)  # noqa: S603 - Debian's program
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_watchdog_runs_under_names_that_it_knows_and_ends_before_the_next_one_begins() -> None:
    (job,) = documents(KUSTOMIZE / "watchdog" / "cronjob.yaml")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    assert job["spec"]["schedule"] == "*/10 * * * *"
    assert job["spec"]["jobTemplate"]["spec"]["activeDeadlineSeconds"] < 600
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert container["command"][0] in scripts
    command = typer.main.get_command(app)
    assert {variable["name"] for variable in container["env"]} <= {option.envvar for option in command.params}
    assert [kind_of(kind).listed.plural for kind in DEFAULT] == ["horizontalpodautoscalers", "scaledobjects"]


def test_the_admission_policy_takes_the_service_accounts_that_there_are() -> None:
    policy, binding = documents(KUSTOMIZE / "admission" / "policy.yaml")
    accounts = set(re.findall(r"system:serviceaccount:([\w-]+):([\w-]+)", policy["spec"]["matchConditions"][0]["expression"]))
    there = {
        (kustomization["namespace"], one["metadata"]["name"])
        for folder in ("base", "watchdog")
        for kustomization in documents(KUSTOMIZE / folder / "kustomization.yaml")
        for resource in kustomization["resources"]
        for one in documents(KUSTOMIZE / folder / resource)
        if one["kind"] == "ServiceAccount"
    }
    assert accounts == there
    assert (binding["spec"]["policyName"], binding["spec"]["validationActions"]) == (policy["metadata"]["name"], ["Deny", "Audit"])


def test_jobs_of_cron_do_not_overlap_and_do_what_the_crontab_does() -> None:
    jobs = documents(KUSTOMIZE / "cronjob" / "cronjobs.yaml")
    begins = {job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"][0]: job["spec"]["schedule"] for job in jobs}
    assert begins == {"apply": "* * * * *", "forecast": "7 * * * *"}
    assert {job["spec"]["concurrencyPolicy"] for job in jobs} == {"Forbid"}

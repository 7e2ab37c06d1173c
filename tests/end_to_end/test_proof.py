"""`forecaster backtest --prometheus` as a sceptic runs it: nothing installed, nothing configured, nothing written to the cluster."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from forecaster.units import DAY_S, floor_to
from tests.end_to_end.desk import Desk
from tests.jobs.proof.hpas import add, cpu, kubeconfig, pods
from tests.kube_api import KubeApi
from tests.prometheus import counter, gauge, prometheus_server
from tests.services import free_port

DAYS = 5
OURS = ("hpa_yours", "ours_hpa_yours", "ours_retargeted", "ours")
WIDTH = 100


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Five days up to now of a service whose load rises tenfold each morning."""
    now = datetime.now(UTC)  # noqa: TID251  # the command reads the clock: its history must end there
    start = floor_to(now, DAY_S) - timedelta(days=DAYS)
    hours = np.arange(int((now - start).total_seconds() // 60)) / 60
    day = 0.1 + 0.9 * np.clip(np.sin((hours % 24 - 7) / 24 * 2 * np.pi), 0, 1)
    rpm = np.round(6_000 * day * np.random.default_rng(1).lognormal(0, 0.03, hours.size))
    texts = (
        counter("http_requests_total", start, rpm.tolist(), labels='namespace="inference",pod="chat-6d4f8b7c9-abcde"'),
        gauge("two", start, [1.0] * hours.size, labels='of="a"'),
        gauge("two", start, [1.0] * hours.size, labels='of="b"'),
    )
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), "".join(texts)) as address:
        yield address


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        add(server, pods("http_requests_per_second", "5"))
        add(server, cpu(60), name="busy")
        yield server


@pytest.fixture
def desk(tmp_path: Path, api: KubeApi) -> Desk:
    """An empty folder, without a configuration, of somebody who is logged in to the cluster."""
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder=folder, env={"KUBECONFIG": str(kubeconfig(tmp_path / "kubeconfig", api.url)), "COLUMNS": str(WIDTH)})


@pytest.fixture(scope="module")
def proof(url: str, api: KubeApi, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that one proof wrote, and what it said."""
    folder = tmp_path_factory.mktemp("proof")
    desk = Desk(folder=folder, env={"KUBECONFIG": str(kubeconfig(folder / "kubeconfig", api.url))})
    done = desk.done("backtest", "--prometheus", url, "--hpa", "inference/chat", "--out", "out")
    assert done.err == ""
    return folder / "out", done.out


def summary_of(proof: tuple[Path, str]) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((proof[0] / "summary.json").read_text())
    return summary


def test_the_cluster_was_only_read(proof: tuple[Path, str], api: KubeApi) -> None:
    assert proof
    assert not api.writes
    assert {request.verb for request in api.requests} == {"get"}


def test_every_policy_tells_hours_lateness_minutes_and_mornings(proof: tuple[Path, str]) -> None:
    policies = summary_of(proof)["policies"]
    assert policies.keys() >= {*OURS, "hpa_best", "keda_cron_best", "last_week", "aws_like", "dynamo_like", "holt_winters"}
    for name in OURS:
        assert policies[name].keys() >= {"replica_hours", "late_ratio", "late_minutes", "mornings_missed", "wait_s"}
    assert summary_of(proof)["mornings"] == 2


def test_the_terminal_shows_tables_of_a_hundred_columns_and_a_chart_with_units(proof: tuple[Path, str]) -> None:
    said = proof[1]
    table_lines = [line for line in said.splitlines() if line.startswith((" hpa", " ours", " policy", " keda", " clairvoyant", " ─"))]
    assert len(table_lines) >= 12
    assert max(map(len, table_lines)) <= WIDTH
    assert {word for line in table_lines for word in line.split()[:1]} >= set(OURS)
    assert "late requests  h plain HPA  c KEDA cron  o our floors  Y your HPA  @ recommended  · limit" in said
    assert "replica-hours" in said
    assert "Against your HPA as it is, our floors under it: " in said
    assert "target 70% of what a replica carries" in said


def test_the_chart_is_an_svg_that_names_its_axes_and_lines(proof: tuple[Path, str]) -> None:
    texts = [element.text for element in ET.parse(proof[0] / "frontier.svg").iter() if element.text and element.text.strip()]  # noqa: S314
    assert {"replica-hours (less is cheaper)", "late requests, % (log scale)", "plain HPA", "KEDA cron", "our floors"} <= set(texts)


def test_the_hpa_is_told_in_the_summary_as_it_was_read(proof: tuple[Path, str], url: str) -> None:
    summary = summary_of(proof)
    assert summary["hpa"]["target_utilisation"] == pytest.approx(0.7)
    assert summary["load"]["prometheus"] == url
    assert summary["mu"] == pytest.approx(300 / 0.7)


def test_the_best_cron_can_be_exported_with_the_load_beside_it(proof: tuple[Path, str], desk: Desk) -> None:
    done = desk.done("export", "keda-cron", "--from", str(proof[0]))
    scaled = yaml.safe_load(done.out)
    assert (scaled["kind"], scaled["metadata"]) == ("ScaledObject", {"name": "chat", "namespace": "inference"})
    assert (scaled["spec"]["scaleTargetRef"]["name"], scaled["spec"]["maxReplicaCount"]) == ("chat", 40)
    *crons, load = scaled["spec"]["triggers"]
    assert all(one["metadata"].keys() == {"timezone", "start", "end", "desiredReplicas"} for one in crons)
    assert load["metadata"]["query"] == summary_of(proof)["load"]["query"]


def test_the_recommended_target_can_be_exported_as_a_patch(proof: tuple[Path, str], desk: Desk) -> None:
    patch = yaml.safe_load(desk.done("export", "hpa", "--from", str(proof[0] / "summary.json")).out)
    (metric,) = patch["spec"]["metrics"]
    target = summary_of(proof)["operating_point"]["hpa_target_utilisation"]
    value = metric["pods"]["target"]["averageValue"]
    assert float(value.removesuffix("m")) / (1_000 if value.endswith("m") else 1) == pytest.approx(5 * target / 0.7, rel=0.01)
    assert desk.done("export", "hpa", "--best", "--from", str(proof[0])).out


def test_actions_of_a_node_group_can_be_exported(proof: tuple[Path, str], desk: Desk) -> None:
    done = desk.done("export", "asg-scheduled", "--from", str(proof[0]), "--group", "gpu", "--min", "1")
    assert done.json["AutoScalingGroupName"] == "gpu"
    assert len(done.sentences) == 1
    flat = desk.run("export", "asg-scheduled", "--from", str(proof[0]), "--group", "gpu", "--min", "1", "--replicas-per-node", "40")
    assert (flat.code, flat.out, "nothing to schedule: no hour asks for more than 1 of the nodes with 40 replicas each" in flat.err) == (
        1,
        "",
        True,
    ), flat


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 2, "name the load once: --csv TRACE, or --prometheus URL"),
        (("--csv", "a.csv", "--prometheus", "URL", "--query", "two"), 2, "name the load once"),
        (("--prometheus", "URL"), 2, "--prometheus needs --hpa NAMESPACE/NAME"),
        (("--csv", "a.csv", "--hpa", "inference/chat"), 2, "--hpa needs --prometheus URL"),
        (
            ("--prometheus", "prometheus:9090", "--query", "load"),
            2,
            "prometheus:9090 is no file and no address of a Prometheus: write http://",
        ),
        (("--prometheus", "URL", "--query", ""), 2, "--query is blank"),
        (("--csv", "a.csv", "--query", " "), 2, "--query is blank"),
        (("--csv", ""), 2, "--csv or --prometheus is blank"),
        (("--prometheus", "URL", "--hpa", ""), 2, "--hpa is blank"),
        (("--prometheus", "URL", "--hpa", "chat"), 2, "is no NAMESPACE/NAME"),
        (("--prometheus", "URL", "--hpa", "inference/lost"), 1, "there is no HPA inference/lost"),
        (("--prometheus", "URL", "--hpa", "inference/busy"), 2, "scales on cpu, which says how busy its pods are"),
        (("--prometheus", "URL", "--query", "two"), 1, "2 series that differ in of"),
        (("--prometheus", "URL", "--query", "absent"), 1, "has no series that matches 'absent'"),
        (("--prometheus", "http://", "--query", "two"), 2, "url must start with http:// or https:// and a host"),
        (("--prometheus", "http://me:secret@", "--query", "two"), 2, "--prometheus: url must start with"),
        (("--csv", "a.csv", "chat"), 2, "name that with --config"),
    ],
)
def test_what_cannot_be_proven_is_one_sentence(desk: Desk, url: str, words: tuple[str, ...], code: int, sentence: str) -> None:
    outcome = desk.run("backtest", *(url if word == "URL" else word for word in words), "--out", "out")
    assert (outcome.code, outcome.out, len(outcome.sentences)) == (code, "", 1), outcome
    assert sentence in outcome.err
    assert "secret" not in outcome.err
    assert not (desk.folder / "out").exists()


def test_servers_that_do_not_answer_are_named(desk: Desk, url: str, tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    prometheus = desk.run("backtest", "--prometheus", nowhere, "--query", "two")
    assert (prometheus.code, len(prometheus.sentences)) == (1, 1)
    assert f"Prometheus at {nowhere} cannot be reached" in prometheus.err
    away = Desk(folder=desk.folder, env={"KUBECONFIG": str(kubeconfig(tmp_path / "away", nowhere))})
    cluster = away.run("backtest", "--prometheus", url, "--hpa", "inference/chat")
    assert (cluster.code, len(cluster.sentences)) == (1, 1)
    assert "cannot get horizontalpodautoscalers.autoscaling inference/chat: no answer" in cluster.err


def test_a_role_that_may_not_read_the_hpa_is_told_the_rule(url: str, tmp_path: Path) -> None:
    with KubeApi() as closed:
        add(closed, pods("http_requests_per_second", "5"))
        closed.forbid("get")
        desk = Desk(folder=tmp_path, env={"KUBECONFIG": str(kubeconfig(tmp_path / "kubeconfig", closed.url))})
        outcome = desk.run("backtest", "--prometheus", url, "--hpa", "inference/chat")
    assert (outcome.code, len(outcome.sentences)) == (1, 1)
    assert "add the RBAC rule" in outcome.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("keda-cron",), "name one: a WORKLOAD, whose plan is printed, or --from DIR"),
        (("keda-cron", "--from", "lost"), "lost cannot be read"),
        (("keda-cron", "--from", "other.json"), "other.json is no summary of a backtest (first_origin: Field required)"),
        (("asg-scheduled", "--from", "broken.json", "--group", "gpu"), "broken.json is no summary of a backtest"),
        (("hpa", "--from", "lost"), "write one with `forecaster backtest ... --out DIR`"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(desk: Desk, words: tuple[str, ...], sentence: str) -> None:
    (desk.folder / "other.json").write_text("{}")
    (desk.folder / "broken.json").write_text("{")
    outcome = desk.run("export", *words)
    assert (outcome.code, outcome.out, len(outcome.sentences)) == (2, "", 1), outcome
    assert sentence in outcome.err

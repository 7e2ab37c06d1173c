"""What `check` says of presets, asked of a real Prometheus: what comes from where, and what it looked for in vain."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.connectors.sources.presets.expositions import MINUTES, START, count, dcgm, envoy, level, vllm
from tests.loopback_prometheus import failure, in_turn, loopback_prometheus, matrix
from tests.prometheus import prometheus_server
from tests.services import free_port

NOW = START + timedelta(minutes=MINUTES)
ENVOY = {"name": "envoy", "match": {"envoy_cluster_name": "llama", "namespace": "inference"}}
VLLM = {"name": "vllm", "match": {"model_name": "llama", "namespace": "inference"}}


def twice() -> Iterator[str]:
    """One pod that a ServiceMonitor and a PodMonitor scrape both."""
    for job in ("by-pod", "by-service"):
        at = {"model_name": "twice", "namespace": "doubled", "pod": "a", "instance": "a:8000", "job": job}
        yield count("vllm:request_success_total", 60, at, finished_reason="stop")
        yield level("vllm:num_requests_running", 4, at)


def half() -> Iterator[str]:
    """An engine that says what it has at work, and not what waits."""
    at = {"namespace": "half", "pod": "a", "instance": "a:3000", "job": "tgi"}
    yield level("tgi_batch_current_size", 4, at)
    yield count("kong_ai_llm_tokens_total", 60, at, token_type="prompt_tokens")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prometheus_server(tmp_path_factory.mktemp("check"), "".join([*vllm(), *envoy(), *dcgm(), *twice(), *half()])) as url:
        yield url


def checked(folder: Path, url: str, *presets: Mapping[str, object]) -> list[Finding]:
    path = folder / "forecaster.yaml"
    pool = {"name": "gpu", "capacity": {"rpm": 100, "concurrency": 30}, "targets": [{"type": "recording", "name": "chat"}]}
    workload = {"name": "chat", "source": "prometheus", "presets": list(presets), "pools": [pool]}
    path.write_text(
        yaml.safe_dump({"store": "memory:", "sources": {"prometheus": {"type": "prometheus", "url": url}}, "workloads": [workload]})
    )
    return list(check_all(path, NOW))


def about(findings: list[Finding], what: str, where: str = "chat") -> Finding:
    (found,) = [one for one in findings if (one.what, one.where) == (what, where)]
    return found


def test_one_line_says_which_quantity_comes_from_where_and_what_is_not_supplied(tmp_path: Path, url: str) -> None:
    said = about(checked(tmp_path, url, ENVOY, VLLM), "presets").sentence
    assert "rpm: envoy (arrivals) 180 requests/min" in said
    assert "concurrency: vllm 18 requests in flight" in said
    assert "P95 latency: vllm 0.975 s" in said
    assert "GPU: not supplied, GPU memory: not supplied" in said


def test_every_signal_that_is_asked_for_has_a_row_with_its_number(tmp_path: Path, url: str) -> None:
    findings = checked(tmp_path, url, ENVOY, VLLM)
    rpm = about(findings, "query", "chat: rpm")
    assert rpm.state is State.OK
    assert rpm.sentence.startswith("preset envoy (arrivals): 180 requests/min in the last measured minute, ")
    assert about(findings, "query", "chat: queue_depth").sentence.startswith("preset vllm: 6 requests waiting")
    assert about(findings, "history", "chat: rpm").state is State.WARNING


def test_l06_a_preset_that_matches_nothing_says_what_was_tried_and_what_there_is_and_never_reads_zero(tmp_path: Path, url: str) -> None:
    findings = checked(tmp_path, url, {**VLLM, "match": {"model_name": "lama"}})
    summary, silent = [one for one in findings if one.what == "presets"]
    assert silent.state is State.FAILED
    assert silent.sentence == (
        'preset vllm finds no vllm:request_success_total or vllm_request_success_total with model_name="lama"; '
        "vllm:request_success_total is there with model_name llama, mistral, twice; correct match"
    )
    assert "rpm: vllm (completions) nothing measured" in summary.sentence
    assert not [one for one in findings if one.what == "query"]


def test_a_preset_of_something_that_is_not_there_says_that_nothing_is_alike(tmp_path: Path, url: str) -> None:
    findings = checked(tmp_path, url, {"name": "sglang", "match": {"model_name": "llama"}})
    silent = [one for one in findings if one.what == "presets"][-1]
    assert silent.state is State.FAILED
    assert f"Prometheus at {url} has none of them under any label; it has nothing alike: not supplied" in silent.sentence


def test_a_quantity_that_this_version_does_not_tell_is_shown_with_what_the_server_has_of_the_same_family(tmp_path: Path, url: str) -> None:
    doubled = {"name": "vllm", "match": {"model_name": "twice", "namespace": "doubled"}}
    row = about(checked(tmp_path, url, doubled), "query", "chat: queue_depth")
    assert row.state is State.WARNING
    assert row.sentence.startswith('preset vllm finds no vllm:num_requests_waiting or vllm_num_requests_waiting with model_name="twice"')


def test_of_several_metrics_the_one_that_is_missing_is_named_and_what_is_there_is_not_blamed(tmp_path: Path, url: str) -> None:
    tgi = {"name": "tgi", "match": {"namespace": "half"}, "only": ["concurrency"]}
    nowhere = [one for one in checked(tmp_path, url, tgi) if one.what == "presets"][-1]
    assert nowhere.sentence.startswith(
        f"preset tgi finds no tgi_queue_size, and Prometheus at {url} has none of them under any label; of tgi_"
    )
    doubled = {"name": "vllm", "match": {"model_name": "twice", "namespace": "doubled"}, "only": ["rpm", "concurrency"]}
    elsewhere = about(checked(tmp_path, url, doubled), "query", "chat: concurrency")
    assert elsewhere.sentence.startswith(
        'preset vllm finds no vllm:num_requests_waiting or vllm_num_requests_waiting with model_name="twice"'
    )


def test_a_metric_that_is_there_and_tells_other_things_of_the_service_does_not_make_match_wrong(tmp_path: Path, url: str) -> None:
    kong = {"name": "kong", "match": {"namespace": "half"}, "only": ["tokens"]}
    silent = [one for one in checked(tmp_path, url, kong) if one.what == "presets"][-1]
    assert silent.sentence.endswith(
        'with namespace="half" and token_type="completion_tokens", though with other values than that: not supplied'
    )


def test_k06_an_instance_that_two_monitors_scrape_is_named(tmp_path: Path, url: str) -> None:
    doubled = {"name": "vllm", "match": {"model_name": "twice", "namespace": "doubled"}}
    (doubt,) = [one for one in checked(tmp_path, url, doubled) if "counted twice" in one.sentence]
    assert doubt.state is State.WARNING
    assert "the same instance is scraped as by-pod and as by-service" in doubt.sentence


def test_l09_a_match_that_reaches_into_other_namespaces_is_named(tmp_path: Path, url: str) -> None:
    (doubt,) = [one for one in checked(tmp_path, url, {**VLLM, "match": {"model_name": "llama"}}) if "adds up" in one.sentence]
    assert doubt.sentence == "preset vllm: adds up the namespaces inference, research; put the workload's own into match"


def test_a_server_that_is_gone_is_said_once_and_nothing_of_it_is_ok(tmp_path: Path) -> None:
    where = f"http://127.0.0.1:{free_port()}"
    findings = checked(tmp_path, where, VLLM, ENVOY)
    assert [one.what for one in findings] == ["configuration", "store", "source", "target", "policy"]
    gone = about(findings, "source", "prometheus")
    assert gone.state is State.FAILED
    assert gone.sentence.startswith(f"Prometheus at {where} cannot be reached: ")
    assert gone.sentence.endswith("; until it answers, load, history and presets are unknown of chat")


def test_a_quantity_that_the_server_could_not_tell_is_unknown_and_no_preset_is_ok_without_a_number(tmp_path: Path) -> None:
    with loopback_prometheus(in_turn(matrix(), failure(503, "overloaded"))) as prometheus:
        summary, *silent = [one for one in checked(tmp_path, prometheus.url, VLLM) if one.what == "presets"]
    assert summary.state is State.WARNING
    assert "concurrency: vllm unknown" in summary.sentence
    assert {one.state for one in silent} == {State.FAILED}

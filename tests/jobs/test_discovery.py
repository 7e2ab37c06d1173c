"""`check --discover`: what serves requests is recognised on a real Prometheus, and proposed as a configuration that works."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from forecaster.units import iso
from jobs.config.reading import read_config
from tests.connectors.sources.presets.expositions import MINUTES, START, count, dcgm, envoy, istio, nginx_ingress, queues, tgi, vllm
from tests.jobs.cli.process import Ended, forecaster
from tests.prometheus import prometheus_server
from tests.services import free_port

NOW = iso(START + timedelta(minutes=MINUTES))


def deployed() -> Iterator[str]:
    """The pods of a Deployment whose model has a slash in its name."""
    for pod in ("qwen-7d9f8b6c55-x2x4z", "qwen-7d9f8b6c55-9k3bd"):
        at = {"model_name": "Qwen/Qwen3-32B", "namespace": "inference", "pod": pod, "instance": f"{pod}:8000"}
        yield count("vllm:num_requests_running", 1, at)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    text = "".join([*vllm(), *envoy(), *dcgm(), *queues(), *deployed()])
    with prometheus_server(tmp_path_factory.mktemp("discovery"), text) as url:
        yield url


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prometheus_server(tmp_path_factory.mktemp("gateways"), "".join([*istio(), *nginx_ingress()])) as url:
        yield url


def discovered(folder: Path, *arguments: str) -> Ended:
    return forecaster(folder, "check", "--discover", *arguments, "--now", NOW)


def proposed(text: str) -> dict[str, list[str]]:
    """The presets of each workload, as they were proposed."""
    return {workload["name"]: [preset["name"] for preset in workload["presets"]] for workload in yaml.safe_load(text)["workloads"]}


def test_each_model_of_each_namespace_is_a_workload_with_its_gpus(tmp_path: Path, url: str) -> None:
    done = discovered(tmp_path, url)
    assert done.code == 0
    assert proposed(done.out) == {
        "inference.Qwen-Qwen3-32B": ["vllm", "dcgm"],
        "inference.llama": ["vllm", "dcgm"],
        "inference.mistral": ["vllm", "dcgm"],
        "research.llama": ["vllm", "dcgm"],
    }
    assert done.err.startswith(f"{url} has vllm 4, envoy 3, sqs 3, kafka-lag 6, rabbitmq 3, dcgm 4; fill in the lines marked <--")


def test_what_is_proposed_is_a_configuration_that_can_be_read_and_moves_nothing(tmp_path: Path, url: str) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(discovered(tmp_path, url).out)
    config = read_config(path)
    assert {target.type for workload in config.workloads for pool in workload.pools for target in pool.targets} == {"recording"}
    assert config.workloads[0].presets[0].match == {"model_name": "Qwen/Qwen3-32B", "namespace": "inference"}


def test_comments_name_the_gateways_the_queues_and_the_hpa_that_would_fit(tmp_path: Path, url: str) -> None:
    text = discovered(tmp_path, url).out
    assert "# - {name: envoy, match: {envoy_cluster_name: llama, namespace: inference}}" in text
    assert "# - {name: rabbitmq, match: {vhost: " in text or "# and " in text
    assert "its pods are of qwen, so look for {type: kubernetes-hpa, namespace: inference, name: qwen}" in text
    assert text.count("capacity: {}  # <--") == 4


def test_where_only_gateways_are_seen_each_service_behind_them_is_a_workload(tmp_path: Path, gateways: str) -> None:
    found = proposed(discovered(tmp_path, gateways).out)
    assert found["inference.llama"] == ["istio"]
    assert sorted(presets for names in found.values() for presets in names) == ["istio"] * 3 + ["nginx-ingress"] * 3


def test_the_sources_of_a_configuration_are_looked_at_with_their_credentials_and_named_not_repeated(tmp_path: Path, url: str) -> None:
    source = {"type": "prometheus", "url": url, "bearer_token": "secret"}
    (tmp_path / "forecaster.yaml").write_text(yaml.safe_dump({"sources": {"metrics": source}}))
    done = discovered(tmp_path)
    assert done.code == 0
    assert "secret" not in done.out
    assert done.out.startswith("# In your configuration already: sources.metrics.\nworkloads:\n")
    assert {workload["source"] for workload in yaml.safe_load(done.out)["workloads"]} == {"metrics"}


def test_a_login_in_the_address_is_proposed_by_the_name_of_its_password_which_is_never_shown(tmp_path: Path, url: str) -> None:
    done = discovered(tmp_path, url.replace("http://", "http://reader:s3cret@"))
    assert done.code == 0
    assert "s3cret" not in done.out + done.err
    assert yaml.safe_load(done.out)["sources"]["prometheus"] == {
        "type": "prometheus",
        "url": url,
        "basic_auth": {"username": "reader", "password": "${PROMETHEUS_PASSWORD}"},
    }


def test_as_json_there_is_every_service_and_the_same_proposal(tmp_path: Path, url: str) -> None:
    yaml_text, asked = discovered(tmp_path, url).out, discovered(tmp_path, url, "--json")
    found = json.loads(asked.out)
    assert asked.code == 0
    assert found["servers"] == [{"name": "prometheus", "url": url, "configured": False}]
    assert found["proposal"] == yaml.safe_load(yaml_text)
    (qwen,) = (service for service in found["services"] if service["owners"] == ["qwen"])
    assert (qwen["preset"], qwen["namespace"], qwen["match"]["model_name"]) == ("vllm", "inference", "Qwen/Qwen3-32B")
    assert discovered(tmp_path, url, "--output", "json").out == asked.out


def test_tables_for_programs_are_not_what_is_discovered(tmp_path: Path, url: str) -> None:
    done = discovered(tmp_path, url, "--output", "csv")
    assert (done.code, done.out) == (2, "")
    assert "--discover prints YAML, or JSON with --json; there is no csv of it" in done.err


def test_a_server_that_has_nothing_is_a_sentence_and_exit_code_1(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with prometheus_server(folder, "".join(tgi()).replace("tgi_", "other_")) as bare:
        done = discovered(tmp_path, bare)
        as_json = discovered(tmp_path, bare, "--json")
    assert (done.code, done.out) == (1, "")
    assert "none of the metrics that presets know (docs/presets.md) in the last day" in done.err
    told = json.loads(as_json.out)
    assert (as_json.code, told["services"], told["proposal"]) == (1, [], None)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "there is no configuration file"),
        (("prometheus:9090",), 2, "the Prometheus must be an address such as http://prometheus.monitoring:9090"),
        ((f"http://127.0.0.1:{free_port()}",), 1, "cannot be reached"),
    ],
)
def test_what_cannot_be_looked_at_is_a_sentence(tmp_path: Path, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    done = discovered(tmp_path, *arguments)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err
    assert "Traceback" not in done.err

"""What a real Prometheus and a cluster tell of a fleet before anything is installed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from connectors.sources.prometheus import PrometheusConfig, PrometheusSource
from forecaster.errors import ConfigRejected, SourceRejected, SourceUnavailable, TraceRejected
from forecaster.series import Floats
from jobs.proof.evidence import Evidence, Wanted, gather
from jobs.proof.history import FETCHED_DAYS, window_before
from tests.jobs.proof.hpas import add, cluster, cpu, external, pods
from tests.kube_api import KubeApi
from tests.prometheus import counter, gauge, prometheus_server
from tests.services import free_port

NOW = datetime(2026, 3, 12, 9, 30, 20, tzinfo=UTC)
START = datetime(2026, 3, 9, tzinfo=UTC)
MINUTES = 3 * 1_440
POD = 'namespace="inference",pod="chat-6d4f8b7c9-abcde"'


def load() -> Floats:
    hours = np.arange(MINUTES) / 60
    rpm: Floats = np.round(600 + 400 * np.sin(hours / 24 * 2 * np.pi) + np.random.default_rng(5).uniform(0, 60, MINUTES))
    return rpm


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    rpm = load()
    texts = (
        counter("http_requests_total", START, rpm.tolist(), labels=POD),
        counter("http_requests_total", START, rpm.tolist(), labels='namespace="inference",pod="other-6d4f8b7c9-abcde"'),
        gauge("in_flight", START, (rpm / 10).tolist(), labels=POD),
        gauge("five_minutes", START, rpm[::5].tolist(), step_s=300),
        gauge("short", START + timedelta(days=2), rpm[:300].tolist()),
        gauge("grown", START, np.cumsum(rpm).tolist()),
        gauge("nothing", START, [float("nan")] * MINUTES),
        gauge("kube_deployment_status_replicas_ready", START, [4.0] * MINUTES, labels='namespace="inference",deployment="chat"'),
    )
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), "".join(texts)) as address:
        yield address


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


def gathered(url: str, api: KubeApi, *, hpa: str | None = None, query: str | None = None, capacity_rpm: float | None = None) -> Evidence:
    source = PrometheusSource(PrometheusConfig(type="prometheus", url=url, attempts=1, timeout_s=20))
    try:
        return gather(Wanted(hpa=hpa, query=query, capacity_rpm=capacity_rpm), source, cluster(api), NOW)
    finally:
        source.close()


def test_the_load_is_that_of_the_hpas_own_pods_in_requests_a_minute(url: str, api: KubeApi) -> None:
    add(api, pods("http_requests_per_second", "5"))
    found = gathered(url, api, hpa="inference/chat")
    assert found.trace.bucket_s == 60
    middle = found.trace.counts[1_000:2_000]
    assert np.nanmean(middle) == pytest.approx(load()[1_000:2_000].mean(), rel=0.01)
    assert not api.writes
    assert {request.verb for request in api.requests} == {"get"}


def test_a_load_per_pod_sizes_a_replica_and_replays_the_hpa_as_it_is(url: str, api: KubeApi) -> None:
    add(api, pods("http_requests_per_second", "5"), cpu(60))
    found = gathered(url, api, hpa="inference/chat")
    assert found.size.replica_rpm == pytest.approx(300 / 0.7)
    assert found.theirs is not None
    assert found.theirs.target == pytest.approx(0.7)
    assert (found.theirs.behavior.minimum, found.theirs.behavior.maximum) == (2, 40)
    assert any("its other metrics (cpu) were not replayed" in note for note in found.notes)
    assert any("For 28 replayed days 42 are wanted" in note for note in found.notes)


def test_a_configured_capacity_says_how_hot_the_hpa_runs(url: str, api: KubeApi) -> None:
    add(api, pods("http_requests_per_second", "5"))
    found = gathered(url, api, hpa="inference/chat", capacity_rpm=400.0)
    assert found.theirs is not None
    assert found.theirs.target == pytest.approx(0.75)


def test_a_gauge_is_taken_as_it_is(url: str, api: KubeApi) -> None:
    add(api, pods("in_flight", "8"))
    found = gathered(url, api, hpa="inference/chat")
    assert np.nanmax(found.trace.counts) == pytest.approx(load().max() / 10)
    assert found.size.replica_rpm == pytest.approx(8 / 0.7)


def test_an_hpa_on_cpu_needs_a_query_and_then_ready_replicas_size_one(url: str, api: KubeApi) -> None:
    add(api, cpu(60))
    with pytest.raises(ConfigRejected, match=r"scales on cpu, which says how busy its pods are, not how much load came: .*--query"):
        gathered(url, api, hpa="inference/chat")
    found = gathered(url, api, hpa="inference/chat", query=f"sum(rate(http_requests_total{{{POD}}}[2m]))")
    assert found.size.replica_rpm == pytest.approx(np.quantile(load() / 4, 0.99), rel=0.02)
    assert found.theirs is not None
    assert (found.theirs.target, found.theirs.behavior.capped) == (0.6, True)


def test_a_query_alone_asks_no_cluster(url: str, api: KubeApi) -> None:
    found = gathered(url, api, query="sum(in_flight)")
    assert (found.hpa, found.theirs, found.size.replica_rpm) == (None, None, None)
    assert not api.requests


def test_a_history_kept_every_five_minutes_is_replayed_as_such_and_said(url: str, api: KubeApi) -> None:
    found = gathered(url, api, query="five_minutes")
    assert found.trace.bucket_s == 300
    assert any("one value every 5 minutes" in note for note in found.notes)


def test_keda_tells_the_query_behind_its_hpa(url: str, api: KubeApi) -> None:
    query = f"sum(rate(http_requests_total{{{POD}}}[2m]))"
    triggers = [{"type": "cpu"}, {"type": "prometheus", "metadata": {"query": query, "threshold": "5"}}]
    api.put("scaledobjects", "inference", "chat", metadata={}, spec={"triggers": triggers})
    add(api, external("s1-prometheus", "5"), labels={"scaledobject.keda.sh/name": "chat"})
    found = gathered(url, api, hpa="inference/chat")
    assert found.load.query.expression == query
    assert found.size.replica_rpm == pytest.approx(300 / 0.7)


def test_without_a_right_to_read_keda_the_query_is_asked_for(url: str, api: KubeApi) -> None:
    add(api, external("s0-prometheus", "5"), labels={"scaledobject.keda.sh/name": "chat"})
    with pytest.raises(ConfigRejected, match=r"scales on s0-prometheus, which is no series of Prometheus by that name: .*--query"):
        gathered(url, api, hpa="inference/chat")


def test_a_metric_without_samples_names_what_was_looked_for(url: str, api: KubeApi) -> None:
    add(api, pods("tokens_per_second", "5"))
    with pytest.raises(SourceRejected, match=r"no samples in 42 days for any of 'sum\(tokens_per_second\{.*tokens_total.*--query"):
        gathered(url, api, hpa="inference/chat")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("nothing", "gave no usable number in the 42 days before .*; correct it"),
        ("absent_metric", "has no series that matches"),
        ("http_requests_total", r"2 series that differ in pod .*with sum\("),
        ("sum(", "refuses 'sum\\('"),
        ("grown", r"only ever grows, as a counter does.*--query 'sum\(rate\(grown\[2m\]\)\)'"),
    ],
)
def test_a_query_that_gives_no_single_load_is_refused_in_a_sentence(url: str, api: KubeApi, query: str, sentence: str) -> None:
    with pytest.raises(SourceRejected, match=sentence):
        gathered(url, api, query=query)


def test_less_than_two_days_are_too_little(url: str, api: KubeApi) -> None:
    with pytest.raises(TraceRejected, match=r"was measured for 0\.2 days only.* a replay needs at least 2 days"):
        gathered(url, api, query="short")


def test_a_server_that_does_not_answer_is_named(api: KubeApi) -> None:
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        gathered(f"http://127.0.0.1:{free_port()}", api, query="in_flight")


def test_neither_hpa_nor_query_is_no_proof() -> None:
    with pytest.raises(ConfigRejected, match="needs --hpa NAMESPACE/NAME"):
        Wanted()


def test_whole_days_are_asked_for_so_that_all_of_28_can_be_replayed() -> None:
    window = window_before(NOW)
    assert (window.start.hour, window.start.minute, window.end) == (0, 0, NOW.replace(second=0))
    assert (window.end - window.start).days == FETCHED_DAYS

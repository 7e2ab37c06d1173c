"""Which PromQL a metric of a HPA stands for."""

import pytest

from forecaster.ports import Unit
from jobs.proof.hpa import Kind, Metric, TheirHpa
from jobs.proof.load_query import guesses, per_pod_rpm, ready_query, written

PODS = 'namespace="inference",pod=~"chat-[a-z0-9]+-[a-z0-9]+"'


def hpa(kind: str = "Deployment", *metrics: Metric) -> TheirHpa:
    return TheirHpa(namespace="inference", name="chat", minimum=1, maximum=9, scales=(kind, "chat"), metrics=metrics)


def first_words(metric: Metric, of: TheirHpa | None = None) -> list[str]:
    return [guess.queries[0].expression for guess in guesses(metric, of or hpa())]


def test_a_rate_that_an_adapter_made_is_looked_for_as_it_is_and_as_its_counter() -> None:
    assert first_words(Metric(kind="Pods", name="http_requests_per_second")) == [
        f"sum(http_requests_per_second{{{PODS}}})",
        f"sum(rate(http_requests_total{{{PODS}}}[2m]))",
        f"sum(rate(http_requests{{{PODS}}}[2m]))",
    ]


def test_a_counter_is_only_ever_a_rate() -> None:
    assert first_words(Metric(kind="Pods", name="http_requests_total")) == [f"sum(rate(http_requests_total{{{PODS}}}[2m]))"]


def test_a_gauge_keeps_its_name_and_its_unit() -> None:
    guess = guesses(Metric(kind="Pods", name="vllm:num_requests_running"), hpa())[0]
    assert guess.queries[0].expression == f"sum(vllm:num_requests_running{{{PODS}}})"
    assert guess.queries[0].unit is Unit.PER_MINUTE


def test_rates_try_longer_spans_for_servers_that_are_scraped_rarely() -> None:
    spans = [query.expression[-5:] for query in guesses(Metric(kind="Pods", name="x_total"), hpa())[0].queries]
    assert spans == ["2m]))", "5m]))", "5m]))"]


def test_an_objects_metric_is_that_objects() -> None:
    metric = Metric(kind="Object", name="hits_per_second", about=("Ingress", "main"), matchers=('path="/v1"',))
    assert first_words(metric)[0] == 'sum(hits_per_second{namespace="inference",ingress="main",path="/v1"})'


def test_an_external_metric_is_its_selectors() -> None:
    assert first_words(Metric(kind="External", name="queue", matchers=('q="a"',)))[0] == 'sum(queue{q="a"})'


def test_pods_of_a_statefulset_have_numbers() -> None:
    assert first_words(Metric(kind="Pods", name="load"), hpa("StatefulSet"))[0] == 'sum(load{namespace="inference",pod=~"chat-[0-9]+"})'


@pytest.mark.parametrize(("kind", "name"), [("Resource", "cpu"), ("External", "custom.googleapis.com|queue"), ("External", "a-b")])
def test_what_is_no_series_has_no_query(kind: Kind, name: str) -> None:
    assert guesses(Metric(kind=kind, name=name), hpa()) == ()


def test_what_rate_gives_is_per_second_and_the_rest_is_taken_as_it_is() -> None:
    assert written("sum(rate(a_total[2m]))").unit is Unit.PER_SECOND
    assert written("sum(irate (a_total[2m]))").unit is Unit.PER_SECOND
    assert written("sum(generated_rate_limit)").unit is Unit.PER_MINUTE


def test_what_a_replica_is_meant_to_carry_is_told_in_the_loads_unit() -> None:
    metric = Metric(kind="Pods", name="x", per_pod=5)
    assert per_pod_rpm(metric, written("sum(rate(x[2m]))")) == 300
    assert per_pod_rpm(metric, written("sum(x)")) == 5
    assert per_pod_rpm(Metric(kind="Resource", name="cpu", utilisation_ratio=0.5), written("x")) is None


def test_ready_replicas_are_known_of_what_kube_state_metrics_knows() -> None:
    query = ready_query(hpa())
    assert query is not None
    assert query.expression == 'max(kube_deployment_status_replicas_ready{namespace="inference",deployment="chat"})'
    assert ready_query(hpa("Rollout")) is None

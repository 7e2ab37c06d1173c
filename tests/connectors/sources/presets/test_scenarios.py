"""Scenarios that a preset's query meets on a real Prometheus: copies, idle services, deleted pods, renamed metrics, saturated engines."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import repeat

import numpy as np
import pytest

from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.expression import Use, expression
from connectors.sources.presets.quantity import Counted, Quantity
from connectors.sources.prometheus import PrometheusConfig, PrometheusSource
from forecaster.ports import Query
from forecaster.series import Signal, Window
from tests.connectors.sources.presets.expositions import START as BEGIN
from tests.connectors.sources.presets.expositions import count, histogram, level
from tests.prometheus import counter, gauge, prometheus_server

MINUTES = 20
"""The engines of `expositions` tell of the first ten; here some end early and some go on."""


def pod(model: str, name: str, namespace: str = "inference", **more: str) -> dict[str, str]:
    return {"model_name": model, "namespace": namespace, "pod": name, "instance": f"{name}:8000", "engine": "0", **more}


def written() -> Iterator[str]:
    for server in ("prometheus-0", "prometheus-1"):  # K6: a pair of servers writes every series twice
        at = pod("paired", "paired-a", prometheus_replica=server)
        yield count("vllm:request_success_total", 60, at, finished_reason="stop")
        yield level("vllm:num_requests_running", 4, at)
        yield level("vllm:num_requests_waiting", 2, at)
    idle = pod("idle", "idle-a")  # L1: nothing comes for the whole time
    yield count("vllm:request_success_total", 0, idle, finished_reason="stop")
    for name in ("request_prompt_tokens", "request_generation_tokens", "request_queue_time_seconds", "e2e_request_latency_seconds"):
        yield histogram(f"vllm:{name}", 0, 0, (0.5, 1), idle)
    for minutes, name in ((3, "gone-a"), (MINUTES, "gone-b")):  # L5: the first pod was deleted after three minutes
        labels = ",".join(f'{key}="{value}"' for key, value in pod("gone", name).items())
        yield counter("vllm:request_success_total", BEGIN, repeat(60, minutes), labels=f'{labels},finished_reason="stop"')
        yield gauge("vllm:num_requests_running", BEGIN, repeat(4, minutes), labels=labels)
        yield gauge("vllm:num_requests_waiting", BEGIN, repeat(0, minutes), labels=labels)
    kept = ",".join(f'{key}="{value}"' for key, value in pod("gone", "gone-c").items())  # what a gateway of pushes kept of a dead one
    yield gauge("vllm:request_success_total", BEGIN, repeat(9_000, MINUTES), labels=f'{kept},finished_reason="stop"')
    renamed = pod("renamed", "renamed-a")  # L6: a version that nobody knows yet
    yield count("vllm:requests_finished_total", 60, renamed)
    yield level("vllm:requests_running", 4, renamed)
    full = pod("full", "full-a")  # L7, L38: an engine that serves 60 a minute, 8 at once, of the 600 that arrive
    yield count("vllm:request_success_total", 60, full, finished_reason="stop")
    yield level("vllm:num_requests_running", 8, full)
    yield level("vllm:num_requests_waiting", 250, full)
    front = {"envoy_cluster_name": "full", "namespace": "gateways", "instance": "envoy:9901"}
    yield count("envoy_cluster_upstream_rq_total", 600, front)
    yield count("envoy_cluster_upstream_rq_pending_overflow", 30, front)
    ray = {"application": "app", "deployment": "stuck", "instance": "ray:8080"}  # L39: a stream's gauge never comes down again
    yield count("ray_serve_num_router_requests_total", 0, ray, route="/v1")
    yield level("ray_serve_replica_processing_queries", 5, ray, replica="r1")
    yield level("ray_serve_deployment_queued_queries", 0, ray, handle="h1")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusSource]:
    with prometheus_server(tmp_path_factory.mktemp("scenarios"), "".join(written())) as url:
        opened = PrometheusSource(PrometheusConfig(type="prometheus", url=url))
        yield opened
        opened.close()


def number(source: PrometheusSource, use: Use, quantity: Quantity, *, at_min: int = 10) -> float:
    """What the quantity was in the minute that ended so many minutes after the beginning, in its signal's unit."""
    query = Query(signal=quantity.signal or Signal.CONDITION, expression=expression(use, quantity), unit=use.preset.unit(quantity))
    end = BEGIN + timedelta(minutes=at_min)
    return float(source.fetch(query, Window(start=end - timedelta(minutes=1), end=end), 60).mean[-1])


def vllm(model: str, **more: str) -> Use:
    return use("vllm", {"model_name": model, **more})


def use(preset: str, match: Mapping[str, str]) -> Use:
    return Use(preset=PRESETS[preset], match=match)


def test_k06_what_a_pair_of_servers_wrote_twice_is_counted_once(source: PrometheusSource) -> None:
    assert number(source, vllm("paired"), Quantity.RPM) == pytest.approx(60)
    assert number(source, vllm("paired"), Quantity.CONCURRENCY) == 6


def test_l01_an_idle_engine_has_a_measured_load_of_zero_and_no_length_latency_or_wait(source: PrometheusSource) -> None:
    assert number(source, vllm("idle"), Quantity.RPM) == 0
    unknown = (Quantity.INPUT_LENGTH, Quantity.OUTPUT_LENGTH, Quantity.QUEUE_WAIT, Quantity.LATENCY_P95, Quantity.ERROR_RATE)
    assert all(np.isnan(number(source, vllm("idle"), quantity)) for quantity in unknown)


def test_l05_a_deleted_pod_is_no_load_once_its_series_ended_nor_where_its_last_count_was_kept(source: PrometheusSource) -> None:
    assert number(source, vllm("gone"), Quantity.RPM, at_min=3) == pytest.approx(120)
    assert number(source, vllm("gone"), Quantity.RPM, at_min=19) == pytest.approx(60)
    assert number(source, vllm("gone"), Quantity.CONCURRENCY, at_min=19) == 4


def test_l06_a_metric_of_a_version_that_the_preset_does_not_know_is_unknown(source: PrometheusSource) -> None:
    assert all(np.isnan(number(source, vllm("renamed"), quantity)) for quantity in (Quantity.RPM, Quantity.CONCURRENCY))


def test_l07_the_gateway_tells_what_arrives_where_a_saturated_engine_tells_what_it_served(source: PrometheusSource) -> None:
    gateway = use("envoy", {"envoy_cluster_name": "full"})
    assert number(source, gateway, Quantity.RPM) == pytest.approx(600)
    assert number(source, vllm("full"), Quantity.RPM) == pytest.approx(60)
    assert (gateway.preset.counted, PRESETS["vllm"].counted) == (Counted.ARRIVALS, Counted.COMPLETIONS)


def test_k11_what_a_capped_service_turned_away_and_let_wait_is_told_beside_its_load(source: PrometheusSource) -> None:
    assert number(source, use("envoy", {"envoy_cluster_name": "full"}), Quantity.REFUSED) == pytest.approx(30)
    assert number(source, vllm("full"), Quantity.QUEUE_DEPTH) == 250


def test_l38_an_engines_concurrency_has_no_bound_since_what_waits_is_part_of_it(source: PrometheusSource) -> None:
    assert number(source, vllm("full"), Quantity.CONCURRENCY) == 258


def test_l39_a_gauge_that_is_stuck_after_a_stream_leaves_the_requests_a_minute_alone(source: PrometheusSource) -> None:
    stuck = use("ray-serve", {"application": "app", "deployment": "stuck"})
    assert number(source, stuck, Quantity.CONCURRENCY) == 5
    assert number(source, stuck, Quantity.RPM) == 0

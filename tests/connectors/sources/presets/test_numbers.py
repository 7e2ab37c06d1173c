"""Every query of every preset, asked of a real Prometheus that holds what the systems expose: the numbers are added up by hand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.expression import Use, expression
from connectors.sources.presets.quantity import Quantity
from connectors.sources.prometheus import PrometheusConfig, PrometheusSource
from forecaster.ports import Query
from forecaster.series import Signal, Window
from tests.connectors.sources.presets.expositions import MINUTES, START, everything
from tests.prometheus import prometheus_server

LATENCY = {Quantity.LATENCY_P50: 0.75, Quantity.LATENCY_P95: 0.975, Quantity.LATENCY_P99: 0.995}
"""All requests took between 0.5 and 1 s, so the quantiles lie between them in proportion."""
TTFT = {Quantity.TTFT_P95: 0.195}
LENGTHS = {Quantity.INPUT_LENGTH: 500, Quantity.OUTPUT_LENGTH: 100}
QUEUED = {Quantity.CONCURRENCY: 18, Quantity.QUEUE_DEPTH: 6}
"""(4 running + 2 waiting) x 3."""
OURS = {"namespace": "inference"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A preset, the labels that it is asked for, and what comes of each quantity that it supplies under them."""

    preset: str
    match: Mapping[str, str]
    told: Mapping[Quantity, float]
    beside: tuple[Use, ...] = field(default=())

    @property
    def use(self) -> Use:
        return Use(preset=PRESETS[self.preset], match=self.match)


VLLM = Use(preset=PRESETS["vllm"], match={"model_name": "llama", **OURS})
CASES = (
    Case(
        preset="vllm",
        match=VLLM.match,
        told={
            **QUEUED, **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.REFUSED: 9, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.1,
            Quantity.BATCH_SIZE: 6, Quantity.KV_CACHE: 0.5, Quantity.PREFIX_HITS: 0.25,
        },
    ),
    Case(
        preset="sglang",
        match={"model_name": "llama", **OURS},
        told={
            **QUEUED, **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.QUEUE_WAIT: 0.2, Quantity.BATCH_SIZE: 6, Quantity.KV_CACHE: 0.5,
            Quantity.PREFIX_HITS: 0.25,
        },
    ),
    Case(
        preset="tgi",
        match={"service": "llama", **OURS},
        told={
            **QUEUED, **LATENCY, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.REFUSED: 9, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.1,
            Quantity.BATCH_SIZE: 6,
        },
    ),
    Case(
        preset="triton",
        match={"model": "llama", **OURS},
        told={
            Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.QUEUE_DEPTH: 6, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.1,
            Quantity.BATCH_SIZE: 4, Quantity.LATENCY_P50: 0.75, Quantity.LATENCY_P95: 0.95, Quantity.LATENCY_P99: 0.99,
        },
    ),
    Case(
        preset="triton",  # a GPU has no model: without one in match the server's GPUs are told
        match={"namespace": "inference", "pod": "~triton-[ab]"},
        told={
            Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.QUEUE_DEPTH: 6, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.1,
            Quantity.BATCH_SIZE: 4, Quantity.LATENCY_P50: 0.75, Quantity.LATENCY_P95: 0.95, Quantity.LATENCY_P99: 0.99,
            Quantity.GPU: 0.45, Quantity.GPU_MEMORY: 0.5,
        },
    ),
    Case(
        preset="trtllm",
        match={"model_name": "llama", **OURS},
        told={
            **QUEUED, **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.25,
            Quantity.BATCH_SIZE: 6, Quantity.KV_CACHE: 0.5, Quantity.PREFIX_HITS: 0.25,
        },
    ),
    Case(
        preset="nim",
        match={"model_name": "llama", **OURS},
        told={
            **QUEUED, **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.ERROR_RATE: 0.1, Quantity.BATCH_SIZE: 6, Quantity.KV_CACHE: 0.5,
        },
    ),
    Case(
        preset="ray-serve",
        match={"application": "app", "deployment": "llama", **OURS},
        told={**QUEUED, **LATENCY, Quantity.RPM: 180, Quantity.ERROR_RATE: 0.1, Quantity.BATCH_SIZE: 6},
    ),
    Case(
        preset="llm-d",
        match={"model_name": "llama", **OURS},
        told={
            **QUEUED, **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.TOKENS: 300, Quantity.QUEUE_WAIT: 0.2, Quantity.ERROR_RATE: 0.1,
        },
    ),
    Case(
        preset="llm-d",
        match={"inference_pool": "pool-llama", **OURS},
        told={Quantity.QUEUE_DEPTH: 6, Quantity.REFUSED: 9, Quantity.QUEUE_WAIT: 0.2, Quantity.KV_CACHE: 0.5},
    ),
    Case(
        preset="envoy",
        match={"envoy_cluster_name": "llama", **OURS},
        told={**QUEUED, **LATENCY, Quantity.RPM: 180, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1},
    ),
    Case(
        preset="istio",
        match={"destination_service_name": "llama", "destination_service_namespace": "inference"},
        told={**LATENCY, Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1},
    ),
    Case(
        preset="nginx-ingress",
        match={"ingress": "llama", "service": "chat", **OURS},
        told={**LATENCY, Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1},
    ),
    Case(
        preset="litellm",
        match={"requested_model": "llama", **OURS},
        told={
            **LATENCY, **TTFT, **LENGTHS,
            Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.TOKENS: 300, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1,
        },
    ),
    Case(preset="litellm", match={"pod": "~litellm-[ab]", **OURS}, told={
        **LATENCY, **TTFT, **LENGTHS, Quantity.RESPONSE_HITS: 0.5,
        Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.TOKENS: 300, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1,
    }),
    Case(
        preset="kong",
        match={"service": "llama", **OURS},
        told={**LATENCY, Quantity.RPM: 180, Quantity.CONCURRENCY: 15, Quantity.REFUSED: 9, Quantity.ERROR_RATE: 0.1},
    ),
    Case(preset="kong", match={"ai_model": "llama", "pod": "~kong-[ab]"}, told={Quantity.TOKENS: 300}),
    Case(preset="sqs", match={"dimension_QueueName": "jobs", **OURS}, told={Quantity.CONCURRENCY: 4, Quantity.QUEUE_DEPTH: 6}),
    Case(
        preset="kafka-lag",
        match={"topic": "jobs", "consumergroup": "workers", **OURS},
        told={Quantity.RPM: 180, Quantity.QUEUE_DEPTH: 6},
    ),
    Case(
        preset="rabbitmq",
        match={"vhost": "/", "queue": "jobs", **OURS},
        told={Quantity.RPM: 180, Quantity.CONCURRENCY: 12, Quantity.QUEUE_DEPTH: 6},
    ),
    Case(preset="dcgm", match=OURS, beside=(VLLM,), told={Quantity.GPU: 0.7, Quantity.GPU_MEMORY: 0.375}),
    Case(preset="dcgm", match={"pod": "vllm-b", **OURS}, told={Quantity.GPU: 0.8, Quantity.GPU_MEMORY: 0.5}),
)  # fmt: skip
IDS = [f"{case.preset}-{'+'.join(case.match)}" for case in CASES]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusSource]:
    with prometheus_server(tmp_path_factory.mktemp("presets"), everything()) as url:
        opened = PrometheusSource(PrometheusConfig(type="prometheus", url=url))
        yield opened
        opened.close()


def number(source: PrometheusSource, case: Case, quantity: Quantity) -> float:
    """The last of three minutes, in the signal's unit; the source refuses more than one series."""
    query = Query(
        signal=quantity.signal or Signal.CONDITION,
        expression=expression(case.use, quantity, case.beside),
        unit=case.use.preset.unit(quantity),
    )
    end = START + timedelta(minutes=MINUTES)
    return float(source.fetch(query, Window(start=end - timedelta(minutes=3), end=end), 60).mean[-1])


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_preset_says_what_our_two_replicas_have_and_nothing_of_others(source: PrometheusSource, case: Case) -> None:
    told = {quantity: number(source, case, quantity) for quantity in Quantity if case.use.supplies(quantity)}
    assert told == {quantity: pytest.approx(case.told[quantity], rel=1e-6) for quantity in told}
    assert set(told) == set(case.told)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_preset_that_matches_nothing_is_unknown_and_never_zero(source: PrometheusSource, case: Case) -> None:
    label = next(iter(case.match))
    gone = Case(preset=case.preset, match={**case.match, label: "gone"}, told={}, beside=case.beside)
    told = {quantity: number(source, gone, quantity) for quantity in Quantity if gone.use.supplies(quantity)}
    assert {quantity: value for quantity, value in told.items() if value == value} == {}  # noqa: PLR0124  # NaN differs from itself


def test_every_query_of_every_preset_was_asked() -> None:
    asked = {(case.preset, quantity) for case in CASES for quantity in case.told}
    assert asked == {(p.name, quantity) for p in PRESETS.values() if p.source == "prometheus" for quantity in p.metrics}

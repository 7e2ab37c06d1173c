"""The Prometheus source against a real server that holds four weeks of a real trace."""

import csv
import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from forecaster.errors import SourceRejected
from forecaster.ports import Query, Unit
from forecaster.series import Signal, Window
from tests.connectors.sources.asking import HOUR, QUERY, START, opened
from tests.prometheus import counter, prometheus_server

DEMO = Path(__file__).parents[3] / "jobs" / "demo" / "llm_azure2024_conv_1m.csv.gz"
MODEL_A = Query(signal=Signal.RPM, expression='llm_requests_total{model="a"} - llm_requests_total{model="a"} offset 1m', unit=Unit.COUNT)


def days(n: float) -> Window:
    return Window(start=START, end=START + timedelta(days=n))


@pytest.fixture(scope="module")
def requests_per_minute() -> list[float]:
    with gzip.open(DEMO, "rt", newline="") as lines:
        week = [float(row["value"]) for row in csv.DictReader(lines)]
    return week * 4


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, requests_per_minute: list[float]) -> Iterator[str]:
    """Four weeks of a real trace, in two models; a server that loads at most 9,000 samples a query."""
    halves = [value // 2 for value in requests_per_minute]
    text = counter("llm_requests_total", START, requests_per_minute, labels='model="a",namespace="prod"')
    text += counter("llm_requests_total", START, halves, labels='model="b",namespace="prod"')
    folder = tmp_path_factory.mktemp("prometheus")
    with prometheus_server(folder, text, flags=["--query.max-samples=9000"]) as url:
        yield url


def test_weeks_of_minutes_come_back_as_they_were_written(real: str, requests_per_minute: list[float]) -> None:
    with opened(real, max_points=4_000) as source:
        series = source.fetch(MODEL_A, days(28), 60)
    assert series.mean.tolist() == requests_per_minute


def test_five_minute_buckets_hold_mean_and_largest_minute(real: str, requests_per_minute: list[float]) -> None:
    with opened(real, max_points=4_000) as source:
        series = source.fetch(MODEL_A, days(28), 300)
    minutes = np.reshape(requests_per_minute, (-1, 5))
    np.testing.assert_allclose(series.mean, minutes.mean(axis=1))
    np.testing.assert_array_equal(series.peak, minutes.max(axis=1))


def test_a_chunk_that_loads_too_many_samples_is_cut_smaller(real: str, requests_per_minute: list[float]) -> None:
    with opened(real, max_points=11_000) as source:
        series = source.fetch(MODEL_A, days(7), 60)
    assert series.mean.tolist() == requests_per_minute[: 7 * 1_440]


def test_a_query_that_is_too_heavy_even_so_is_refused_with_the_servers_words(real: str) -> None:
    heavy = Query(signal=Signal.RPM, expression="sum(rate(llm_requests_total[20d])) * 60", unit=Unit.PER_MINUTE)
    with opened(real) as source, pytest.raises(SourceRejected, match=r"too many samples into memory.*recording rule"):
        source.fetch(heavy, Window(start=START + timedelta(days=21), end=START + timedelta(days=22)), 60)


def test_a_rate_a_second_becomes_requests_per_minute(real: str, requests_per_minute: list[float]) -> None:
    query = Query(signal=Signal.RPM, expression='sum(rate(llm_requests_total{model="a"}[5m]))', unit=Unit.PER_SECOND)
    with opened(real) as source:
        series = source.fetch(query, days(1), 3_600)
    np.testing.assert_allclose(series.mean[1:], np.reshape(requests_per_minute[:1_440], (-1, 60)).mean(axis=1)[1:], rtol=0.05)


def test_two_series_are_refused_by_the_label_that_tells_them_apart(real: str) -> None:
    query = Query(signal=Signal.RPM, expression="rate(llm_requests_total[5m])", unit=Unit.PER_SECOND)
    with (
        opened(real) as source,
        pytest.raises(SourceRejected, match=r"2 series that differ in model \('a', 'b'\).*sum\(\.\.\.\)") as refused,
    ):
        source.fetch(query, HOUR, 60)
    assert "namespace" not in str(refused.value)


def test_a_scalar_is_taken(real: str) -> None:
    with opened(real) as source:
        series = source.fetch(Query(signal=Signal.RPM, expression="42", unit=Unit.PER_MINUTE), HOUR, 300)
    assert series.mean.tolist() == [42] * 12


def test_a_typing_error_is_refused_with_the_servers_words(real: str) -> None:
    query = Query(signal=Signal.RPM, expression="sum(rate(llm_requests_total[5m])", unit=Unit.PER_SECOND)
    with opened(real) as source, pytest.raises(SourceRejected, match=r"refuses 'sum\(rate.*parse error: unclosed left parenthesis"):
        source.fetch(query, HOUR, 60)


def test_a_string_is_refused(real: str) -> None:
    with opened(real) as source, pytest.raises(SourceRejected, match="invalid expression type"):
        source.fetch(Query(signal=Signal.RPM, expression='"text"', unit=Unit.PER_MINUTE), HOUR, 60)


def test_a_wrong_base_path_is_named(real: str) -> None:
    with (
        opened(f"{real}/prometheus") as source,
        pytest.raises(SourceRejected, match=r"/prometheus \(HTTP 404\).*check url and its base path"),
    ):
        source.fetch(QUERY, HOUR, 60)


def test_a_probe_tells_a_metric_that_fell_silent_from_one_that_never_was(real: str) -> None:
    end = START + timedelta(days=28)
    with opened(real) as source:
        assert "measured in 60 of the last 60 minutes" in source.probe(MODEL_A, end)
        assert "matches nothing in the last hour, though it did in the last 7 days" in source.probe(MODEL_A, end + timedelta(days=3))
        with pytest.raises(SourceRejected, match="has no series that matches"):
            source.probe(MODEL_A, end + timedelta(days=10))

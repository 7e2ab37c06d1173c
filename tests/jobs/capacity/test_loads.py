"""What the load is, over windows kept apart; what nobody tells is unknown, never zero."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from forecaster.series import Series, Signal
from forecaster.units import iso
from jobs.capacity.loads import Load, loads
from jobs.config.reading import read_config
from jobs.wiring import open_fleet
from tests.jobs.world import NOW
from tests.loopback_prometheus import Asked, Behaviour, Reply, failure, loopback_prometheus, steady

VLLM = {"name": "vllm", "match": {"model_name": "llama"}}


BURSTS = {1_200: 30, 5_400: 50}
"""Requests in single seconds, by how long ago they were."""


def quantiles(asked: Asked) -> Reply:
    """1.5 s at P95, 2.5 s at P99."""
    query = asked.form["query"]
    return steady(1.5 if "0.95" in query else 2.5)(asked)


def at(url: str) -> dict[str, Any]:
    return {"type": "prometheus", "url": url, "retry_wait_s": 0}


@contextmanager
def seen(folder: Path, source: dict[str, Any], kept: dict[Signal, list[float]], **signals: dict[str, str]) -> Iterator[list[Load]]:
    """The rows of a workload of which the last hour was kept, in steps of five minutes; its signals are those of a preset, or told."""
    path = folder / "forecaster.yaml"
    capacity = {"rpm": 100, "concurrency": 30, "tokens": 1_000}
    pool = {"name": "gpu", "capacity": capacity, "targets": [{"type": "recording", "name": "chat"}]}
    workload = {"name": "chat", "source": "metrics", "pools": [pool], **({"signals": signals} if signals else {"presets": [VLLM]})}
    document: dict[str, Any] = {"sources": {"metrics": source}, "workloads": [workload]}
    path.write_text(yaml.safe_dump(document | {"store": "memory:"}))
    with open_fleet(read_config(path), folder) as fleet:
        for signal, values in kept.items():
            mean = np.array(values)
            start = NOW - timedelta(minutes=5 * len(values))
            fleet.store.append_history("chat", Series(signal=signal, start=start, step_s=300, mean=mean, peak=1.5 * mean))
        yield list(loads(fleet.store, fleet.members[0], NOW))


def test_rates_streams_tokens_and_latencies_are_kept_apart_by_window(tmp_path: Path) -> None:
    kept = {
        Signal.RPM: [60.0] * 9 + [120.0] * 3,
        Signal.CONCURRENCY: [4.0] * 12,
        Signal.TOKENS: [400.0] * 12,
        Signal.INPUT_LENGTH: [500.0] * 12,
    }
    with loopback_prometheus(quantiles) as prometheus, seen(tmp_path, at(prometheus.url), kept) as (quarter, hour, day):
        assert (quarter.rpm, hour.rpm) == (120, 75)
        assert (quarter.qps, quarter.largest_rpm) == (2, 180)
        assert (quarter.streams, quarter.tokens_out_s, quarter.tokens_in_s) == (4, 400, 1_000)
        assert quarter.latency_s == pytest.approx(4 / 120 * 60)
        assert (quarter.p95_s, quarter.p99_s) == (1.5, 2.5)
        assert day.measured_ratio == pytest.approx(12 / 288)
        assert day.rpm == 75


def test_a_source_that_does_not_answer_and_history_that_is_not_there_are_unknown(tmp_path: Path) -> None:
    with loopback_prometheus(failure(400, "no such query")) as prometheus, seen(tmp_path, at(prometheus.url), {}) as rows:
        told = {
            value
            for row in rows
            for value in (row.rpm, row.qps, row.largest_rpm, row.streams, row.tokens_in_s, row.tokens_out_s, row.latency_s, row.p95_s)
        }
        assert told == {None}


def write_seconds(path: Path, *, step_s: int = 1) -> None:
    """Two hours up to NOW: 2 requests a second; 30 in one of 20 minutes ago, and 50 in one of 90 minutes ago."""
    rows = [f"{iso(NOW - timedelta(seconds=i))},{BURSTS.get(i, 2)}" for i in range(7_200, 0, -step_s)]
    path.write_text("\n".join(["timestamp,value", *rows]))


def test_the_peak_second_is_that_of_each_window_up_to_an_hour_where_the_source_has_seconds(tmp_path: Path) -> None:
    write_seconds(tmp_path / "load.csv")
    source = {"type": "csv", "path": "load.csv"}
    with seen(tmp_path, source, {Signal.RPM: [120.0] * 24}, rpm={"query": "value", "unit": "count"}) as (quarter, hour, day):
        assert (quarter.peak_second_qps, hour.peak_second_qps) == (2, 30)
        assert (day.peak_second_qps, day.peak_second_unknown) == (None, "of an hour at most")
        assert quarter.qps == 2


def test_coarser_rows_are_told_by_their_interval_and_no_second_is_made_up(tmp_path: Path) -> None:
    write_seconds(tmp_path / "load.csv", step_s=15)
    source = {"type": "csv", "path": "load.csv"}
    with seen(tmp_path, source, {}, rpm={"query": "value", "unit": "count"}) as rows:
        told = {(row.peak_second_qps, row.peak_second_unknown) for row in rows}
    assert told == {(None, "not resolvable at this scrape interval (15 s)")}


def scraped(*, per_stretch: int) -> Behaviour:
    """A server with so many raw samples in each 5 minutes, and 4 requests a second."""

    def answer(asked: Asked) -> Reply:
        return steady(per_stretch if "count_over_time" in asked.form["query"] else 4)(asked)

    return answer


def test_prometheus_is_asked_for_one_hour_of_seconds_and_only_where_every_second_is_scraped(tmp_path: Path) -> None:
    with loopback_prometheus(scraped(per_stretch=300)) as prometheus, seen(tmp_path, at(prometheus.url), {}) as rows:
        assert [row.peak_second_qps for row in rows] == [4, 4, None]
        fine = [asked for asked in prometheus.asked if asked.form["step"] == "1"]
        assert [len(asked.stamps) for asked in fine] == [3_600]
    with loopback_prometheus(scraped(per_stretch=20)) as prometheus, seen(tmp_path, at(prometheus.url), {}) as rows:
        assert {row.peak_second_unknown for row in rows} == {"not resolvable at this scrape interval (15 s)"}
        assert not [asked for asked in prometheus.asked if asked.form["step"] == "1"]


def test_a_source_that_does_not_answer_for_seconds_leaves_them_empty(tmp_path: Path) -> None:
    with loopback_prometheus(failure(400, "no such query")) as prometheus, seen(tmp_path, at(prometheus.url), {}) as rows:
        assert {(row.peak_second_qps, row.peak_second_unknown) for row in rows} == {(None, "")}


def test_a_source_that_never_tells_seconds_says_so_without_an_interval(tmp_path: Path) -> None:
    source = {"type": "cloudwatch", "region": "eu-west-1"}
    query = {"query": "metric(AWS/SQS NumberOfMessagesSent Sum QueueName=jobs)", "unit": "count"}
    with seen(tmp_path, source, {}, rpm=query) as rows:
        assert {row.peak_second_unknown for row in rows} == {"not resolvable at this scrape interval"}

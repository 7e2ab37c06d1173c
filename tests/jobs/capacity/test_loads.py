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
from jobs.capacity.loads import Load, loads
from jobs.config.reading import read_config
from jobs.wiring import open_fleet
from tests.jobs.world import NOW
from tests.loopback_prometheus import Asked, Reply, failure, loopback_prometheus, steady

VLLM = {"name": "vllm", "match": {"model_name": "llama"}}


def quantiles(asked: Asked) -> Reply:
    """1.5 s at P95, 2.5 s at P99."""
    query = asked.form["query"]
    return steady(1.5 if "0.95" in query else 2.5)(asked)


@contextmanager
def seen(folder: Path, url: str, kept: dict[Signal, list[float]]) -> Iterator[list[Load]]:
    """The rows of a workload of which the last hour was kept, in steps of five minutes."""
    path = folder / "forecaster.yaml"
    capacity = {"rpm": 100, "concurrency": 30, "tokens": 1_000}
    pool = {"name": "gpu", "capacity": capacity, "targets": [{"type": "recording", "name": "chat"}]}
    workload = {"name": "chat", "source": "prometheus", "presets": [VLLM], "pools": [pool]}
    document: dict[str, Any] = {"sources": {"prometheus": {"type": "prometheus", "url": url}}, "workloads": [workload]}
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
    with loopback_prometheus(quantiles) as prometheus, seen(tmp_path, prometheus.url, kept) as (quarter, hour, day):
        assert (quarter.rpm, hour.rpm) == (120, 75)
        assert (quarter.qps, quarter.largest_rpm) == (2, 180)
        assert (quarter.streams, quarter.tokens_out_s, quarter.tokens_in_s) == (4, 400, 1_000)
        assert quarter.latency_s == pytest.approx(4 / 120 * 60)
        assert (quarter.p95_s, quarter.p99_s) == (1.5, 2.5)
        assert day.measured_ratio == pytest.approx(12 / 288)
        assert day.rpm == 75


def test_a_source_that_does_not_answer_and_history_that_is_not_there_are_unknown(tmp_path: Path) -> None:
    with loopback_prometheus(failure(400, "no such query")) as prometheus, seen(tmp_path, prometheus.url, {}) as rows:
        told = {
            value
            for row in rows
            for value in (row.rpm, row.qps, row.largest_rpm, row.streams, row.tokens_in_s, row.tokens_out_s, row.latency_s, row.p95_s)
        }
        assert told == {None}

"""A workload whose production is known: load and replicas are kept, and a Prometheus tells P95 by what each replica has to serve."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from forecaster.ports import Store
from forecaster.series import Floats, Series, Signal
from forecaster.units import epoch_s
from jobs.capacity.known import with_capacities
from jobs.config.reading import read_config
from jobs.fleet import Fleet
from jobs.wiring import open_fleet
from tests.loopback_prometheus import Asked, LoopbackPrometheus, Reply, failure, loopback_prometheus, matrix
from tests.production import STEP_S, loads, p95_s

NOW = datetime(2026, 3, 16, 7, 30, tzinfo=UTC)
DAYS = 14
START = NOW - timedelta(days=DAYS)
READY = 10.0
_EACH = {"request_success": 1.0, "num_requests_running": 3.0, "num_requests_waiting": 0.0, "vllm:generation_tokens": 200.0}
"""What each request a second adds to a metric."""


@dataclass(kw_only=True)
class Production:
    """What comes, and how it is served. slow: requests take so much longer from then on. high: the largest load a replica."""

    folder: Path
    high: float = 900.0
    slow: float = 1.0
    slow_from: datetime = START
    fails: bool = False
    pools: tuple[str, ...] = ("gpu",)
    asked: list[str] = field(default_factory=list)

    @property
    def load_rpm(self) -> Floats:
        """Requests a minute of one replica, by bucket of the two weeks."""
        return loads(24 * DAYS, high=self.high)

    def answer(self, asked: Asked) -> Reply:
        """As the metrics store of a vLLM fleet."""
        if self.fails or not asked.path.endswith("/query_range"):
            return failure(400, "no such query")
        query, load = asked.form["query"], self.load_rpm
        at = [(stamp, float(load[int(stamp - epoch_s(START) - 1) // STEP_S % load.size])) for stamp in asked.stamps]
        if "0.95" in query and "e2e_request_latency" in query:
            self.asked.append(query)
            return matrix(({}, [(stamp, float(p95_s(np.array(rpm))) * self.slower(stamp)) for stamp, rpm in at]))
        each = next((value for metric, value in _EACH.items() if metric in query), None)
        return matrix() if each is None else matrix(({}, [(stamp, READY * rpm / 60 * each) for stamp, rpm in at]))

    def slower(self, stamp: float) -> float:
        """By how much at an instant."""
        return self.slow if stamp > self.slow_from.timestamp() else 1.0

    def keep(self, store: Store, signal: Signal, values: Floats, name: str = "chat") -> None:
        """Two weeks of a signal."""
        store.append_history(name, Series(signal=signal, start=START, step_s=STEP_S, mean=values, peak=values))

    @contextmanager
    def fleet(self, **pool: Any) -> Iterator[Fleet]:
        """The fleet with two weeks of load and replicas."""
        with self.served(**pool) as (_, path), open_fleet(read_config(path), self.folder) as fleet:
            load = self.load_rpm
            self.keep(fleet.store, Signal.RPM, READY * load)
            for name in self.pools:
                self.keep(fleet.store, Signal.READY, np.full(load.size, READY), f"chat/{name}")
            yield with_capacities(fleet, NOW)

    @contextmanager
    def served(self, **pool: Any) -> Iterator[tuple[LoopbackPrometheus, Path]]:
        """Its Prometheus, and the configuration on disk."""
        with loopback_prometheus(self.answer) as prometheus:
            path = self.folder / "forecaster.yaml"
            path.write_text(yaml.safe_dump(self._document(prometheus.url, pool)))
            yield prometheus, path

    def _document(self, url: str, pool: dict[str, Any]) -> dict[str, Any]:
        pools = [
            {"name": name, "targets": [{"type": "recording", "name": f"chat-{name}"}], "capacity": {"profile": "best"}, **pool}
            for name in self.pools
        ]
        workload = {
            "name": "chat",
            "source": "prometheus",
            "presets": [{"name": "vllm", "match": {"model_name": "llama"}}],
            "pools": pools,
        }
        return {
            "sources": {"prometheus": {"type": "prometheus", "url": url}},
            "workloads": [workload],
            "forecast": {"model": "seasonal_naive", "watched": [], "history": "3d"},
            "operating_point": {"workloads": 0},
        }

"""A small fleet for tests of the jobs: CSV load with a daily shape, HPAs on the loopback API server, a store in a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import yaml

from forecaster.forecast import Forecast
from forecaster.series import Signal, Window
from forecaster.units import iso
from jobs.config.reading import read_config
from jobs.fleet import Fleet
from jobs.wiring import Rehearse, open_fleet
from tests.kube_api import KubeApi

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)  # a Monday, half an hour into the ramp
DAYS = 16


def daily_rpm(
    now: datetime = NOW, *, days: int = DAYS, ahead: timedelta = timedelta(days=2), seed: int = 1
) -> list[tuple[datetime, float]]:
    """Five-minute counts around 100 requests a minute at night and 1,000 by day, with a ramp from seven to nine."""
    rng = np.random.default_rng(seed)
    start = (now - timedelta(days=days)).replace(hour=0, minute=0)
    stamps = [start + timedelta(minutes=5 * i) for i in range(int((now + ahead - start).total_seconds() // 300))]
    hours = np.array([stamp.hour + stamp.minute / 60 for stamp in stamps])
    shape = 100 + 900 * np.clip((hours - 7) / 2, 0, 1) * np.clip((20 - hours) / 2, 0, 1)
    return list(zip(stamps, shape * rng.lognormal(0, 0.03, hours.size) * 5, strict=True))


def issued(fleet: Fleet, now: datetime = NOW, *, workload: str = "chat", signal: Signal = Signal.RPM) -> Forecast:
    """The forecast of a workload that was made and kept at an instant: without events."""
    (kept,) = fleet.store.forecasts(workload, signal, Window(start=now, end=now + timedelta(seconds=1)))
    return kept


def write_trace(path: Path, rows: list[tuple[datetime, float]]) -> None:
    path.write_text("timestamp,value\n" + "".join(f"{iso(at)},{count:.1f}\n" for at, count in rows))


@dataclass(kw_only=True)
class World:
    """The folder, the API server, and the configuration as it will be written."""

    folder: Path
    api: KubeApi
    config: dict[str, object] = field(default_factory=dict)

    def workload(self, name: str, *, mode: str = "auto", trace: str = "load.csv", **policy: object) -> None:
        """Add a workload on its own HPA, found at 2 of at most 40 replicas; a replica carries 100 requests a minute."""
        sources = self.config.setdefault("sources", {})
        workloads = self.config.setdefault("workloads", [])
        assert isinstance(sources, dict)
        assert isinstance(workloads, list)
        sources[f"trace-{name}"] = {"type": "csv", "path": trace}
        workloads.append(
            {
                "name": name,
                "source": f"trace-{name}",
                "signals": {"rpm": {"query": "value", "unit": "count"}},
                "pools": [
                    {
                        "name": "gpu",
                        "capacity": {"rpm": 100},
                        "targets": [{"type": "kubernetes-hpa", "namespace": "serving", "name": name, "cluster": {"server": self.api.url}}],
                    }
                ],
                "policy": {"mode": mode, **policy},
            }
        )
        self.api.add_hpa("serving", name, min_replicas=2, max_replicas=40)

    @property
    def path(self) -> Path:
        """The configuration file, as it stands."""
        path = self.folder / "forecaster.yaml"
        forecast = self.config.get("forecast", {})
        assert isinstance(forecast, dict)
        unhurried = {"apply": {"workers": 4}, "operating_point": {"workloads": 0}}  # a replay takes seconds, which one test asks for
        path.write_text(yaml.safe_dump({**unhurried, **self.config, "forecast": {"watched": [], **forecast}}))
        return path

    @contextmanager
    def fleet(self, rehearse: Rehearse = "by-mode") -> Iterator[Fleet]:
        """The fleet as a new process would open it."""
        with open_fleet(read_config(self.path), self.folder, rehearse=rehearse) as fleet:
            yield fleet

    def floor(self, name: str) -> int:
        """What stands on the HPA."""
        return self.api.min_replicas("serving", name)

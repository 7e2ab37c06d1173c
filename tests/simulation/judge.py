"""Reads a trace and the files of a backtest as a stranger would, by the words of the contract, and replays them with `plain_replay`."""

import csv
import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.simulation.plain_replay import Books, plain_replay

DAY = timedelta(days=1)
QUANTILES = ("q0.5", "q0.9", "q0.95", "q0.99")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A trace by minute; `first` is the minute of the first origin; `steps` are the means that are forecast, by their start."""

    start: datetime
    load: list[float]
    first: int
    mu: float
    steps: dict[datetime, float]
    step: timedelta

    @property
    def origin(self) -> datetime:
        return self.start + timedelta(minutes=self.first)

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=len(self.load))

    @property
    def replayed(self) -> list[float]:
        return self.load[self.first :]

    def replay(self, floors: Sequence[int], target: float, start: int | None = None) -> Books:
        before = self.load[max(0, self.first - 5) : self.first]
        return plain_replay(self.replayed, floors, before=before, mu=self.mu, target=target, start=start)


def read_record(path: Path) -> Record:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [(_instant(row["timestamp"]), row["value"]) for row in csv.DictReader(file)]
    stamps = [stamp.timestamp() for stamp, _ in rows]
    bucket_s = int(median(b - a for a, b in pairwise(stamps)))
    measured = {int(stamp // bucket_s) * bucket_s: float(value) for stamp, (_, value) in zip(stamps, rows, strict=True) if value}
    begin_s, end_s = int(stamps[0] // bucket_s) * bucket_s, (int(stamps[-1] // bucket_s) + 1) * bucket_s
    load = np.interp(np.arange(begin_s, end_s, 60), list(measured), [60 / bucket_s * value for value in measured.values()])
    half_s = min(14 * 86_400, (end_s - begin_s) / 2)
    origin_s = math.ceil((begin_s + half_s) / 86_400) * 86_400
    first = (origin_s - begin_s) // 60
    steps, step_s = _steps(measured, bucket_s)
    return Record(
        start=datetime.fromtimestamp(begin_s, UTC),
        load=load.tolist(),
        first=first,
        mu=float(np.percentile(load[:first], 99.9)) / 30,
        steps=steps,
        step=timedelta(seconds=step_s),
    )


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_summary(directory: Path) -> dict[str, Any]:
    def refuse(name: str) -> float:
        msg = f"{name} is not a number"
        raise AssertionError(msg)

    summary: dict[str, Any] = json.loads((directory / "summary.json").read_text(encoding="utf-8"), parse_constant=refuse)
    return summary


def read_floors(directory: Path, record: Record) -> list[int]:
    """The floor of each minute: the last row at or before it."""
    rows = [(_instant(row["timestamp"]), int(row["floor"])) for row in read_rows(directory / "floors.csv")]
    assert rows[0][0] == record.origin
    floors, i = [], 0
    for minute in range(len(record.replayed)):
        now = record.origin + timedelta(minutes=minute)
        while i + 1 < len(rows) and rows[i + 1][0] <= now:
            i += 1
        floors.append(rows[i][1])
    return floors


def last_week_floors(record: Record) -> list[int]:
    floors = []
    for minute in range(record.first, len(record.load)):
        then = minute - 7 * 1_440
        seen = record.load[max(0, then) : then + 31] if then + 31 > 0 else []
        floors.append(math.ceil(round(max(seen, default=0.0) / record.mu, 6)))
    return floors


def clairvoyant_hours(record: Record) -> float:
    return sum(max(1, math.ceil(round(load / record.mu, 6))) for load in record.replayed) / 60


def static_size(record: Record) -> int:
    return math.ceil(round(max(record.load[max(0, record.first - 14 * 1_440) : record.first]) / record.mu, 6))


def peak_of(record: Record, day: date) -> float | None:
    return max((rpm for start, rpm in record.steps.items() if start.date() == day), default=None)


def pinball(record: Record, rows: list[dict[str, str]], level: float) -> float:
    losses = []
    for row in rows:
        actual = record.steps.get(_instant(row["timestamp"]))
        if actual is not None:
            error = actual - float(row[f"q{level:g}"])
            losses.append(level * error if error > 0 else (level - 1) * error)
    return sum(losses) / len(losses)


def _steps(measured: dict[int, float], bucket_s: int) -> tuple[dict[datetime, float], int]:
    """RPM by forecast step; finer buckets are averaged over five minutes, if at least half of those were measured."""
    if bucket_s >= 300:
        return {datetime.fromtimestamp(s, UTC): count * 60 / bucket_s for s, count in measured.items()}, bucket_s
    groups: dict[int, list[float]] = {}
    for s, count in measured.items():
        groups.setdefault(s // 300 * 300, []).append(count * 60 / bucket_s)
    return {datetime.fromtimestamp(s, UTC): sum(g) / len(g) for s, g in groups.items() if len(g) * 2 * bucket_s >= 300}, 300


def _instant(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)

"""Generated traffic with the traps that recorded traffic has."""

import csv
import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from forecaster.series import Floats
from forecaster.trace import Trace
from forecaster.units import iso

START = datetime(2024, 3, 4, tzinfo=UTC)  # a Monday


def daily(days: float, bucket_s: int, *, seed: int = 1, rpm: float = 600.0, noise: float = 0.05) -> Floats:
    """Counts a bucket: a day that rises to four times its night, a calmer weekend, and noise."""
    n = round(days * 86_400 / bucket_s)
    hours = np.arange(n) * bucket_s / 3_600
    day = 0.4 + 0.6 * np.clip(np.sin((hours % 24 - 7) / 24 * 2 * np.pi), -0.5, 1) ** 2
    weekend = np.where((hours // 24) % 7 >= 5, 0.6, 1.0)
    wobble = np.random.default_rng(seed).lognormal(0.0, noise, n)
    counts: Floats = np.round(rpm * bucket_s / 60 * day * weekend * wobble)
    return counts


def trace(days: float, bucket_s: int, *, start: datetime = START, seed: int = 1, noise: float = 0.05) -> Trace:
    """The same as a trace."""
    return Trace(start=start, bucket_s=bucket_s, counts=daily(days, bucket_s, seed=seed, noise=noise))


def write_csv(
    path: Path,
    counts: Floats,
    bucket_s: int,
    *,
    start: datetime = START,
    absent: Callable[[int], bool] = lambda _row: False,
    extra_column: bool = False,
) -> Path:
    """A gzipped trace: NaN becomes an empty cell, rows named by `absent` are left out."""
    with gzip.open(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["timestamp", *(["note"] if extra_column else []), "value"])
        for row, count in enumerate(counts.tolist()):
            if absent(row):
                continue
            stamp = iso(start + timedelta(seconds=row * bucket_s))
            writer.writerow([stamp, *(["x"] if extra_column else []), "" if np.isnan(count) else f"{count:.10g}"])
    return path

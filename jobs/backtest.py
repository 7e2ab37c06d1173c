"""`forecaster backtest`: a trace in, what was found as one summary and four files out."""

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from connectors.sources.csv import read_trace
from forecaster.backtest.accuracy import LEVELS, PeakScores, Scores
from forecaster.backtest.run import Backtest, backtest
from forecaster.backtest.settings import Progress, Settings, silent
from forecaster.errors import ConfigRejected
from forecaster.simulate.fleet import Outcome
from forecaster.units import from_epoch_s, iso
from forecaster.workload import Policy

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | float | int | None
_QUANTILES = tuple(f"q{level:g}" for level in LEVELS)
_WORST_DAYS = 5

CONTRACT_POLICY = Policy(minimum=1)
"""What a backtest without a configuration runs under: the defaults, floors from 1 up, no ceiling, no step limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the two columns of a trace are called."""

    value: str = "value"
    timestamp: str = "timestamp"


def backtest_csv(
    path: Path,
    policy: Policy = CONTRACT_POLICY,
    settings: Settings | None = None,
    progress: Progress = silent,
    *,
    columns: Columns | None = None,
) -> Backtest:
    """The backtest of a CSV trace. Raises TraceRejected, naming the file, when it cannot be read or replayed."""
    named = columns or Columns()
    trace = read_trace(path, column=named.value, timestamp=named.timestamp)
    return backtest(trace, policy, settings or Settings(), progress)


def summary(found: Backtest) -> dict[str, Json]:
    """What `--json` prints and `summary.json` holds: finite numbers, null where nothing was measured. Ratios are shares of 1."""
    point = found.points[0]
    return {
        "trace": {"start": iso(found.trace.start), "end": iso(found.trace.end), "bucket_s": found.trace.bucket_s},
        "first_origin": iso(found.first_origin),
        "mu": found.fleet.replica_rpm,
        "clairvoyant_replica_hours": found.clairvoyant_hours,
        "accuracy": {
            **_scores(found.accuracy.model),
            "naive_day": _scores(found.accuracy.naive_day),
            "naive_week": _scores(found.accuracy.naive_week),
        },
        "peaks": _peaks(found.accuracy.peaks),
        "operating_point": {
            "level": point.level,
            "hpa_target_utilisation": point.target,
            "levels_by_day": {f"{f.issued_at:%Y-%m-%d}": p.level for f, p in zip(found.forecasts, found.points, strict=True)},
        },
        "worst_days": _worst_days(found),
        "policies": {name: _policy(outcome) for name, outcome in found.outcomes.items()},
    }


def check_writable(directory: Path) -> None:
    """Asked before a replay, which takes minutes. Raises ConfigRejected where `write` could not make the directory, or write into it."""
    nearest = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise _unwritable(directory, f"{nearest} is a file" if nearest != directory else "it is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise _unwritable(directory, "Permission denied")


def write(found: Backtest, directory: Path, *, said: Mapping[str, Json] | None = None, charts: Mapping[str, str] | None = None) -> None:
    """Write the four files into `directory`, which is made if need be, and charts by file name; each appears whole or not at all.

    said: what `summary.json` holds, when more was found out than `summary` knows. Raises ConfigRejected when the directory cannot be
    written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write_csv(directory / "forecasts.csv", ("issued_at", "timestamp", *_QUANTILES), _forecast_rows(found))
        _write_csv(directory / "peaks.csv", ("issued_at", "day", *_QUANTILES, "actual"), _peak_rows(found))
        _write_csv(directory / "floors.csv", ("timestamp", "floor"), _floor_rows(found))
        for name, text in (charts or {}).items():
            _write_text(directory / name, (text,))
        _write_text(directory / "summary.json", (json.dumps(said or summary(found), indent=2, allow_nan=False), "\n"))
    except OSError as error:
        raise _unwritable(directory, error.strerror) from error


def _unwritable(directory: Path, why: str | None) -> ConfigRejected:
    return ConfigRejected(f"the results cannot be written to {directory}: {why}; name a writable directory with --out")


def _forecast_rows(found: Backtest) -> Iterator[Sequence[str]]:
    for forecast in found.forecasts:
        issued_at = iso(forecast.issued_at)
        quantiles = np.stack([forecast.at_level(level) for level in LEVELS], axis=1).tolist()
        times_s = np.arange(len(forecast)) * forecast.step_s + int(forecast.start.timestamp())
        for time_s, row in zip(times_s.tolist(), quantiles, strict=True):
            yield issued_at, iso(from_epoch_s(time_s)), *map(_number, row)


def _peak_rows(found: Backtest) -> Iterator[Sequence[str]]:
    for forecast, peak in zip(found.forecasts, found.peaks, strict=True):
        quantiles = (_number(peak.forecast.at_level(level)) for level in LEVELS)
        yield iso(forecast.issued_at), peak.forecast.day.isoformat(), *quantiles, "" if peak.actual is None else _number(peak.actual)


def _floor_rows(found: Backtest) -> Iterator[Sequence[str]]:
    """One row a step: the end of the last one is the end of the trace."""
    start_s, step_s = int(found.first_origin.timestamp()), found.floor_step_s
    for i, floor in enumerate(found.floors.tolist()):
        yield iso(from_epoch_s(start_s + i * step_s)), str(floor)


def _scores(scores: Scores) -> dict[str, Json]:
    return {"pinball": _by_level(scores.pinball), "wape": scores.wape, "coverage": _by_level(scores.coverage)}


def _peaks(scores: PeakScores) -> dict[str, Json]:
    return {
        "days": scores.days,
        "median_bias_ratio": scores.bias,
        "wape": scores.wape,
        "pinball": _by_level(scores.pinball),
        "coverage": _by_level(scores.coverage),
        "overshoot_ratio": _by_level(scores.overshoot),
    }


def _by_level(values: Iterable[float | None]) -> dict[str, Json]:
    return {f"{level:g}": value for level, value in zip(LEVELS, values, strict=True)}


def _policy(outcome: Outcome) -> dict[str, Json]:
    return {
        "late_ratio": float(outcome.late_ratio[0]),
        "replica_hours": float(outcome.replica_hours[0]),
        "changes": int(outcome.changes.sum()),
    }


def _worst_days(found: Backtest) -> list[Json]:
    """The days on which our floors left most requests late, the worst first, with what was forecast for them and what came."""
    ours = found.outcomes["ours"]
    worst = [int(i) for i in np.argsort(-ours.late[0], kind="stable")[:_WORST_DAYS] if ours.late[0][i] > 0]
    return [
        {
            "day": found.peaks[i].forecast.day.isoformat(),
            "late": float(ours.late[0][i]),
            "late_ratio": float(ours.late[0][i] / ours.arrivals[i]),
            "replica_hours": float(ours.paid_min[0][i] / 60),
            "level": found.points[i].level,
            "peak_rpm": found.peaks[i].actual,
            "peak_rpm_at_level": found.peaks[i].forecast.at_level(found.points[i].level),
        }
        for i in worst
    ]


def _number(value: float) -> str:
    return f"{value:.8g}"


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    part = path.with_name(f".{path.name}.part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    part.replace(path)


def _write_text(path: Path, pieces: Iterable[str]) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text("".join(pieces), encoding="utf-8")
    part.replace(path)

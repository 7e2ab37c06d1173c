"""What is forecast: recorded traces, the fortnights that long ones are cut into, and the midnights at which forecasts are issued."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from connectors.sources.csv import read_trace
from forecaster.backtest.origins import early_origins, first_origin, origins
from forecaster.errors import TraceRejected
from forecaster.series import Floats, Series
from forecaster.trace import Trace
from forecaster.units import DAY_S, epoch_s

LONG_DAYS = 28
_DAY = timedelta(days=1)
_FORTNIGHT_DAYS = 14
_LLM = "llm_"
_PACKAGED = "llm_azure2024_conv_1m"
_BESIDE_THE_REPOSITORY = Path(__file__).parents[2].parent / "shared" / "data"


class Group(StrEnum):
    """Which row a recording counts in. LONG: some midnight has 28 days of history behind it; CUT: a fortnight out of such a trace."""

    LONG = "traces with 28 days or more"
    SHORT = "14-day LLM traces"
    CUT = "fortnights cut from long LLM traces"
    GENERATED = "12 generated series"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """One load on its forecast grid, and when it is forecast for 24 hours.

    warm_up: the midnights before the first origin. The backtest forecasts there too, and a model that remembers starts from them.
    """

    name: str
    group: Group
    series: Series = field(repr=False)
    origins: tuple[datetime, ...] = field(repr=False)
    warm_up: tuple[datetime, ...] = field(default=(), repr=False)

    @property
    def per_day(self) -> int:
        """Buckets of a day."""
        return DAY_S // self.series.step_s

    @property
    def actual(self) -> Floats:
        """What came after each origin, shape (origins, per_day), NaN = not measured."""
        first = [(epoch_s(origin) - epoch_s(self.series.start)) // self.series.step_s for origin in self.origins]
        padded = np.pad(self.series.mean, (0, self.per_day), constant_values=np.nan)
        return np.stack([padded[i : i + self.per_day] for i in first])

    @property
    def with_28_days(self) -> NDArray[np.bool_]:
        """Which origins have 28 days of history behind them, counted from the first measured bucket, shape (origins,)."""
        return np.array([_history_days(self.series, origin) >= LONG_DAYS for origin in self.origins])


def recordings() -> tuple[Recording, ...]:
    """The real ones: each of `traces` at its midnights."""
    return tuple(recorded(name, trace) for name, trace in traces())


def traces() -> tuple[tuple[str, Trace], ...]:
    """By name: every trace of $FORECASTER_TRACES, else of ../shared/data, else the week that the package carries.

    Raises TraceRejected when the folder that was named holds none.
    """
    named = os.environ.get("FORECASTER_TRACES")
    folder = Path(named) if named else _BESIDE_THE_REPOSITORY
    found = tuple(_long_enough(sorted(folder.glob("*.csv.gz"))))
    if named and not found:
        msg = f"FORECASTER_TRACES names {folder}, where no *.csv.gz holds a trace of two days: name a folder of traces"
        raise TraceRejected(msg)
    return found or (_packaged(),)


def _packaged() -> tuple[str, Trace]:
    with as_file(files("jobs.demo").joinpath(f"{_PACKAGED}.csv.gz")) as path:
        return _PACKAGED, read_trace(path)


def recorded(name: str, trace: Trace) -> Recording:
    """A trace at the midnights that `forecaster backtest` scores. Raises TraceRejected when there is none."""
    series = trace.series()
    scored = origins(first_origin(trace, series), trace.end)
    group = Group.LONG if _history_days(series, scored[-1]) >= LONG_DAYS else Group.SHORT
    return Recording(name=name, group=group, series=series, origins=scored, warm_up=early_origins(series, scored[0]))


def fortnights(recording: Recording) -> tuple[Recording, ...]:
    """A long LLM trace as the 14-day ones that it holds: as young as the recorded ones, with nothing of the weeks before them."""
    if recording.group is not Group.LONG or not recording.name.startswith(_LLM):
        return ()
    series, length = recording.series, _FORTNIGHT_DAYS * recording.per_day
    cuts = [
        replace(
            series,
            start=series.start + timedelta(seconds=first * series.step_s),
            mean=series.mean[first : first + length],
            peak=series.peak[first : first + length],
        )
        for first in range(0, len(series) - length + 1, length)
    ]
    return tuple(_fortnight(f"{recording.name}, fortnight {i}", cut) for i, cut in enumerate(cuts, start=1))


def _fortnight(name: str, series: Series) -> Recording:
    trace = Trace(start=series.start, bucket_s=series.step_s, counts=series.mean)
    return replace(recorded(name, trace), group=Group.CUT, series=series)


def _long_enough(paths: list[Path]) -> Iterator[tuple[str, Trace]]:
    for path in paths:
        try:
            trace = read_trace(path)
            first_origin(trace, trace.series())
        except TraceRejected as error:
            print(f"left out: {error}", file=sys.stderr)
        else:
            yield path.name.removesuffix(".csv.gz"), trace


def _history_days(series: Series, origin: datetime) -> float:
    measured = int(np.flatnonzero(~np.isnan(series.mean))[0])
    return (origin - series.start) / _DAY - measured * series.step_s / DAY_S

"""Forecasts at a recording's origins: by one of our models through the backtest's own functions, or by a rival."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from multiprocessing import get_context
from typing import TypeAlias

import numpy as np

from benchmarks.accuracy.recordings import Recording
from benchmarks.accuracy.rivals import last_week, prophet_default
from forecaster.backtest.accuracy import peaks_of
from forecaster.backtest.rolling import forecasts
from forecaster.backtest.settings import Settings
from forecaster.forecast import SCORED_LEVELS
from forecaster.series import Floats, Series

Way: TypeAlias = str
"""A name in the catalogue of models, or of RIVALS."""

PROPHET, LAST_WEEK = "Prophet default", "last week"
RIVALS: dict[Way, Callable[[Series], Floats]] = {PROPHET: prophet_default, LAST_WEEK: last_week}
_PROCESSES = 2
_BATCH = 20
"""Origins a task: rivals forget everything between two of them, so they may be split, and both processors are busy to the end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Issued:
    """What a way said at each origin: quantiles (origins, levels, per_day), and of each day's peak (origins, levels).

    cpu_s: of it all, warming up included, of this process and those that it ran. peaks: empty where the way says nothing of them.
    """

    quantiles: Floats = field(repr=False)
    peaks: Floats = field(repr=False)
    own: int
    cpu_s: float


def issue(recording: Recording, way: Way) -> Issued:
    """One forecast at each origin, from nothing but what was known then."""
    begun_s = cpu_s()
    rival = RIVALS.get(way)
    if rival is not None:
        quantiles = np.stack([rival(recording.series.known_at(origin)) for origin in recording.origins])
        return Issued(quantiles=quantiles, peaks=np.empty((len(quantiles), 0)), own=len(quantiles), cpu_s=cpu_s() - begun_s)
    made = tuple(forecasts(recording.series, (*recording.warm_up, *recording.origins), Settings(model=way)))[-len(recording.origins) :]
    return Issued(
        quantiles=np.stack([[forecast.at_level(level) for level in SCORED_LEVELS] for forecast in made]),
        peaks=np.array([[peak.forecast.at_level(level) for level in SCORED_LEVELS] for peak in peaks_of(recording.series, made)]),
        own=sum(forecast.model == way for forecast in made),
        cpu_s=cpu_s() - begun_s,
    )


def check_no_peeking(recording: Recording, way: Way, origin: datetime, said: Callable[[Recording, Way], Issued] = issue) -> None:
    """Forecast once more with another future. Raises RuntimeError when that changes a single byte of what was `said`."""
    once = replace(recording, origins=(origin,))
    told, otherwise = (said(replace(once, series=series), way) for series in (recording.series, _other_future(recording.series, origin)))
    if told.quantiles.tobytes() != otherwise.quantiles.tobytes() or told.peaks.tobytes() != otherwise.peaks.tobytes():
        msg = f"{way} looked past {origin:%Y-%m-%d} on {recording.name}: its forecast changed with what came later"
        raise RuntimeError(msg)


@contextmanager
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two of them, started afresh; what waits is dropped at the end."""
    pool = ProcessPoolExecutor(max_workers=_PROCESSES, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def submit(pool: ProcessPoolExecutor, recording: Recording, way: Way) -> tuple[Future[Issued], ...]:
    """The tasks of one way on one recording, in the order of the origins. Our models get all at once, since they may remember."""
    batch = _BATCH if way in RIVALS else len(recording.origins)
    parts = [recording.origins[i : i + batch] for i in range(0, len(recording.origins), batch)]
    return tuple(pool.submit(issue, replace(recording, origins=part), way) for part in parts)


def joined(parts: Iterable[Issued]) -> Issued:
    """Parts of one recording, in the order of their origins, as one."""
    all_parts = tuple(parts)
    return Issued(
        quantiles=np.concatenate([part.quantiles for part in all_parts]),
        peaks=np.concatenate([part.peaks for part in all_parts]),
        own=sum(part.own for part in all_parts),
        cpu_s=sum(part.cpu_s for part in all_parts),
    )


def cpu_s() -> float:
    """CPU seconds of this process and of those that it ran: Prophet fits in one."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _other_future(series: Series, origin: datetime) -> Series:
    """Another load from the origin on, with gaps; the same before it."""
    known = len(series.known_at(origin))
    rng = np.random.default_rng(1)
    factor = np.where(rng.random(len(series)) < 0.1, np.nan, rng.lognormal(1, 1, len(series)))
    factor[:known] = 1.0
    return replace(series, mean=series.mean * factor, peak=series.peak * factor)

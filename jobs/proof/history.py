"""The weeks behind us as a trace, out of a server that anybody may read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from connectors.sources.registry import OpenedSource
from forecaster.errors import SourceRejected, TraceRejected
from forecaster.ports import Query
from forecaster.series import Floats, Window
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S, floor_to, iso
from jobs.proof.grain import coarser, grain_min
from jobs.proof.load_query import Guess

REPLAYED_DAYS = 28
FETCHED_DAYS = REPLAYED_DAYS + 14
"""The 14 days before the replayed ones are what the first forecast is made of."""
_LEAST_DAYS = 2
_FELL, _ROSE = 0.001, 0.5
"""Of the steps between measured minutes: a counter falls at resets only, and rises with traffic. No load does both for two days."""
_WHOLE = 0.9
"""Of the minutes between the first and the last: with less, a longer span of rate() is tried."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Load:
    """A history as it was found. measured_ratio: of the trace's buckets. unmeasured days are trimmed off both ends."""

    query: Query
    trace: Trace = field(repr=False)
    measured_ratio: float


def window_before(now: datetime) -> Window:
    """The days that are asked for: whole ones in UTC, and today up to the last whole minute."""
    return Window(start=floor_to(now, DAY_S) - timedelta(days=FETCHED_DAYS), end=floor_to(now, MINUTE_S))


def load_of(source: OpenedSource, query: Query, now: datetime) -> Load:
    """The load that one query gives. Raises SourceUnavailable, SourceRejected, and TraceRejected where there is too little of it."""
    window = window_before(now)
    minutes = source.fetch(query, window, MINUTE_S).mean
    if np.isnan(minutes).all():
        source.probe(query, now)  # where nothing matches it says so better
        msg = f"{query.expression!r} gave no usable number in the {FETCHED_DAYS} days before {iso(window.end)}; correct it"
        raise SourceRejected(msg)
    return _loaded(query, window, minutes)


def load_among(source: OpenedSource, guesses: Sequence[Guess], now: datetime) -> Load | None:
    """The load of the first guess that the server has samples of; None when it has none of any. Raises as `load_of` does."""
    window = window_before(now)
    for guess in guesses:
        found = _finest(source, guess, window)
        if found is not None:
            return _loaded(*found)
    return None


def ready_replicas(source: OpenedSource, query: Query, trace: Trace) -> Floats:
    """The replicas that were ready in each bucket of a trace, NaN where nobody knows, shape of the trace's counts."""
    series = source.fetch(query, Window(start=trace.start, end=trace.end), MINUTE_S)
    return coarser(series.mean, trace.bucket_s // MINUTE_S)


def _finest(source: OpenedSource, guess: Guess, window: Window) -> tuple[Query, Window, Floats] | None:
    """The first of a guess's queries that is measured nearly throughout, else the one that is measured most."""
    best: tuple[Query, Window, Floats] | None = None
    for query in guess.queries:
        minutes = source.fetch(query, window, MINUTE_S).mean
        measured = np.flatnonzero(~np.isnan(minutes))
        if not measured.size:
            continue
        if measured.size >= _WHOLE * (measured[-1] - measured[0] + 1):
            return query, window, minutes
        if best is None or measured.size > int((~np.isnan(best[2])).sum()):
            best = query, window, minutes
    return best


def _check_no_counter(query: Query, minutes: Floats) -> None:
    steps = np.diff(minutes[~np.isnan(minutes)])
    if steps.size and (steps < 0).mean() <= _FELL and (steps > 0).mean() >= _ROSE:
        said = f"{query.expression!r} only ever grows, as a counter does, and says how much came in all"
        raise SourceRejected(f"{said}: ask for its rate, such as --query 'sum(rate({query.expression}[2m]))'")


def _loaded(query: Query, window: Window, minutes: Floats) -> Load:
    step_min = grain_min(minutes)
    buckets = coarser(minutes, step_min)
    measured = np.flatnonzero(~np.isnan(buckets))
    first, last = int(measured[0]), int(measured[-1]) + 1
    bucket_s = step_min * MINUTE_S
    days = (last - first) * bucket_s / DAY_S
    if days < _LEAST_DAYS:
        msg = (
            f"{query.expression!r} was measured for {days:.1f} days only, from {iso(window.start + timedelta(seconds=first * bucket_s))}: "
            f"a replay needs at least {_LEAST_DAYS} days, and four weeks to be worth a decision"
        )
        raise TraceRejected(msg)
    _check_no_counter(query, minutes)
    counts = buckets[first:last] * step_min
    trace = Trace(start=window.start + timedelta(seconds=first * bucket_s), bucket_s=bucket_s, counts=counts)
    return Load(query=query, trace=trace, measured_ratio=measured.size / (last - first))

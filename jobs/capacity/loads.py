"""What the load of a workload is, over windows kept apart: rates, streams, tokens and latencies. What is not known is None, never zero."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.errors import SourceError
from forecaster.ports import Query, SecondSource, Store
from forecaster.seconds import Seconds
from forecaster.series import Floats, Signal, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, floor_to
from jobs.fleet import Member

UNRESOLVED = "not resolvable at this scrape interval"
SECONDS_S = HOUR_S
"""No source is asked for more seconds: a day of them would be 86,400 numbers to a source that others need."""
SPANS_S = (15 * MINUTE_S, HOUR_S, DAY_S)
_SHOWN = frozenset({"latency_p95", "latency_p99"})
_NOTHING: Floats = np.array([])


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One workload over one span that ends with the last whole bucket.

    rpm: mean; largest_rpm: the largest minute; peak_second_qps: the largest second, with why nobody can tell it. latency_s: mean, by
    Little's law (1961) streams / rate. p95_s, p99_s: the largest of the span, as presets supply them.
    """

    workload: str
    span_s: int
    measured_ratio: float
    rpm: float | None
    largest_rpm: float | None
    streams: float | None
    tokens_out_s: float | None
    tokens_in_s: float | None
    latency_s: float | None
    p95_s: float | None
    p99_s: float | None
    peak_second_qps: float | None = None
    peak_second_unknown: str = ""

    @property
    def qps(self) -> float | None:
        """Requests a second, mean."""
        return None if self.rpm is None else self.rpm / MINUTE_S


def loads(store: Store, member: Member, now: datetime) -> Iterator[Load]:
    """One row a span, from kept history; latencies, and seconds of the last hour, are asked of the source. Raises StoreError."""
    end = floor_to(now, member.step_s)
    whole = Window(start=end - timedelta(seconds=SPANS_S[-1]), end=end)
    latencies = {name: _asked(member, query, whole) for name, query in member.latencies.items() if name in _SHOWN}
    seconds = _seconds(member, Window(start=end - timedelta(seconds=SECONDS_S), end=end))
    for span_s in SPANS_S:
        window = Window(start=end - timedelta(seconds=max(span_s, member.step_s)), end=end)
        peak_qps, unknown = _peak_second(seconds, span_s)
        row = _load(store, member, window, span_s, latencies)
        yield replace(row, peak_second_qps=peak_qps, peak_second_unknown=unknown)


def _load(store: Store, member: Member, window: Window, span_s: int, latencies: Mapping[str, Floats]) -> Load:
    def kept(signal: Signal) -> tuple[Floats, Floats]:
        if signal not in {query.signal for query in member.queries}:
            return _NOTHING, _NOTHING
        series = store.history(member.workload.name, signal, window, member.step_s)
        return series.mean, series.peak

    def largest(name: str) -> float | None:
        return _largest(latencies.get(name, _NOTHING)[-(max(span_s, member.step_s) // member.step_s) :])

    rates, peaks = kept(Signal.RPM)
    rpm, streams = _mean(rates), _mean(kept(Signal.CONCURRENCY)[0])
    sent = _mean(kept(Signal.INPUT_LENGTH)[0])
    return Load(
        workload=member.workload.name,
        span_s=span_s,
        measured_ratio=float(np.mean(~np.isnan(rates))) if rates.size else 0.0,
        rpm=rpm,
        largest_rpm=_largest(peaks),
        streams=streams,
        tokens_out_s=_mean(kept(Signal.TOKENS)[0]),
        tokens_in_s=None if sent is None or rpm is None else sent * rpm / MINUTE_S,
        latency_s=None if not rpm or streams is None else streams / rpm * MINUTE_S,
        p95_s=largest("latency_p95"),
        p99_s=largest("latency_p99"),
    )


def _seconds(member: Member, window: Window) -> Seconds | None:
    """What the source tells of the window's seconds; None where it is not asked for requests, or does not answer."""
    query = next((query for query in member.queries if query.signal is Signal.RPM), None)
    if query is None:
        return None
    if not isinstance(member.source, SecondSource):
        return Seconds()
    try:
        return member.source.seconds(query, window)
    except SourceError:
        return None


def _peak_second(seconds: Seconds | None, span_s: int) -> tuple[float | None, str]:
    """Requests in the largest second of a span, or why they are not told."""
    if seconds is None:
        return None, ""
    if seconds.series is None:
        return None, UNRESOLVED if seconds.grain_s is None else f"{UNRESOLVED} ({seconds.grain_s:.3g} s)"
    if span_s > SECONDS_S:
        return None, "of an hour at most"
    largest_rpm = _largest(seconds.series.mean[-span_s:])
    return None if largest_rpm is None else largest_rpm / MINUTE_S, ""


def _asked(member: Member, query: Query, window: Window) -> Floats:
    """What the source tells by bucket, nothing where it does not answer: the rest is shown all the same."""
    try:
        return member.source.fetch(query, window, member.step_s).mean
    except SourceError:
        return _NOTHING


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _largest(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.max()) if known.size else None

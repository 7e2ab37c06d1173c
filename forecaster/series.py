"""Measured load on a regular grid. NaN means "not measured"; it never means zero."""

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from forecaster.units import check_instant, check_named, check_positive, epoch_s, iso

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Floats: TypeAlias = NDArray[np.float64]


class Signal(StrEnum):
    """What is measured: load, which sizes floors; lengths, which are forecast for people to see; the rest is evidence about load."""

    RPM = "rpm"
    CONCURRENCY = "concurrency"
    TOKENS = "tokens"
    INPUT_LENGTH = "input_length"
    OUTPUT_LENGTH = "output_length"
    RESPONSE_HITS = "response_hits"
    PREFIX_HITS = "prefix_hits"
    QUEUE_DEPTH = "queue_depth"
    REFUSED = "refused"
    CONDITION = "condition"
    READY = "ready"

    @property
    def unit(self) -> str:
        """The unit in which every series of this signal is kept."""
        return _UNITS[self]

    @property
    def most(self) -> float:
        """The largest number that it can be; a larger one is a broken one and counts as not measured."""
        return 1.0 if self in HIT_SIGNALS else MOST_LOAD


_UNITS = {
    Signal.RPM: "requests/min",
    Signal.CONCURRENCY: "requests in flight",
    Signal.TOKENS: "tokens/s",
    Signal.INPUT_LENGTH: "tokens/request",
    Signal.OUTPUT_LENGTH: "tokens/request",
    Signal.RESPONSE_HITS: "ratio",
    Signal.PREFIX_HITS: "ratio",
    Signal.QUEUE_DEPTH: "requests waiting",
    Signal.REFUSED: "requests refused/min",
    Signal.CONDITION: "(any but 0 holds)",
    Signal.READY: "replicas",
}

MOST_LOAD = 1e12
"""No service has more of anything; a larger number is a broken one and counts as not measured."""

LOAD_SIGNALS = (Signal.RPM, Signal.CONCURRENCY, Signal.TOKENS)
LENGTH_SIGNALS = (Signal.INPUT_LENGTH, Signal.OUTPUT_LENGTH)
"""Means over requests: no load, so no floor rests on them and no pool takes a share. An idle bucket has none (0 / 0), which is NaN."""
HIT_SIGNALS = (Signal.RESPONSE_HITS, Signal.PREFIX_HITS)
"""Shares, 0 to 1: of requests that a cache answers, so that no engine sees them, and of prompt tokens that lie in an engine's cache, so
that they need no prefill. No load and not forecast; what comes off floors for them is a low quantile of the days before. NaN when idle."""
FORECAST_SIGNALS = LOAD_SIGNALS + LENGTH_SIGNALS
LIVE_SIGNALS = (*LOAD_SIGNALS, Signal.QUEUE_DEPTH)
"""What corrects a plan."""
PRESSURE_SIGNALS = (Signal.QUEUE_DEPTH, Signal.REFUSED)
"""What grows when demand exceeds capacity, and tells that the load of the hour says too little; no load by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The half-open span [start, end) in UTC. Raises ValueError when it is empty or reversed."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        check_instant("window.start", self.start)
        check_instant("window.end", self.end)
        if self.end <= self.start:
            msg = f"window.end must be after window.start, got [{iso(self.start)}, {iso(self.end)})"
            raise ValueError(msg)

    @property
    def length_s(self) -> float:
        """Seconds from start to end."""
        return (self.end - self.start).total_seconds()

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end


def frozen_floats(values: object, *, ndim: int, name: str) -> Floats:
    """A read-only float64 array of `ndim` dimensions; always a copy unless it is read-only already."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        msg = f"{name} must have {ndim} dimension(s), got {array.ndim}"
        raise ValueError(msg)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def reduce_frozen(value: "DataclassInstance") -> tuple[object, ...]:
    """`__reduce__` of a frozen dataclass that holds arrays: they come out of a pickle writeable, and are made read-only again.

    `__setstate__` would be the place, but dataclasses with slots overwrite it before Python 3.11.3.
    """
    return _restored, (type(value), tuple(getattr(value, field.name) for field in fields(value)))


def _restored(kind: "type[DataclassInstance]", values: tuple[object, ...]) -> "DataclassInstance":
    restored = object.__new__(kind)
    for field, value in zip(fields(kind), values, strict=True):
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(restored, field.name, value)
    return restored


def check_grid(start: datetime, step_s: int) -> None:
    """Refuse a grid whose start is not an epoch-aligned multiple of its step."""
    check_instant("start", start)
    check_positive("step_s", step_s, "seconds")
    if start.microsecond or epoch_s(start) % step_s:
        msg = f"start must be a multiple of the step of {step_s} s since the epoch, got {iso(start)}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One signal of one workload on an epoch-aligned grid.

    `mean[i]` is the mean over [start + i step, start + (i + 1) step) in the signal's unit, `peak[i]` the largest minute
    inside that bucket (equal to the mean where the source resolves no minutes). Shape of both: (n,). NaN = not measured,
    in both or in neither. Values are finite and at least 0; anything else raises ValueError: sources clean first.
    """

    signal: Signal
    start: datetime
    step_s: int
    mean: Floats
    peak: Floats

    def __post_init__(self) -> None:
        check_grid(self.start, self.step_s)
        object.__setattr__(self, "mean", frozen_floats(self.mean, ndim=1, name="mean"))
        object.__setattr__(self, "peak", frozen_floats(self.peak, ndim=1, name="peak"))
        if self.mean.shape != self.peak.shape:
            msg = f"mean and peak must have one length, got {self.mean.size} and {self.peak.size}"
            raise ValueError(msg)
        if not np.array_equal(np.isnan(self.mean), np.isnan(self.peak)):
            msg = "mean and peak must be measured in the same buckets"
            raise ValueError(msg)
        for name, values in (("mean", self.mean), ("peak", self.peak)):
            if np.isinf(values).any() or (values < 0).any():
                msg = f"{name} must be finite and at least 0 {self.signal.unit}, or NaN where it was not measured"
                raise ValueError(msg)

    def __len__(self) -> int:
        return int(self.mean.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return (
            (self.signal, self.start, self.step_s) == (other.signal, other.start, other.step_s)
            and np.array_equal(self.mean, other.mean, equal_nan=True)
            and np.array_equal(self.peak, other.peak, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash; the type is compared by value
    __reduce__ = reduce_frozen

    @property
    def end(self) -> datetime:
        """The end of the last bucket."""
        return self.start + timedelta(seconds=self.step_s * len(self))

    @property
    def measured_ratio(self) -> float:
        """Share of buckets that were measured; 0 for an empty series."""
        return float(np.mean(~np.isnan(self.mean))) if len(self) else 0.0

    def times_s(self) -> NDArray[np.int64]:
        """Bucket starts as seconds since the epoch, shape (n,)."""
        return epoch_s(self.start) + self.step_s * np.arange(len(self), dtype=np.int64)

    def between(self, start: datetime, end: datetime) -> Self:
        """The buckets that lie wholly inside [start, end); possibly none."""
        first = max(0, -((epoch_s(self.start) - epoch_s(start)) // self.step_s))
        last = max(first, (epoch_s(end) - epoch_s(self.start)) // self.step_s)
        return replace(
            self,
            start=self.start + timedelta(seconds=first * self.step_s),
            mean=self.mean[first:last],
            peak=self.peak[first:last],
        )

    def updated(self, later: Self) -> Self:
        """The same buckets after a later measurement of some of them on the same step: NaN replaces nothing."""
        at = (epoch_s(later.start) - epoch_s(self.start)) // self.step_s
        first, last = max(at, 0), min(at + len(later), len(self))
        if first >= last:
            return self
        mean, peak = self.mean.copy(), self.peak.copy()
        news = slice(first - at, last - at)
        measured = ~np.isnan(later.mean[news])
        mean[first:last][measured], peak[first:last][measured] = later.mean[news][measured], later.peak[news][measured]
        return replace(self, mean=mean, peak=peak)

    def known_at(self, now: datetime) -> Self:
        """What was known at `now`: a bucket is known at its end, not before."""
        return self.between(self.start, now)

    def coarser(self, step_s: int) -> Self:
        """The same load on a grid of `step_s`, a multiple of the present step.

        A coarse bucket is the mean of the buckets measured in it and the largest of their peaks; it is NaN when fewer
        than half of them were measured, since a few minutes say little about an hour. Of a mean over requests, such as a
        length, that is a plain mean too: busy minutes count no more than quiet ones.
        """
        ratio, rest = divmod(step_s, self.step_s)
        if rest or ratio < 1:
            msg = f"step_s must be a multiple of {self.step_s} s, got {step_s} s"
            raise ValueError(msg)
        if ratio == 1:
            return self
        lead = (epoch_s(self.start) % step_s) // self.step_s
        tail = -(lead + len(self)) % ratio
        mean = np.pad(self.mean, (lead, tail), constant_values=np.nan).reshape(-1, ratio)
        peak = np.pad(self.peak, (lead, tail), constant_values=np.nan).reshape(-1, ratio)
        measured = ~np.isnan(mean)
        count = measured.sum(axis=1)
        kept = count * 2 >= ratio
        total = np.where(measured, mean, 0.0).sum(axis=1)
        return replace(
            self,
            start=self.start - timedelta(seconds=lead * self.step_s),
            step_s=step_s,
            mean=np.where(kept, total / np.maximum(count, 1), np.nan),
            peak=np.where(kept, np.where(measured, peak, 0.0).max(axis=1, initial=0.0), np.nan),
        )


def empty_series(signal: Signal, window: Window, step_s: int) -> Series:
    """A series over `window` (aligned to the step) in which nothing was measured."""
    n = int(window.length_s // step_s)
    return Series(signal=signal, start=window.start, step_s=step_s, mean=np.full(n, np.nan), peak=np.full(n, np.nan))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """A chunk of series of one signal on one grid: what models are fitted on.

    `mean` and `peak` have shape (series, n), in the signal's unit, NaN = not measured; `names` has one unique entry a series.
    """

    signal: Signal
    start: datetime
    step_s: int
    names: tuple[str, ...]
    mean: Floats
    peak: Floats

    def __post_init__(self) -> None:
        check_grid(self.start, self.step_s)
        object.__setattr__(self, "mean", frozen_floats(self.mean, ndim=2, name="mean"))
        object.__setattr__(self, "peak", frozen_floats(self.peak, ndim=2, name="peak"))
        for name in self.names:
            check_named("panel name", name)
        if len(set(self.names)) != len(self.names):
            msg = f"panel names must be unique, got {self.names}"
            raise ValueError(msg)
        if self.mean.shape != self.peak.shape or self.mean.shape[0] != len(self.names):
            msg = f"a panel needs one row a name, got {len(self.names)} names, mean {self.mean.shape}, peak {self.peak.shape}"
            raise ValueError(msg)

    __reduce__ = reduce_frozen

    @property
    def end(self) -> datetime:
        """The end of the last bucket: everything before it was known when the panel was made."""
        return self.start + timedelta(seconds=self.step_s * self.mean.shape[1])


def panel_of(series: dict[str, Series]) -> Panel:
    """Stack series of one signal, start, step and length into a panel. Raises ValueError when they differ or are none."""
    if not series:
        msg = "a panel needs at least one series"
        raise ValueError(msg)
    grids = {(s.signal, s.start, s.step_s, len(s)) for s in series.values()}
    if len(grids) > 1:
        msg = f"a panel holds series of one signal and grid, got {len(grids)} different ones"
        raise ValueError(msg)
    first = next(iter(series.values()))
    return Panel(
        signal=first.signal,
        start=first.start,
        step_s=first.step_s,
        names=tuple(series),
        mean=np.stack([s.mean for s in series.values()]),
        peak=np.stack([s.peak for s in series.values()]),
    )

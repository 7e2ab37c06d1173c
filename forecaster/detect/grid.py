"""A history as days of buckets, and what is usual at each of its hours: medians that one bad day cannot move."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self, TypedDict

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forecaster.marks import Mark, MarkKind
from forecaster.series import Floats, Series, Signal, Window
from forecaster.units import DAY_S, HOUR_S, epoch_s, from_epoch_s

_WEEK = 7
_LEAST_RATIO = 1e-3  # of the mean load: what is smaller counts as this much in logarithms
_LEAST = 1e-9  # nobody measures less of anything, and numbers near the smallest float are no numbers
_ENOUGH = 3  # days or weeks before their median says what is usual
Flags = NDArray[np.bool_]


class _Days(TypedDict):
    load: Floats
    measured: NDArray[np.intp]
    largest: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """One series in whole UTC days, padded with NaN. Flat indices count buckets from the first midnight.

    load: shape (days, buckets a day). measured, largest: how many buckets of each day were, and the largest of them, 0 if none.
    blocks: means of `per_block` buckets, about an hour, shape (days, blocks), NaN where less than half was measured. level: log median
    of each day, NaN for a day of which less than half was measured. base: median level of the seven days on both sides without the day
    itself. usual: log load that is usual in a block at this time of the week, or of the day while there are not three weeks.
    """

    signal: Signal
    now: datetime
    first_s: int
    step_s: int
    per_block: int
    load: Floats = field(repr=False)
    measured: NDArray[np.intp] = field(repr=False)
    largest: Floats = field(repr=False)
    blocks: Floats = field(repr=False)
    level: Floats = field(repr=False)
    base: Floats = field(repr=False)
    usual: Floats = field(repr=False)

    @property
    def days(self) -> int:
        """How many days were measured for at least half."""
        return int(np.count_nonzero(~np.isnan(self.level)))

    @property
    def per_day(self) -> int:
        """Buckets a day."""
        return int(self.load.shape[1])

    @property
    def flat(self) -> Floats:
        """The buckets in order, shape (days x per_day,)."""
        return self.load.reshape(-1)

    @property
    def ratio(self) -> Floats:
        """Each block over what is usual there, shape (days, blocks)."""
        ratio: Floats = self.blocks / np.exp(self.usual)
        return ratio

    def usual_load(self, first: int, stop: int) -> Floats:
        """What is usual in the buckets [first, stop), drawn through the middles of the blocks."""
        middles = np.arange(self.usual.size) * self.per_block + (self.per_block - 1) / 2
        known = ~np.isnan(self.usual.reshape(-1))
        if not known.any():
            return np.full(stop - first, np.nan)
        return np.exp(np.interp(np.arange(first, stop), middles[known], self.usual.reshape(-1)[known]))

    def buckets(self, seconds: float) -> int:
        """So many buckets last at least that long."""
        return max(1, int(-(-seconds // self.step_s)))

    def without(self, marks: list[Mark]) -> Self:
        """The same without the buckets of some marks; what is usual stays as it was."""
        load = self.flat.copy()
        for mark in marks:
            load[(epoch_s(mark.span.start) - self.first_s) // self.step_s : (epoch_s(mark.span.end) - self.first_s) // self.step_s] = np.nan
        return replace(self, **_days(load.reshape(self.load.shape)))

    def levelled_without(self, first: int, stop: int) -> Self:
        """The same, with the level of a week before on the days of which [first, stop) takes half: they would lower those around them."""
        down = np.zeros(self.flat.size, dtype=bool)
        down[first:stop] = True
        lost = 2 * np.count_nonzero(down.reshape(self.load.shape), axis=1) >= self.per_day
        if not lost.any():
            return self
        week_before = np.concatenate([np.full(_WEEK, np.nan), self.level])[: self.level.size]
        level = np.where(lost, week_before, self.level)
        base = _base(level)
        return replace(self, level=level, base=base, usual=self.usual + (base - self.base)[:, None])

    def mark(self, kind: MarkKind, first: int, stop: int, detail: str) -> Mark:
        """A mark on the buckets [first, stop)."""
        span = Window(start=from_epoch_s(self.first_s + first * self.step_s), end=from_epoch_s(self.first_s + stop * self.step_s))
        return Mark(kind=kind, span=span, signal=self.signal, at=self.now, detail=detail)


def grid_of(series: Series, now: datetime) -> Grid | None:
    """The grid of a series as known at `now`; None where its step does not divide a day, or nothing above zero was measured."""
    known = series.known_at(now)
    step_s = known.step_s
    if DAY_S % step_s or not (known.mean > 0).any():
        return None
    lead = epoch_s(known.start) % DAY_S // step_s
    per_day = DAY_S // step_s
    load = np.full(-(-(lead + len(known)) // per_day) * per_day, np.nan)
    load[lead : lead + len(known)] = known.mean
    per_block = next(k for k in range(1, per_day + 1) if per_day % k == 0 and k * step_s >= min(HOUR_S, DAY_S))
    blocks = block_means(load, per_block).reshape(-1, per_day // per_block)
    logs = np.log(np.maximum(blocks, max(_LEAST_RATIO * _mean(blocks), _LEAST)))
    level = np.where(np.count_nonzero(~np.isnan(logs), axis=1) * 2 >= logs.shape[1], medians(logs.T), np.nan)
    base = _base(level)
    return Grid(
        signal=series.signal,
        now=now,
        first_s=epoch_s(known.start) - lead * step_s,
        step_s=step_s,
        per_block=per_block,
        **_days(load.reshape(-1, per_day)),
        blocks=blocks,
        level=level,
        base=base,
        usual=_usual(logs, base),
    )


def block_means(load: Floats, per_block: int) -> Floats:
    """The means of so many buckets each, NaN where less than half of them was measured."""
    rows = load.reshape(-1, per_block)
    known = ~np.isnan(rows)
    count = np.count_nonzero(known, axis=1)
    total = np.where(known, rows, 0.0).sum(axis=1)
    return np.where(count * 2 >= per_block, total / np.maximum(count, 1), np.nan)


def _days(load: Floats) -> _Days:
    filled = np.where(np.isnan(load), 0.0, load)
    return {"load": load, "measured": np.count_nonzero(~np.isnan(load), axis=1), "largest": filled.max(axis=1)}


def _mean(blocks: Floats) -> float:
    """The mean of what is known, 1 where nothing above zero is."""
    known = blocks[~np.isnan(blocks)]
    return float(known.mean()) if (known > 0).any() else 1.0


def medians(values: Floats) -> Floats:
    """The medians along the first axis of what is known, NaN where nothing is."""
    ordered = np.sort(values, axis=0)
    count = np.count_nonzero(~np.isnan(values), axis=0)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(values) - 1)
    both = np.take_along_axis(ordered, np.stack([low, high]).reshape(2, *count.shape), axis=0)
    return np.where(count > 0, both.mean(axis=0), np.nan)


def runs(flags: Flags) -> list[tuple[int, int]]:
    """The half-open stretches in which the flags are set, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def bridged(flags: Flags, most: int) -> Flags:
    """The flags with breaks of up to `most` closed between two set ones."""
    closed = flags.copy()
    for start, stop in runs(~flags):
        if start > 0 and stop < flags.size and stop - start <= most:
            closed[start:stop] = True
    return closed


def _base(level: Floats) -> Floats:
    around = sliding_window_view(np.pad(level, _WEEK, constant_values=np.nan), 2 * _WEEK + 1).copy()
    around[:, _WEEK] = np.nan
    return medians(around.T)


def _usual(logs: Floats, base: Floats) -> Floats:
    shapes = logs - base[:, None]
    weeks = np.pad(shapes, ((0, -len(shapes) % _WEEK), (0, 0)), constant_values=np.nan).reshape(-1, _WEEK, shapes.shape[1])
    of_week = np.where(np.count_nonzero(~np.isnan(weeks), axis=0) >= _ENOUGH, medians(weeks), np.nan)
    of_day = np.where(np.count_nonzero(~np.isnan(shapes), axis=0) >= _ENOUGH, medians(shapes), np.nan)
    phases = np.arange(len(shapes)) % _WEEK
    usual: Floats = np.where(np.isnan(of_week), of_day, of_week)[phases] + base[:, None]
    return usual

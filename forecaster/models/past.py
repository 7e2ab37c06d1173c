"""What a member of the ensemble may know: a chunk of series before one origin, by the clock on the wall, in logarithms."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed
from forecaster.models.wallclock import WallClock, wall_slots
from forecaster.series import Floats, Panel, Signal
from forecaster.units import DAY_S, epoch_s

_LEAST_OFFSET, _MOST_OFFSET = 0.02, 1.0
_SIGMA_OF_STEP = 0.886  # sqrt(pi) / 2: the mean size of a difference of two Gaussians is 1.128 sigma


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Past:
    """A chunk of series cut into spans of 24 hours on the wall that end at the origin; slot 0 is the first bucket after it.

    logs[i, d, s]: log(load + offset[i]) of series i, s slots into the span that began d + 1 days before the origin, shape (series, days,
    per_day): row 0 is the newest, column 0 has the origin's time of day, NaN = not measured, or measured and not believed.
    offset: in the signal's unit, shape (series,). clock: where the origin lies on the wall.
    """

    names: tuple[str, ...]
    signal: Signal
    clock: WallClock
    logs: Floats = field(repr=False)
    offset: Floats = field(repr=False)

    @property
    def days(self) -> int:
        """How many spans there are, the oldest perhaps measured in part only."""
        return int(self.logs.shape[1])

    @property
    def lines(self) -> Floats:
        """The same logarithms from old to new, shape (series, days x per_day)."""
        lines: Floats = self.logs[:, ::-1].reshape(len(self.names), -1)
        return lines

    def by_midnight(self, most: int) -> tuple[Floats, int]:
        """The newest `most` local days from midnight to midnight, (series, days, per_day), and the slots of today before the origin.

        Row 0 is today, NaN from the origin on; where the origin is a midnight row 0 is yesterday, and the second value 0.
        """
        early = (self.clock.local_s % DAY_S) // self.clock.step_s
        if not early:
            return self.logs[:, :most], 0
        lines = np.pad(self.lines, ((0, 0), (early, self.clock.per_day - early)), constant_values=np.nan)
        return lines.reshape(len(self.names), -1, self.clock.per_day)[:, ::-1][:, :most], early

    def at_midnight(self) -> Self:
        """What was known at the last local midnight."""
        days, early = self.by_midnight(self.days + 1)
        if not early:
            return self
        return replace(self, clock=replace(self.clock, local_s=self.clock.local_s - early * self.clock.step_s), logs=days[:, 1:])

    def earlier(self, days: int) -> Self:
        """What was known so many days before."""
        clock = replace(self.clock, local_s=self.clock.local_s - days * 86_400)
        return replace(self, clock=clock, logs=self.logs[:, days:])

    def only(self, rows: NDArray[np.intp]) -> Self:
        """The series of those rows."""
        return replace(self, names=tuple(self.names[i] for i in rows), logs=self.logs[rows], offset=self.offset[rows])


class Member(Protocol):
    """One model of the median, drawn for a whole chunk at once. Deterministic; knows its past and nothing else.

    A series must not depend on the others of its chunk.
    """

    @property
    def name(self) -> str:
        """As it stands in configurations, records and `review`."""

    def draw(self, past: Past, reach: int) -> Floats:
        """log(load + offset) of the slots 0 .. reach - 1 on the wall after the origin, shape (series, reach).

        A row of NaN is no opinion, as on a series with too little history for it.
        """


def past_of(panel: Panel, start: datetime, calendar: Calendar) -> Past:
    """The series of a panel as known at `start`, on one wall clock. Where an hour repeats on the wall, its two passes are averaged.

    Raises ModelFailed when the step does not divide a day.
    """
    if DAY_S % panel.step_s:
        msg = f"history at a step of {panel.step_s} s has no whole number of buckets a day: choose one that divides it, such as 300 s"
        raise ModelFailed(msg)
    start_s, per_day = epoch_s(start), DAY_S // panel.step_s
    first = (epoch_s(panel.start) - start_s) // panel.step_s
    buckets = np.arange(first, min(0, first + panel.mean.shape[1]))
    load = _on_the_wall(panel.mean[:, : buckets.size], wall_slots(calendar, start_s, panel.step_s, buckets), per_day)
    offset = log_offsets(load)
    local_s = start_s + int(calendar.offsets_s(np.array([start_s]))[0])
    clock = WallClock(step_s=panel.step_s, per_day=per_day, local_s=local_s)
    logs = np.log(load + offset[:, None]).reshape(len(panel.names), -1, per_day)[:, ::-1]
    return Past(names=panel.names, signal=panel.signal, clock=clock, logs=logs, offset=offset)


def _on_the_wall(load: Floats, slots: NDArray[np.int64], per_day: int) -> Floats:
    """Load at slots below zero, as whole days from old to new, shape (series, days x per_day)."""
    past = slots < 0
    load, slots = load[:, past], slots[past]
    size = max(1, -(-int(-slots.min(initial=0)) // per_day)) * per_day
    line = np.full((len(load), size), np.nan)
    line[:, slots + size] = load  # the second pass of an hour that repeats stands
    twice = np.flatnonzero(np.diff(slots) <= 0)
    for turn in twice:
        again = slots[turn + 1 :][slots[turn + 1 :] <= slots[turn]]
        here = turn + 1 + np.arange(again.size)
        before = np.searchsorted(slots[: turn + 1], again)
        both = np.stack([load[:, before], load[:, here]])
        known = ~np.isnan(both)
        mean = np.where(known, both, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        line[:, again + size] = np.where(known.any(axis=0), mean, np.nan)
    return line


def log_offsets(lines: Floats) -> Floats:
    """What each series (series, n) adds to its load before the logarithm, so that loads near zero keep a sane ratio, shape (series,).

    The variance of the noise over the mean, from the mean step between neighbours: one request a bucket for Poisson counts, the size
    from which on noise grows slower than load; between 2 % and 100 % of the mean. 1 for a series that was never above zero.
    """
    known = ~np.isnan(lines)
    mean = np.where(known, lines, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    both = known[:, 1:] & known[:, :-1]
    steps = np.where(both, np.abs(np.diff(np.where(known, lines, 0.0), axis=1)), 0.0).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
    some = np.where(mean > 0, mean, 1.0)
    offsets: Floats = some * np.clip((_SIGMA_OF_STEP * steps / some) ** 2, _LEAST_OFFSET, _MOST_OFFSET)
    return np.where(mean > 0, offsets, 1.0)

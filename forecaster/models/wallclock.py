"""Load by the clock on the wall: the grid on which a daily or weekly cycle repeats, also over changes of the clock."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed
from forecaster.forecast import Horizon
from forecaster.series import Floats, Panel, Signal
from forecaster.units import DAY_S, epoch_s

_SATURDAY, _THURSDAY = 5, 3  # Monday = 0; 1970-01-01 was a Thursday


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WallClock:
    """The local grid around a horizon: slot 0 is the bucket at `horizon.start`, slot -1 the one before it on the wall.

    future[i]: the slot of the horizon's bucket i, shape (steps,); it skips the hour that the zone skips and repeats the one that it
    repeats. per_day: slots in 24 hours on the wall. local_s: the wall time of slot 0, as seconds since 1970-01-01.
    """

    step_s: int
    per_day: int
    local_s: int
    future: NDArray[np.int64] = field(repr=False)

    @property
    def midnight(self) -> int:
        """The first slot of a local day at or after slot 0, below `per_day`."""
        return -(-(-self.local_s % DAY_S) // self.step_s) % self.per_day

    def weekend(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each slot starts on a local Saturday or Sunday."""
        is_weekend: NDArray[np.bool_] = (self.days(slots) + _THURSDAY) % 7 >= _SATURDAY
        return is_weekend

    def days(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """The local day on which each slot starts, counted from 1970-01-01."""
        days: NDArray[np.int64] = (self.local_s + slots * self.step_s) // DAY_S
        return days


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """One series before a horizon, cut into spans of 24 hours on the wall that end at the horizon's start.

    days[d, s]: the bucket s slots into the span that began d + 1 days before the horizon, shape (days, per_day); row 0 is the newest,
    column 0 has the horizon's time of day, NaN = not measured.
    """

    name: str
    signal: Signal
    clock: WallClock
    days: Floats = field(repr=False)

    @property
    def measured(self) -> NDArray[np.int64]:
        """The slots that were measured, ascending and below 0; possibly none."""
        return np.flatnonzero(~np.isnan(self.line)) - self.days.size

    @property
    def line(self) -> Floats:
        """The same buckets from old to new, shape (days x per_day,)."""
        line: Floats = self.days[::-1].reshape(-1)
        return line


def histories(panel: Panel, horizon: Horizon, calendar: Calendar) -> tuple[History, ...]:
    """Each series of a panel as known at `horizon.start`, on one wall clock.

    Where an hour repeats on the wall, its two passes are averaged. Raises ModelFailed when the steps differ or do not divide a day.
    """
    if panel.step_s != horizon.step_s or DAY_S % horizon.step_s:
        msg = (
            f"history at a step of {panel.step_s} s cannot be forecast at {horizon.step_s} s: "
            "both must be one step that divides a day, such as 300 s"
        )
        raise ModelFailed(msg)
    step_s, start_s = horizon.step_s, epoch_s(horizon.start)
    first = (epoch_s(panel.start) - start_s) // step_s
    slots = wall_slots(calendar, start_s, step_s, np.arange(first, min(0, first + panel.mean.shape[1])))
    future = wall_slots(calendar, start_s, step_s, np.arange(horizon.steps))
    clock = WallClock(
        step_s=step_s,
        per_day=DAY_S // step_s,
        local_s=start_s + int(calendar.offsets_s(np.array([start_s]))[0]),
        # A start inside of an hour that repeats has that hour's second pass behind it on the wall: it is forecast as slot 0.
        future=np.maximum(0, future),
    )
    return tuple(
        History(name=name, signal=panel.signal, clock=clock, days=_rows(mean[: slots.size], slots, clock.per_day))
        for name, mean in zip(panel.names, panel.mean, strict=True)
    )


def filled(row: Floats) -> Floats:
    """A day whose unmeasured slots are drawn linearly between measured neighbours, over midnight too; all NaN stays so."""
    known = np.flatnonzero(~np.isnan(row))
    if known.size in {0, row.size}:
        return row
    complete: Floats = np.interp(np.arange(row.size), known, row[known], period=row.size)
    return complete


def middle(rows: Floats) -> Floats:
    """The median of each column without its NaN, shape (columns,); NaN where there is nothing else. A fast `nanmedian`, no warnings."""
    if not rows.shape[0]:
        return np.full(rows.shape[1], np.nan)
    ordered = np.sort(rows, axis=0)  # NaN last
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0)[None] // 2, axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(count // 2, rows.shape[0] - 1)[None], axis=0)[0]
    medians: Floats = (low + np.where(count % 2, low, high)) / 2
    return medians


def wall_slots(calendar: Calendar, start_s: int, step_s: int, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slot on the wall of buckets counted from the horizon's start in elapsed time."""
    moved_s = calendar.offsets_s(start_s + buckets * step_s) - calendar.offsets_s(np.array([start_s]))
    return buckets + np.rint(moved_s / step_s).astype(np.int64)


def _rows(mean: Floats, slots: NDArray[np.int64], per_day: int) -> Floats:
    """Buckets at negative slots as rows of days, the newest first."""
    past = (slots < 0) & ~np.isnan(mean)
    days = max(1, -(-int(-slots[past].min(initial=0)) // per_day))
    index = days * per_day + slots[past]
    total = np.bincount(index, weights=mean[past], minlength=days * per_day)
    count = np.bincount(index, minlength=days * per_day)
    line = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    rows: Floats = line.reshape(days, per_day)[::-1]
    return rows

"""A trace at the grain of the replay."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from forecaster.series import Floats, frozen_floats
from forecaster.simulate.fleet import Ints, Traffic
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S, check_instant, epoch_s, floor_to, from_epoch_s

_DAY_MIN = DAY_S // MINUTE_S
_BEFORE_MIN = 60
"""More than any autoscaler remembers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MinuteLoad:
    """The load of each minute from `start` (a whole minute) in RPM, shape (n,)."""

    start: datetime
    rpm: Floats = field(repr=False)

    def __post_init__(self) -> None:
        check_instant("minutes.start", self.start)
        object.__setattr__(self, "rpm", frozen_floats(self.rpm, ndim=1, name="minutes.rpm"))

    def __len__(self) -> int:
        return int(self.rpm.size)

    @property
    def end(self) -> datetime:
        """The end of the last minute."""
        return self.start + timedelta(minutes=len(self))

    def index(self, instant: datetime) -> int:
        """The minute that begins at or holds `instant`; below 0 before the start."""
        return (epoch_s(instant) - epoch_s(self.start)) // MINUTE_S

    def day_minute(self) -> Ints:
        """Minutes since UTC midnight of each minute, shape (n,)."""
        minute: Ints = (self.first_minute() + np.arange(len(self), dtype=np.int64)) % _DAY_MIN
        return minute

    def weekday(self) -> Ints:
        """The UTC weekday of each minute, Monday = 0, shape (n,)."""
        days: Ints = (self.first_minute() + np.arange(len(self), dtype=np.int64)) // _DAY_MIN
        return (days + 3) % 7  # 1970-01-01 was a Thursday

    def first_minute(self) -> int:
        """`start` in minutes since the epoch."""
        return epoch_s(self.start) // MINUTE_S

    def steps(self, start: datetime, step_s: int) -> Ints:
        """For each minute from `start` to the end, which step of a grid that begins at `start` it begins in, shape (minutes,)."""
        steps: Ints = np.arange(len(self) - self.index(start), dtype=np.int64) * MINUTE_S // step_s
        return steps

    def traffic(self, start: datetime, end: datetime, cuts: Sequence[datetime] = (), step_s: int = MINUTE_S) -> Traffic:
        """The minutes of [start, end) as a replay takes them, in parts that end at each UTC midnight and at each of `cuts`.

        step_s: where it is less than a minute, load is even within each.
        """
        first, last = self.index(start), self.index(end)
        midnights = np.arange(-(self.first_minute() + first) % _DAY_MIN, last - first, _DAY_MIN)
        edges = np.concatenate([[0], midnights, [self.index(cut) - first for cut in cuts], [last - first]])
        steps = MINUTE_S // step_s
        return Traffic(
            before_rpm=np.repeat(self.rpm[max(0, first - _BEFORE_MIN) : max(first, 1)], steps),
            rpm=np.repeat(self.rpm[first:last], steps),
            edges=np.unique(np.clip(edges, 0, last - first)).astype(np.int64) * steps,
            step_s=step_s,
        )


def minute_load(trace: Trace) -> MinuteLoad:
    """The load of each minute of a trace; see `Trace.minute_load`. Raises ValueError when nothing was measured."""
    start, rpm = trace.minute_load()
    return MinuteLoad(start=start, rpm=rpm)


def known_until(trace: Trace, instant: datetime) -> datetime:
    """The end of the last minute whose load rests on no bucket from `instant` on: the minutes after it lie on a line to what comes.

    The trace's own start when nothing was measured before `instant`.
    """
    stamps_s = epoch_s(trace.start) + trace.bucket_s * np.flatnonzero(~np.isnan(trace.counts))
    before = int(np.searchsorted(stamps_s, epoch_s(instant)))
    if before == 0:
        return floor_to(trace.start, MINUTE_S)
    return floor_to(from_epoch_s(int(stamps_s[before - 1])), MINUTE_S) + timedelta(minutes=1)

"""A trace at the grain of the replay."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from forecaster.series import Floats, frozen_floats
from forecaster.simulate.fleet import Ints, Traffic
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S, check_instant, epoch_s

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

    def traffic(self, start: datetime, end: datetime) -> Traffic:
        """The minutes of [start, end) as a replay takes them, in parts that end at each UTC midnight."""
        first, last = self.index(start), self.index(end)
        midnights = np.arange(-(self.first_minute() + first) % _DAY_MIN, last - first, _DAY_MIN)
        inner = midnights[midnights > 0]
        return Traffic(
            before_rpm=self.rpm[max(0, first - _BEFORE_MIN) : max(first, 1)],
            rpm=self.rpm[first:last],
            edges=np.concatenate([[0], inner, [last - first]]).astype(np.int64),
        )


def minute_load(trace: Trace) -> MinuteLoad:
    """The load of each minute of a trace; see `Trace.minute_load`. Raises ValueError when nothing was measured."""
    start, rpm = trace.minute_load()
    return MinuteLoad(start=start, rpm=rpm)


def as_known_by_midnight(trace: Trace) -> MinuteLoad:
    """The same load, but no minute rests on a bucket after its own UTC midnight: the day's last value holds until then.

    For whoever chooses at midnight on the days before: interpolated load would tell what comes next. Raises as `minute_load`.
    """
    whole = minute_load(trace)
    rpm, start_s = whole.rpm.copy(), epoch_s(whole.start)
    measured = np.flatnonzero(~np.isnan(trace.counts))
    stamps_s, values = epoch_s(trace.start) + trace.bucket_s * measured, trace.rpm[measured]
    for midnight in range(-whole.first_minute() % _DAY_MIN, len(whole) + 1, _DAY_MIN):
        last = int(np.searchsorted(stamps_s, start_s + midnight * MINUTE_S)) - 1
        if last >= 0:
            rpm[(stamps_s[last] - start_s) // MINUTE_S + 1 : midnight] = values[last]
    return MinuteLoad(start=whole.start, rpm=rpm)

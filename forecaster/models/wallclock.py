"""Load by the clock on the wall: the grid on which a daily or weekly cycle repeats, also over changes of the clock."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.units import DAY_S

_SATURDAY, _THURSDAY = 5, 3  # Monday = 0; 1970-01-01 was a Thursday


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WallClock:
    """The local grid around a horizon: slot 0 is the bucket at `horizon.start`, slot -1 the one before it on the wall.

    per_day: slots in 24 hours on the wall. local_s: the wall time of slot 0, as seconds since 1970-01-01.
    """

    step_s: int
    per_day: int
    local_s: int

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


def wall_slots(calendar: Calendar, start_s: int, step_s: int, buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slot on the wall of buckets counted from the horizon's start in elapsed time."""
    moved_s = calendar.offsets_s(start_s + buckets * step_s) - calendar.offsets_s(np.array([start_s]))
    return buckets + np.rint(moved_s / step_s).astype(np.int64)

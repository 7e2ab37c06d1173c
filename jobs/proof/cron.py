"""A weekly timetable of floors, as cron triggers have it: read off whatever policy was replayed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Self

import numpy as np

from forecaster.simulate.fleet import Ints, Policies
from forecaster.simulate.trial import Trial

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HOURS = 24
_SATURDAY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CronWindow:
    """At least `replicas` on these days (Monday = 0) from one UTC hour to another.

    until_h: 24 is midnight; below `from_h` it is an hour of the next day.
    """

    days: tuple[int, ...]
    from_h: int
    until_h: int
    replicas: int

    def __post_init__(self) -> None:
        if not self.days or any(not 0 <= day < len(DAYS) for day in self.days):
            msg = f"cron_window.days must be some of 0 (Monday) to 6, got {self.days}"
            raise ValueError(msg)
        if not 0 <= self.from_h < HOURS or not 0 < self.until_h <= HOURS or self.from_h == self.until_h:
            msg = f"cron_window hours must be whole ones and differ, got {self.from_h} to {self.until_h}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """Floors by the hour of the week in UTC: `minimum` at all times, more within the windows; target: of the autoscaler beside it."""

    minimum: int
    windows: tuple[CronWindow, ...]
    target: float | None = None

    def above(self, minimum: int) -> Self:
        """The same over another minimum, without the windows that it covers."""
        return replace(self, minimum=minimum, windows=tuple(window for window in self.windows if window.replicas > minimum))


def timetable_of(trial: Trial, policies: Policies, row: int) -> Timetable:
    """The timetable that one replayed policy is: the largest floor of each hour of the week.

    An hour that never came is like the same one on other working days, or on the other day of the weekend.
    """
    minutes, span = trial.minutes, slice(trial.first, trial.last)
    floors = np.maximum(policies.floors[row], 1.0)[policies.column]
    week = np.zeros((len(DAYS), HOURS), dtype=np.int64)
    np.maximum.at(week, (minutes.weekday()[span], minutes.day_minute()[span] // 60), floors.astype(np.int64))
    for days in (slice(0, _SATURDAY), slice(_SATURDAY, len(DAYS))):
        week[days] = np.where(week[days] > 0, week[days], week[days].max(axis=0))
    return timetable(week, target=float(policies.targets[row]))


def timetable(week: Ints, *, target: float | None = None) -> Timetable:
    """Hours of the week as a minimum and windows above it; week: replicas by weekday and hour, shape (7, 24), 0 = nothing known."""
    minimum = int(week[week > 0].min(initial=np.iinfo(np.int64).max)) if (week > 0).any() else 1
    groups: dict[tuple[int, ...], list[int]] = {}
    for day in range(len(DAYS)):
        groups.setdefault(tuple(int(v) for v in week[day]), []).append(day)
    windows = [window for hours, days in groups.items() for window in _windows(hours, tuple(days), minimum)]
    return Timetable(minimum=minimum, windows=tuple(sorted(windows, key=lambda w: (w.days, w.from_h))), target=target)


def _windows(hours: Sequence[int], days: tuple[int, ...], minimum: int) -> Iterator[CronWindow]:
    runs = [(replicas, tuple(run)) for replicas, run in groupby(range(HOURS), key=lambda hour: hours[hour])]
    runs = [(replicas, (run[0], run[-1] + 1)) for replicas, run in runs]
    overnight = len(days) == len(DAYS) and len(runs) > 1 and runs[0][0] == runs[-1][0]
    if overnight:  # every day is alike: the evening and the small hours are one window
        (replicas, (_, until_h)), (_, (from_h, _)) = runs[0], runs[-1]
        runs = [*runs[1:-1], (replicas, (from_h, until_h))]
    for replicas, (from_h, until_h) in runs:
        if replicas > minimum:
            yield CronWindow(days=days, from_h=from_h, until_h=until_h, replicas=replicas)

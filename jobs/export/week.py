"""A timetable as the changes of a week: what schedulers without an end want."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.plan import Plan
from forecaster.simulate.fleet import Ints
from forecaster.units import HOUR_S, epoch_s
from jobs.proof.cron import DAYS, HOURS, Timetable, timetable

_CRON_DAYS = (1, 2, 3, 4, 5, 6, 0)
"""Monday to Sunday, as cron counts them: Sunday is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From an hour (UTC) on these days (Monday = 0) on, at least `replicas`."""

    days: tuple[int, ...]
    hour: int
    replicas: int


def hours_of(table: Timetable) -> Ints:
    """The floor of each hour of the week, shape (7, 24)."""
    week = np.full(len(DAYS) * HOURS, table.minimum, dtype=np.int64)
    for window in table.windows:
        length = (window.until_h - window.from_h) % HOURS or HOURS
        for day in window.days:
            at = (day * HOURS + window.from_h + np.arange(length)) % week.size
            week[at] = np.maximum(week[at], window.replicas)
    return week.reshape(len(DAYS), HOURS)


def changes(table: Timetable) -> tuple[Change, ...]:
    """Every hour at which the floor of a week becomes another, the way back to the minimum among them; alike on several days is one."""
    week = hours_of(table).ravel()
    found: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(week != np.roll(week, 1)).tolist():
        found.setdefault((at % HOURS, int(week[at])), []).append(at // HOURS)
    return tuple(Change(days=tuple(days), hour=hour, replicas=replicas) for (hour, replicas), days in sorted(found.items()))


def cron(days: tuple[int, ...], hour: int) -> str:
    """`0 8 * * 1-5`: an hour of some days (Monday = 0) in the five fields of cron."""
    if len(days) == len(DAYS):
        return f"0 {hour} * * *"
    return f"0 {hour} * * {_spans(sorted(_CRON_DAYS[day] for day in days))}"


def after_midnight(days: tuple[int, ...]) -> tuple[int, ...]:
    """The days after these."""
    return tuple(sorted((day + 1) % len(DAYS) for day in days))


def planned(plan: Plan, minimum: int, since: datetime) -> Timetable:
    """The hours that a plan speaks of from `since` on, each with its largest floor, at least `minimum`, which all other hours have."""
    week = np.full((len(DAYS), HOURS), minimum, dtype=np.int64)
    for floor in plan.floors:
        hours = np.arange(max(epoch_s(since), epoch_s(floor.start)) // HOUR_S, -(-epoch_s(floor.until) // HOUR_S))
        np.maximum.at(week, ((hours // HOURS + 3) % len(DAYS), hours % HOURS), floor.replicas)  # 1970-01-01 was a Thursday
    return replace(timetable(week), minimum=minimum)


def next_time(day: int, hour: int, since: datetime) -> datetime:
    """The first instant at or after `since`, a whole hour, at which it is that hour of that weekday."""
    ahead_h = (day * HOURS + hour - since.weekday() * HOURS - since.hour) % (len(DAYS) * HOURS)
    return since + timedelta(hours=ahead_h)


def _spans(numbers: list[int]) -> str:
    """`1-5`, `0,6`, `1,3-4`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)

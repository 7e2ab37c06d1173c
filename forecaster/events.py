"""What people know ahead: launches, campaigns, closed days. An event changes the load that ordinary days let expect."""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import assert_never

from forecaster.calendar import instant_of, zone_of
from forecaster.series import LOAD_SIGNALS, MOST_LOAD, Signal, Window
from forecaster.units import DAY_S, check_instant, check_named, check_not_negative, check_positive, spell_number

_FIRST_YEAR, _LAST_YEAR = 1971, 2199
_MOST_FACTOR = 1_000.0
_LONGEST = timedelta(days=366)
_LONGEST_RAMP_S = 7 * DAY_S
_NAME_CHARS = 128


class Every(StrEnum):
    """How often an event comes again."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


_DAYS = {Every.WEEK: range(7), Every.MONTH: range(1, 32)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Load that is `factor` times the ordinary one, or is `load` of `signal`, from `start` to `end` on the wall clock of `zone`.

    ramp_up_s, ramp_down_s: over so many seconds before the start and after the end the effect grows and fades, linearly: it is
    whole over all of [start, end). load: in the signal's unit, at every level. workloads: whom it is for, empty = all.
    every: it comes again, on `days`: weekdays (Monday = 0) of a week or days of a month, by default those of `start`; up to and
    including the local day `until`. A day of the month beyond its end is its last day, and 29 February is the 28th in other years.
    A wall time that the clock skips is the instant of the jump; an hour that repeats belongs wholly to the event that touches it.
    """

    name: str
    zone: str
    start: datetime
    end: datetime
    factor: float | None = None
    load: float | None = None
    signal: Signal | None = None
    ramp_up_s: float = 0.0
    ramp_down_s: float = 0.0
    workloads: tuple[str, ...] = ()
    every: Every | None = None
    days: tuple[int, ...] = ()
    until: date | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        zone_of(self.zone)
        _check_times(self)
        _check_effect(self)
        _check_repetition(self)

    def occurrences(self, window: Window) -> Iterator[Window]:
        """Each span [start, end) in UTC that touches `window`, its ramps included, in order; never cut at the window's edges."""
        zone = zone_of(self.zone)
        length = self.end - self.start
        margin = timedelta(days=1, seconds=max(self.ramp_up_s, self.ramp_down_s))
        day = max(self.start, window.start.astimezone(zone).replace(tzinfo=None) - length - margin).date()
        last = (window.end.astimezone(zone).replace(tzinfo=None) + margin).date()
        while day <= last:
            if self._begins_on(day):
                wall = datetime.combine(day, self.start.time())
                start, end = instant_of(wall, zone, fold=0), instant_of(wall + length, zone, fold=1)
                if start < end and self._felt(start, end, window):
                    yield Window(start=start, end=end)
            elif self.every is None:
                return
            day += timedelta(days=1)

    def spans(self, window: Window) -> Iterator[Window]:
        """When the event is felt: its occurrences with their ramps, as far as they lie inside `window`, in order."""
        for core in self.occurrences(window):
            up, down = timedelta(seconds=self.ramp_up_s), timedelta(seconds=self.ramp_down_s)
            yield Window(start=max(window.start, core.start - up), end=min(window.end, core.end + down))

    def is_for(self, workload: str) -> bool:
        """Whether a workload feels it."""
        return not self.workloads or workload in self.workloads

    @property
    def effect(self) -> str:
        """What it does, in words: `load x 3`, `rpm is 5,000 requests/min`."""
        if self.signal is not None and self.load is not None:
            return f"{self.signal} is {spell_number(self.load)} {self.signal.unit}"
        return f"load x {self.factor:g}"

    def _begins_on(self, day: date) -> bool:
        first = self.start.date()
        if day < first or (self.until is not None and day > self.until):
            return False
        end_of_month = monthrange(day.year, day.month)[1]
        match self.every:
            case None:
                return day == first
            case Every.DAY:
                return True
            case Every.WEEK:
                return day.weekday() in (self.days or (first.weekday(),))
            case Every.MONTH:
                return day.day in {min(asked, end_of_month) for asked in self.days or (first.day,)}
            case Every.YEAR:
                return day.month == first.month and day.day == min(first.day, end_of_month)
            case _:
                assert_never(self.every)

    def _felt(self, start: datetime, end: datetime, window: Window) -> bool:
        return start - timedelta(seconds=self.ramp_up_s) < window.end and end + timedelta(seconds=self.ramp_down_s) > window.start


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEntry:
    """One line of the book of events: who added an event when, or took one away (event None)."""

    at: datetime
    author: str
    name: str
    event: Event | None

    def __post_init__(self) -> None:
        check_instant("event entry at", self.at)
        check_named("event entry author", self.author)
        if self.event is not None and self.event.name != self.name:
            msg = f"an entry must have the name of its event, got {self.name!r} and {self.event.name!r}"
            raise ValueError(msg)


def standing_events(entries: Iterable[EventEntry]) -> tuple[Event, ...]:
    """The events that entries, oldest first, leave standing, by start: the last word on a name counts."""
    by_name = {entry.name: entry.event for entry in entries}
    return tuple(sorted((event for event in by_name.values() if event is not None), key=lambda event: (event.start, event.name)))


def _check_name(name: str) -> None:
    check_named("event name", name)
    if len(name) > _NAME_CHARS or not name.isprintable() or name != name.strip():
        msg = f"event name must be at most {_NAME_CHARS} printable characters without spaces around, got {name[:_NAME_CHARS]!r}"
        raise ValueError(msg)


def _check_times(event: Event) -> None:
    for name, wall in (("from", event.start), ("until", event.end)):
        if wall.tzinfo is not None:
            msg = f"{name} must be a time on the wall clock of {event.zone}, without an offset, got {wall.isoformat()}"
            raise ValueError(msg)
        if not _FIRST_YEAR <= wall.year <= _LAST_YEAR:
            msg = f"{name} must lie in the years {_FIRST_YEAR} to {_LAST_YEAR}, got {wall:%Y-%m-%d}; look for a mistyped year"
            raise ValueError(msg)
    if not timedelta(0) < event.end - event.start <= _LONGEST:
        msg = f"until must come after from, by at most {_LONGEST.days} days, got {event.start:%Y-%m-%d %H:%M} to {event.end:%Y-%m-%d %H:%M}"
        raise ValueError(msg)
    for name, ramp_s in (("ramp_up", event.ramp_up_s), ("ramp_down", event.ramp_down_s)):
        check_not_negative(name, ramp_s, "seconds")
        if ramp_s > _LONGEST_RAMP_S:
            msg = f"{name} must be at most {_LONGEST_RAMP_S // DAY_S} days, got {ramp_s / DAY_S:g} days"
            raise ValueError(msg)


def _check_effect(event: Event) -> None:
    if (event.factor is None) == (event.load is None):
        raise ValueError("give either factor, on the load of ordinary days, or load, which replaces it")
    if (event.load is None) != (event.signal is None) or event.signal not in {None, *LOAD_SIGNALS}:
        msg = f"load needs the signal that it is of: {', '.join(LOAD_SIGNALS)}"
        raise ValueError(msg)
    if event.load is not None and not event.workloads:
        raise ValueError("load needs the workloads that it is for: without, each of the fleet would be taken to have it")
    if event.factor is not None:
        check_positive("factor", event.factor, "times the ordinary load")
        if event.factor > _MOST_FACTOR:
            msg = f"factor must be at most {_MOST_FACTOR:,.0f}, got {event.factor:,.6g}"
            raise ValueError(msg)
    if event.load is not None:
        check_not_negative("load", event.load, event.signal.unit if event.signal else "")
        if event.load > MOST_LOAD:
            msg = f"load must be at most {MOST_LOAD:g}, got {event.load:g}"
            raise ValueError(msg)


def _check_repetition(event: Event) -> None:
    allowed = _DAYS.get(event.every, range(0)) if event.every is not None else range(0)
    if not set(event.days) <= set(allowed):
        msg = (
            "days must be weekdays (Monday = 0 to Sunday = 6) of an event that comes every week, or days (1 to 31, the last day of every "
            f"month) of one that comes every month, got {', '.join(map(str, event.days))}"
        )
        raise ValueError(msg)
    if event.until is not None and (event.every is None or event.until < event.start.date()):
        msg = f"the last day of an event that comes again must not be before its first, got {event.until.isoformat()}"
        raise ValueError(msg)

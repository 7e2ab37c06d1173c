"""What the commands of the calendar print."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from forecaster.calendar import Calendar
from forecaster.events import Event
from forecaster.series import Window
from jobs.calendar_change import Change
from jobs.cli.show import Cell, Table, change, moment
from jobs.events import Entered, entered_events
from jobs.fleet import Fleet

_NAMED = 3
_FAR = timedelta(days=5 * 366)
"""A yearly event comes again within it."""


def calendar_table(fleet: Fleet, now: datetime, days: int) -> Table:
    """A row an event, with its next occurrence (none = it is over), and a row a holiday of the coming days; by when they are."""
    events = [_event_row(entered, now) for entered in entered_events(fleet, now)]
    rows = sorted([*events, *_holiday_rows(fleet, now, days)], key=lambda row: (row[0] is None, row[0] or now))
    columns = ("kind", "name", "from", "until", "zone", "what", "workloads", "said by")
    keys = ("kind", "name", "from", "until", "zone", "effect", "workloads", "said_by")
    empty = "no event and no holiday; `forecaster calendar add` enters one, `calendar` of a workload names its country"
    return Table(title="Calendar", columns=columns, keys=keys, rows=tuple(row[1:] for row in rows), empty=empty, named_by=2)


def change_table(changes: tuple[Change, ...], *, over: bool = False) -> Table:
    """A row a pool whose floors changed over the events' time. over: that time is past."""
    rows = tuple(
        (each.workload, each.pool, each.before, each.after, change(None if each.before is None else each.after - each.before), _since(each))
        for each in changes
        if each.before != each.after
    )
    columns = ("workload", "pool", "before", "after", "change", "largest from")
    keys = ("workload", "pool", "before", "after", "change", "at")
    if over:
        empty = "none: it is over, and plans begin now"
    elif changes:
        empty = "none changes in the plans as far as they reach"
    else:
        empty = "none yet: plans do not reach it, and take it in when they do"
    return Table(title="Largest floors while it is felt", columns=columns, keys=keys, rows=rows, empty=empty)


def is_over(event: Event, now: datetime) -> bool:
    """Whether an event neither lasts nor comes again."""
    return _ahead(event, now) is None


def _since(each: Change) -> Cell | None:
    return moment(each.at, Calendar(), "%a %d %b %H:%M %Z")


def _event_row(entered: Entered, now: datetime) -> tuple[object, ...]:
    event, calendar = entered.event, Calendar(zone=entered.event.zone)
    ahead = _ahead(event, now)
    said_by = "configuration" if entered.author is None else entered.author
    what = f"{event.effect}{f', every {event.every}' if event.every is not None else ''}"
    begins, ends = (None, None) if ahead is None else (ahead.start, ahead.end)
    since = moment(begins, calendar, "%a %d %b %Y %H:%M") or Cell(value=None, words="over")
    until = moment(ends, calendar, "%a %d %b %Y %H:%M")
    return begins, "event", event.name, since, until, event.zone, what, " ".join(event.workloads) or "all", said_by


def _ahead(event: Event, now: datetime) -> Window | None:
    """The occurrence that lasts or is next; None when the event is over."""
    return next(event.occurrences(Window(start=now, end=now + _FAR)), None) or _dated(event, now)


def _dated(event: Event, now: datetime) -> Window | None:
    """The occurrence of an event that lies farther ahead; None when it is over."""
    begin = event.start.replace(tzinfo=UTC)
    far = Window(start=begin - timedelta(days=2), end=begin + _FAR)
    return next(event.occurrences(far), None) if begin > now else None


def _holiday_rows(fleet: Fleet, now: datetime, days: int) -> Iterator[tuple[object, ...]]:
    """One row a holiday and calendar, with whose it is."""
    owners: dict[Calendar, list[str]] = defaultdict(list)
    for member in fleet.members:
        owners[member.workload.calendar].append(member.workload.name)
    for calendar, names in owners.items():
        first = calendar.local(now).date()
        of = "-".join(part for part in (calendar.country, calendar.subdivision) if part is not None)
        for day, name in calendar.holidays(first, first + timedelta(days=days)).items():
            span = _whole_day(calendar, day)
            cells = (moment(span.start, calendar, "%a %d %b %Y"), moment(span.end, calendar, "%a %d %b %Y"))
            yield span.start, "holiday", name, *cells, calendar.zone, "learned", _owners(names), of


def _whole_day(calendar: Calendar, day: date) -> Window:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return dict(calendar.local_days(Window(start=noon - timedelta(days=2), end=noon + timedelta(days=2))))[day]


def _owners(names: Iterable[str]) -> Cell:
    listed = list(names)
    words = " ".join(listed[:_NAMED]) + (f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else "")
    return Cell(value=" ".join(listed), words=words)

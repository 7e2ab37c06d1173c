"""Events in an iCalendar file (RFC 5545).

What the format has no words for stands in X-FORECASTER-FACTOR, -LOAD, -RAMP-UP, -RAMP-DOWN and -WORKLOADS.
"""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from connectors.calendars.rules import repetition
from connectors.calendars.written import LISTS, EntryRefused, Fields, Written, file_text
from forecaster.errors import SourceRejected

if TYPE_CHECKING:
    from icalendar import Component

_MOST = 20
"""More faults than this are one mistake made over and over."""
_PREFIX = "X-FORECASTER-"
_OWN = {f"{_PREFIX}{key.upper().replace('_', '-')}": key for key in ("factor", "load", "ramp_up", "ramp_down", "workloads")}


def read_ics(path: Path) -> tuple[Written, ...]:
    """The events of a file that are not cancelled, in its order. Raises SourceRejected naming the line of each that cannot be read."""
    from icalendar import Calendar  # noqa: PLC0415 - only those who import such a file wait for it

    text = file_text(path)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().upper() == "BEGIN:VEVENT"]
    try:
        calendars = Calendar.from_ical(text, multiple=True)
    except (ValueError, IndexError, KeyError) as error:
        msg = f"{path}: is no iCalendar file ({str(error)[:200]}); export it once more"
        raise SourceRejected(msg) from error
    events = [event for calendar in calendars for event in calendar.walk("VEVENT")]
    if not calendars or len(events) != len(lines):
        msg = f"{path}: is no whole iCalendar file, one of its BEGIN lines has no END; export it once more"
        raise SourceRejected(msg)
    written: list[Written] = []
    faults: list[str] = []
    for line, event in zip(lines, events, strict=True):
        try:
            if str(event.get("STATUS", "")).upper() != "CANCELLED":
                written.append(Written(line=line, fields=_fields(event, {w.fields["name"] for w in written})))
        except EntryRefused as refused:
            faults.append(f"{path}:{line}: {refused}")
    if faults:
        more = [f"... and {len(faults) - _MOST} more faults"] if len(faults) > _MOST else []
        raise SourceRejected("\n".join([*faults[:_MOST], *more]))
    return tuple(written)


def _fields(event: "Component", taken: set[str | list[str]]) -> Fields:
    if event.errors:
        name, fault = event.errors[0]
        raise EntryRefused(f"{name} cannot be read ({fault}); correct it")
    for name in ("RDATE", "EXDATE", "RECURRENCE-ID"):
        if name in event:
            raise EntryRefused(f"{name} is not supported; write the days of this event as events of their own")
    start, end = _moments(event)
    name = str(event.get("SUMMARY", "")).strip()
    fields: Fields = {"name": f"{name} {start:%Y-%m-%d}" if name in taken else name, "from": _text(start), "until": _text(end)}
    if isinstance(start, datetime) and start.tzinfo is not None:
        fields["zone"] = _zone(start)
    for key, value in event.items():
        if key.startswith(_PREFIX):
            if key not in _OWN:
                raise EntryRefused(f"{key} is not known; there is {', '.join(_OWN)}")
            text = str(value).replace("\\,", ",").strip()
            fields[_OWN[key]] = text.replace(",", " ").split() if _OWN[key] in LISTS else text
    rule = event.get("RRULE")
    if isinstance(rule, list):
        raise EntryRefused("has several RRULEs; write an event for each")
    return fields if rule is None else fields | repetition(dict(rule), start)


def _moments(event: "Component") -> tuple[date, date]:
    """Start and end; dates where the event is of whole days, whose end is the first day after it."""
    start, end, length = (_value(event, name) for name in ("DTSTART", "DTEND", "DURATION"))
    if not isinstance(start, date):
        raise EntryRefused("has no DTSTART; write when it begins")
    whole_days = not isinstance(start, datetime)
    if end is None and isinstance(length, timedelta):
        end = start + length
    elif end is None and whole_days:
        end = start + timedelta(days=1)
    if not isinstance(end, date):
        raise EntryRefused("has neither DTEND nor DURATION; write when it ends")
    if isinstance(start, datetime) and isinstance(end, datetime):
        if (end.tzinfo is None) != (start.tzinfo is None):
            raise EntryRefused("DTSTART and DTEND must both name a zone, or neither; correct one")
        return start, end.astimezone(start.tzinfo) if start.tzinfo is not None else end
    if isinstance(end, datetime) == whole_days:
        raise EntryRefused("DTSTART and DTEND must both be dates or both be times; correct one")
    return start, end


def _value(event: "Component", name: str) -> object:
    """What a property holds as Python has it, None where it does not stand or stands twice."""
    return getattr(event.get(name), "dt", None)


def _zone(start: datetime) -> str:
    zone = start.tzinfo
    if zone is UTC or start.tzname() == "UTC":
        return "UTC"
    if isinstance(zone, ZoneInfo) and zone.key is not None:
        return zone.key
    raise EntryRefused("the zone of DTSTART is no IANA zone; write TZID=Europe/Paris, or times in UTC with Z")


def _text(moment: date) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") if isinstance(moment, datetime) else f"{moment.isoformat()}T00:00"

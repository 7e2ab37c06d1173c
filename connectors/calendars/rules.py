"""Recurrence rules of iCalendar (RFC 5545, 3.3.10) in our words.

Read is what an event of ours can follow to the day; the rest is refused, never bent.
"""

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from connectors.calendars.written import EntryRefused, Fields
from forecaster.events import Event, Every
from forecaster.series import Window

_EVERY = {"DAILY": Every.DAY, "WEEKLY": Every.WEEK, "MONTHLY": Every.MONTH, "YEARLY": Every.YEAR}
_WEEKDAYS = {"MO": "mon", "TU": "tue", "WE": "wed", "TH": "thu", "FR": "fri", "SA": "sat", "SU": "sun"}
_EVERY_MONTH = 28  # days that every month has
_LAST_OF_MONTH = 31
_MOST_COUNT = 1_000
_MONTHLY_REMEDY = "months without that day are passed over there; write BYMONTHDAY=-1 for the last day of every month"


def repetition(parts: dict[str, list[Any]], start: date) -> Fields:
    """What a rule says of an event that begins at `start`, by the keys of `events`. Raises EntryRefused."""
    rule = {key: list(value) for key, value in parts.items() if key != "WKST"}  # counts for intervals of several weeks only
    frequency = str(rule.pop("FREQ", [""])[0]).upper()
    until, count, interval = rule.pop("UNTIL", None), rule.pop("COUNT", None), rule.pop("INTERVAL", [1])
    if frequency not in _EVERY or interval[0] != 1:
        raise EntryRefused(
            "RRULE must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY and no INTERVAL above 1; write other days as events of their own"
        )
    fields = _days(frequency, rule, start)
    if until is not None:
        fields["last"] = _last_day(until[0], start).isoformat()
    elif count is not None:
        fields["last"] = _counted(fields, int(count[0]), start).isoformat()
    return fields


def _days(frequency: str, rule: dict[str, list[Any]], start: date) -> Fields:
    """How often, and on which days. Refuses parts that no event of ours can follow."""
    weekdays, month_days = [str(day).upper() for day in rule.pop("BYDAY", [])], [int(day) for day in rule.pop("BYMONTHDAY", [])]
    months = [int(str(month)) for month in rule.pop("BYMONTH", [])]
    in_place = frequency == "YEARLY" and months in ([], [start.month]) and month_days in ([], [start.day]) and not weekdays
    match frequency:
        case "DAILY" | "WEEKLY" if not (rule or months or month_days) and set(weekdays) <= set(_WEEKDAYS):
            every = Every.WEEK if weekdays else _EVERY[frequency]
            return {"every": every.value, **({"weekdays": [_WEEKDAYS[day] for day in weekdays]} if weekdays else {})}
        case "MONTHLY" if not (rule or months or weekdays):
            return {"every": "month", "month_days": [_month_day(day) for day in month_days or [start.day]]}
        case "YEARLY" if not rule and in_place:
            if (start.month, start.day) == (2, 29):
                raise EntryRefused("RRULE of a 29 February passes over other years there; write the years as events of their own")
            return {"every": "year"}
        case _:
            parts = [*rule, *("BYDAY" for _ in weekdays[:1]), *("BYMONTHDAY" for _ in month_days[:1]), *("BYMONTH" for _ in months[:1])]
            raise EntryRefused(
                f"RRULE with FREQ={frequency} and {', '.join(parts)} is not supported; write its days as events of their own"
            )


def _month_day(day: int) -> str:
    if day != -1 and not 1 <= day <= _EVERY_MONTH:
        raise EntryRefused(f"RRULE on day {day} of the month is not supported: {_MONTHLY_REMEDY}")
    return str(_LAST_OF_MONTH if day == -1 else day)


def _last_day(until: date, start: date) -> date:
    """The local day of UNTIL, which stands in UTC where DTSTART has a zone."""
    if not isinstance(until, datetime):
        return until
    zone = start.tzinfo if isinstance(start, datetime) else None
    local = until.astimezone(zone) if zone is not None and until.tzinfo is not None else until
    begins = start.time() if isinstance(start, datetime) else local.time()
    return local.date() if begins <= local.time() else local.date() - timedelta(days=1)


def _counted(fields: Fields, count: int, start: date) -> date:
    """The day of the last of so many occurrences."""
    if not 1 <= count <= _MOST_COUNT:
        raise EntryRefused(f"RRULE with COUNT={count} is not supported; write UNTIL, or a COUNT up to {_MOST_COUNT}")
    named = [list(_WEEKDAYS.values()).index(day) for day in fields.get("weekdays", [])]
    begin = datetime(start.year, start.month, start.day)  # noqa: DTZ001 - a wall time
    every = Every(str(fields["every"]))
    days = tuple(named or [int(day) for day in fields.get("month_days", [])])
    counted = Event(name="counted", zone="UTC", start=begin, end=begin + timedelta(hours=1), factor=1.0, every=every, days=days)
    from_start = begin.replace(tzinfo=UTC)
    try:
        window = Window(start=from_start, end=from_start + timedelta(days=366 * count + 31))
        return next(islice(counted.occurrences(window), count - 1, None)).start.date()
    except (OverflowError, StopIteration) as error:
        raise EntryRefused(f"RRULE with COUNT={count} leaves the calendar; write UNTIL") from error

"""Events from a calendar file: each judged as those of the configuration are, and all of them taken or none."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from connectors.calendars.registry import read_calendar
from connectors.calendars.written import Written
from forecaster.errors import SourceRejected
from forecaster.events import Event
from jobs.config.events import EventSection
from jobs.config.faults import sentences
from jobs.config.schema import config_schema

_PLACE = ("events", 0)
_EFFECTS = {"factor", "load"}
_MOST = 20


def read_events(path: Path, given: Mapping[str, object]) -> tuple[Event, ...]:
    """The events of a file. given: what is said of those that do not say it themselves, by the keys of `events`.

    Raises SourceRejected with a sentence for each bad line, naming it and the remedy.
    """
    written = read_calendar(path)
    if not written:
        msg = f"{path}: holds no event; look whether it is the right file"
        raise SourceRejected(msg)
    faults = _twice(path, written)
    events = []
    for each in written:
        try:
            events.append(event_of(_merged(given, each)))
        except SourceRejected as refused:
            faults += [f"{path}:{each.line}: {fault}" for fault in str(refused).splitlines()]
    if faults:
        more = [f"... and {len(faults) - _MOST} more faults"] if len(faults) > _MOST else []
        raise SourceRejected("\n".join([*faults[:_MOST], *more, f"{path}: nothing of it was taken"]))
    return tuple(events)


def event_of(fields: Mapping[str, object]) -> Event:
    """The event that these fields of `events` speak of. Raises SourceRejected with a sentence for each fault."""
    try:
        return EventSection.model_validate(fields, by_alias=True, by_name=False).to_core()
    except ValidationError as error:
        found = sentences(error.errors(), config_schema(), at=_PLACE)
        raise SourceRejected("\n".join(fault.removeprefix("events[0]").lstrip(".: ") for fault in found)) from error


def _merged(given: Mapping[str, object], each: Written) -> dict[str, object]:
    """What the file says of an event, over what is given; of factor and load one is enough, so its own drops the given one."""
    own = each.fields.keys() & _EFFECTS
    return {key: value for key, value in given.items() if not (own and key in _EFFECTS)} | dict(each.fields)


def _twice(path: Path, written: tuple[Written, ...]) -> list[str]:
    """A sentence for each event whose name an earlier one has."""
    first: dict[object, int] = {}
    named = [(each.line, name) for each in written if (name := each.fields.get("name")) and isinstance(name, str)]
    return [
        f"{path}:{line}: the event {name} stands in line {first[name]} already; give each its own name"
        for line, name in named
        if first.setdefault(name, line) != line
    ]

"""The shared calendar: events of the configuration and those that people entered, as one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from forecaster.events import Event, standing_events
from forecaster.series import Window
from forecaster.units import from_epoch_s
from jobs.fleet import Fleet

_TICK = timedelta(seconds=1)
_EVER = from_epoch_s(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """One event of the calendar. author, at: who entered it when; None = it stands in the configuration."""

    event: Event
    author: str | None = None
    at: datetime | None = None


def entered_events(fleet: Fleet, now: datetime) -> tuple[Entered, ...]:
    """All events that stand at `now`, by start. The configuration's outranks one of the same name that was entered before it came."""
    written = {event.name: Entered(event=event) for event in fleet.events}
    entries = [entry for entry in fleet.store.events(Window(start=_EVER, end=now + _TICK)) if entry.at <= now]
    last = {entry.name: entry for entry in entries}
    said = {event.name: Entered(event=event, author=last[event.name].author, at=last[event.name].at) for event in standing_events(entries)}
    return tuple(sorted((said | written).values(), key=lambda entered: (entered.event.start, entered.event.name)))


def known_events(fleet: Fleet, now: datetime) -> tuple[Event, ...]:
    """The same without who said so."""
    return tuple(entered.event for entered in entered_events(fleet, now))

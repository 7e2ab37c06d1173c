"""Events as a person writes them on the command line, or hands them over in a file; refused before anything is kept."""

from pathlib import Path
from typing import TYPE_CHECKING

from forecaster.errors import ConfigRejected, SourceRejected
from forecaster.events import Event
from jobs.calendar_files import event_of, read_events
from jobs.events import entered_events

if TYPE_CHECKING:
    from jobs.cli.session import Session


def event_as_said(
    at: "Session",
    *,
    name: str,
    start: str,
    end: str,
    effect: str | None,
    workloads: list[str] | None,
    ramp: str | None,
    every: str | None,
) -> Event:
    """The event of `calendar add`. Raises ConfigRejected with what is wrong in it."""
    wall, zone = _zoned(start)
    wall_end, zone_end = _zoned(end)
    if zone_end is not None and zone_end != (zone or "UTC"):
        raise ConfigRejected(f"FROM and UNTIL must be of one zone, got {zone or 'UTC'} and {zone_end}; write both on the same wall clock")
    said = {"name": name, "from": wall, "until": wall_end, "zone": zone, "ramp_up": ramp, "ramp_down": ramp, "every": every}
    fields = {key: value for key, value in said.items() if value is not None} | _given(at, effect, workloads)
    try:
        return event_of(fields)
    except SourceRejected as refused:
        raise ConfigRejected(str(refused)) from refused


def events_as_read(at: "Session", file: Path, *, effect: str | None, workloads: list[str] | None, zone: str) -> tuple[Event, ...]:
    """The events of `calendar import`. Raises SourceRejected with its bad lines, ConfigRejected for workloads that are not there."""
    events = read_events(file, _given(at, effect, workloads) | {"zone": zone})
    for name in {name: None for event in events for name in event.workloads}:
        at.member(name)
    return events


def refuse_configured(at: "Session", events: tuple[Event, ...]) -> None:
    """Refuse names that stand in the configuration: it is the place to change them."""
    configured = {event.name for event in at.fleet.events}
    for event in events:
        if event.name in configured:
            raise ConfigRejected(f"the event {event.name} stands in {at.path}; change it there, or choose another name")


def removable(at: "Session", name: str) -> Event:
    """The entered event of that name. Raises ConfigRejected naming those there are."""
    entered = {entered.event.name: entered for entered in entered_events(at.fleet, at.now)}
    if name not in entered:
        raise ConfigRejected(f"there is no event {name!r}; there is: {', '.join(entered) or 'none'}")
    refuse_configured(at, (entered[name].event,))
    return entered[name].event


def _zoned(text: str) -> tuple[str, str | None]:
    """A wall time and its zone, which stands behind it after a space; Z is UTC."""
    wall, _, zone = text.strip().rpartition(" ")
    if wall and any(letter.isalpha() for letter in zone):
        return wall, zone
    return (text.strip()[:-1], "UTC") if text.strip().endswith("Z") else (text.strip(), None)


def _given(at: "Session", effect: str | None, workloads: list[str] | None) -> dict[str, object]:
    for name in workloads or ():
        at.member(name)
    given: dict[str, object] = {"workloads": list(dict.fromkeys(workloads))} if workloads else {}
    if effect is not None:
        given["load" if "=" in effect else "factor"] = effect.removeprefix("x")
    return given

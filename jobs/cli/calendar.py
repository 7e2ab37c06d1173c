"""The shared calendar: holidays and events, and what an event that is entered now changes in the plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import PARTLY, Author, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from forecaster.events import Event
    from jobs.cli.session import Session

Effect = Annotated[
    str | None,
    typer.Option("--factor", "--load", metavar="FACTOR|LOAD", help="Load over that of ordinary days, such as 3; or load itself: rpm=5000."),
]
Workloads = Annotated[list[str] | None, typer.Option("--workload", metavar="NAME", help="Whom it is for; may be repeated. Default: all.")]


def list_(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How far ahead holidays are listed.")] = 56,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """List events, when each is next, and the public holidays of the coming weeks.

    Example: forecaster calendar list --days 90
    """
    from jobs.cli.calendar_tables import calendar_table
    from jobs.cli.session import session
    from jobs.cli.show import show

    with session(config, now) as at:
        show(calendar_table(at.fleet, at.now, days), Output.JSON if json else output)


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called; an event of that name is replaced.")],
    start: Annotated[str, typer.Argument(metavar="FROM", help="When it begins: '2026-12-01T09:00 Europe/Paris'; without a zone in UTC.")],
    end: Annotated[str, typer.Argument(metavar="UNTIL", help="When it ends, on the same clock; a date alone with all of its day.")],
    effect: Effect = None,
    workload: Workloads = None,
    ramp: Annotated[str | None, typer.Option("--ramp", metavar="DURATION", help="Grows and fades over so long around it.")] = None,
    every: Annotated[str | None, typer.Option("--every", metavar="day|week|month|year", help="Comes again. Default: once.")] = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Enter an event, and plan anew at once: a launch without precedent is in the plan the same minute.

    What has more to say (days of a week, two ramps, a last day) stands under `events` in the configuration, or in a file to import.

    Example: forecaster calendar add "spring launch" "2026-03-02T09:00 Europe/Paris" 2026-03-02T18:00 --factor 3 --workload chat
    """
    from jobs.cli.session import session
    from jobs.cli.written_events import event_as_said

    with session(config, now) as at:
        event = event_as_said(at, name=name, start=start, end=end, effect=effect, workloads=workload, ramp=ramp, every=every)
        _enter(at, (event,), None)


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The event's name.")],
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Take an event back, and plan anew at once.

    Example: forecaster calendar remove "spring launch"
    """
    from forecaster.events import EventEntry
    from jobs.cli.session import author, session
    from jobs.cli.written_events import removable

    with session(config, now) as at:
        event = removable(at, name)
        at.fleet.store.append_events([EventEntry(at=at.now, author=author(by), name=name, event=None)])
        _replan(at, (event,), f"{name} is taken back")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that ends with .csv or .ics.")],
    effect: Effect = None,
    workload: Workloads = None,
    zone: Annotated[str, typer.Option("--zone", metavar="ZONE", help="IANA zone of times that name none.")] = "UTC",
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Enter all events of a calendar file, CSV or iCalendar, or none when a line is bad; and plan anew at once.

    Columns of a CSV file are the keys of `events` in the configuration. FACTOR, NAME and ZONE are for events that do not say theirs.

    Example: forecaster calendar import campaigns.ics --factor 1.5 --zone Europe/Paris
    """
    from jobs.cli.session import session
    from jobs.cli.written_events import events_as_read

    with session(config, now) as at:
        _enter(at, events_as_read(at, file, effect=effect, workloads=workload, zone=zone), by)


def _enter(at: "Session", events: "tuple[Event, ...]", by: str | None) -> None:
    """Keep events in the book, and plan anew."""
    from forecaster.events import EventEntry
    from jobs.cli.session import author
    from jobs.cli.written_events import refuse_configured
    from jobs.events import entered_events

    refuse_configured(at, events)
    names = {event.name for event in events}
    replaced = tuple(entered.event for entered in entered_events(at.fleet, at.now) if entered.event.name in names)
    at.fleet.store.append_events([EventEntry(at=at.now, author=author(by), name=event.name, event=event) for event in events])
    kept = f"{events[0].name} is entered" if len(events) == 1 else f"{len(events)} events are entered"
    _replan(at, (*events, *replaced), f"{kept}; {len(replaced)} of the same name are replaced" if replaced else kept)


def _replan(at: "Session", events: "tuple[Event, ...]", kept: str) -> None:
    """Plan anew from the newest stored forecasts, as `forecaster plan` does, and print what the floors are during these events."""
    from jobs.calendar_change import floors_during, last_plans
    from jobs.cli.calendar_tables import change_table, is_over
    from jobs.cli.show import say, show
    from jobs.cli.turns import in_turn
    from jobs.forecast import plan_fleet

    say(kept)
    with in_turn(at, "forecast"):
        before = last_plans(at.fleet, at.now)
        drafts = plan_fleet(at.fleet, at.now)
    over = all(is_over(event, at.now) for event in events)
    show(change_table(floors_during(events, before, drafts, at.now), over=over), Output.TABLE)
    told = [f"{draft.name}: {problem}" for draft in drafts for problem in draft.problems]
    told += [
        f"{plan.workload}: {plan.id} awaits approval; `forecaster review {plan.workload}`, then `forecaster approve {plan.workload}`"
        for draft in drafts
        for plan in draft.waiting
    ]
    for sentence in told:
        say(f"forecaster: {sentence}")
    if told:
        raise typer.Exit(PARTLY)  # what was said is kept, whatever the plans lack

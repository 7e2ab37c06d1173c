"""The command `ledger`: what was asked for, when, and whether it was there in time."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from jobs.cli.show import Table
    from jobs.ledger import Ledger, Page

Days = Annotated[int, typer.Option("--days", metavar="N", min=1, max=90, help="So many times 24 hours before now.")]


def ledger(
    workload: AnyWorkload = None,
    days: Days = 1,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """Say for every ramp how many replicas were needed ready by when, when they were, and when nodes and pods were asked for.

    For people: a sentence a ramp, then each pool in sum. CSV and JSON have every ramp. Times are UTC; what nobody saw is empty.

    Example: forecaster ledger chat --days 7
    """
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_json
    from jobs.ledger import ledger as kept
    from jobs.starts import with_lead_times

    output = Output.JSON if json else output
    with session(config, now) as at:
        fleet = with_lead_times(replace(at.fleet, members=at.members(workload)), at.now)
        found = kept(fleet.store, fleet.members, at.now, days)
    for sentence in found.left_out:
        say(f"forecaster: not in it: {sentence}")
    if output is Output.JSON:
        show_json(_json(found))
    elif output is Output.CSV:
        show(_ramps(found), output)
    else:
        for line in _sentences(found):
            typer.echo(line)
        show(_sums(found), output)
        if output is Output.TABLE:
            for note in _NOTES:
                say(note)


_NOTES = (
    "due: floors that had stood for a lead time; ready in time: the share of it that was ready; short: the rest",
    "held: replicas that stood for the floor alone; idle: those of them that the load of the minute had no use for; in replica-hours",
)
_RAMP_KEYS = ("workload", "pool", "replicas", "before", "nodes_asked", "asked", "due", "ready", "ready_at_due", "in_time", "sentence")


def _sentences(found: "Ledger") -> list[str]:
    """A line a ramp, with its day; a line for a pool without any."""
    lines = []
    for page in found.pages:
        name = f"{page.workload}/{page.pool}"
        lines += [f"{ramp.asked:%a %d %b}  {name}: {ramp.told}{'' if ramp.in_time is not False else ' (late)'}" for ramp in page.ramps]
        lines += [] if page.ramps else [f"{name}: no ramp in this time"]
    return lines


def _sums(found: "Ledger") -> "Table":
    from jobs.cli.show import Table

    columns = ("workload", "pool", "ramps", "in time", "late", "ready in time", "short", "held", "idle")
    return Table(title="Ramps and what their floors came to", columns=columns, rows=tuple(map(_sum, found.pages)), named_by=2)


def _sum(page: "Page") -> tuple[object, ...]:
    from jobs.cli.show import Cell

    ratio = page.held.ready_by_deadline_ratio
    hours = (
        None if s is None else Cell(value=s, words=f"{s / 3600:,.1f}") for s in (page.held.shortfall, page.held.binding, page.held.wasted)
    )
    return (
        page.workload,
        page.pool,
        len(page.ramps),
        sum(ramp.in_time is True for ramp in page.ramps),
        sum(ramp.in_time is False for ramp in page.ramps),
        None if ratio is None else Cell(value=ratio, words=f"{ratio:.1%}"),
        *hours,
    )


def _ramps(found: "Ledger") -> "Table":
    from jobs.cli.show import Table

    rows = tuple(tuple(row[key] for key in _RAMP_KEYS) for page in found.pages for row in _rows(page))
    return Table(title="Ramps", columns=_RAMP_KEYS, keys=_RAMP_KEYS, rows=rows)


def _rows(page: "Page") -> list[dict[str, object]]:
    return [
        {
            "workload": page.workload,
            "pool": page.pool,
            "replicas": ramp.replicas,
            "before": ramp.before,
            "nodes_asked": ramp.nodes_asked,
            "asked": ramp.asked,
            "due": ramp.due,
            "ready": ramp.ready,
            "ready_at_due": ramp.ready_at_due,
            "in_time": ramp.in_time,
            "sentence": ramp.told,
        }
        for ramp in page.ramps
    ]


def _json(found: "Ledger") -> dict[str, object]:
    return {
        "from": found.window.start,
        "until": found.window.end,
        "pools": [
            {
                "workload": page.workload,
                "pool": page.pool,
                "ramps": _rows(page),
                "due_replica_seconds": page.held.due,
                "shortfall_replica_seconds": page.held.shortfall,
                "floor_binding_replica_seconds": page.held.binding,
                "floor_wasted_replica_seconds": page.held.wasted,
                "ready_by_deadline_ratio": page.held.ready_by_deadline_ratio,
            }
            for page in found.pages
        ],
    }

"""The command `capacity flushed`: tomorrow with every cache empty, and when a flush costs least."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forecaster.calendar import Calendar
    from jobs.capacity.flushed import Flush
    from jobs.cli.show import Table

Refill = Annotated[str, typer.Option("--refill", metavar="DURATION", help="How long caches take to have their usual hits again.")]


def flushed(
    workload: AnyWorkload = None,
    refill: Refill = "1h",
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """Tomorrow's floors beside those with every cache empty, and the hour at which a flush asks for the fewest replicas more.

    Planned over the stored forecast: nothing is forecast anew, and nothing is kept. What the policy's maximum or a budget of GPUs has no
    room for is told. Below stands the command that makes such a flush part of the plan, as an event.

    Example: forecaster capacity flushed chat --refill 2h
    """
    from jobs.capacity.flushed import flush
    from jobs.cli.session import session
    from jobs.cli.show import say, show

    refill_s, output = _refill_s(refill), Output.JSON if json else output
    with session(config, now) as at:
        members = [member for member in at.members(workload) if any(pool.caches.counted for pool in member.workload.serving)]
        found = [(member.workload.calendar, flush(at.fleet, member, refill_s, at.now)) for member in members]
    show(_floors(found), output)
    if output is Output.TABLE:
        for calendar, each in found:
            for sentence in _told(each, calendar):
                say(sentence)


def _refill_s(text: str) -> float:
    from forecaster.errors import ConfigRejected
    from forecaster.units import DAY_S, MINUTE_S
    from jobs.config.scalars import duration_s

    try:
        refill_s = duration_s(text)
    except ValueError as error:
        raise ConfigRejected(f"--refill: {error}") from error
    if not MINUTE_S <= refill_s <= DAY_S:
        raise ConfigRejected(f"--refill must be from 1m to 24h, got {text}: a cache that takes longer has other hits by then")
    return refill_s


def _floors(found: "list[tuple[Calendar, Flush]]") -> "Table":
    from jobs.cli.show import Cell, Table, change, moment

    cells = tuple(
        (
            flush.workload,
            cold.pool,
            Cell(value=flush.day, words=f"{flush.day:%a %d %b}"),
            cold.planned.least,
            cold.planned.most,
            cold.emptied.least,
            cold.emptied.most,
            moment(cold.emptied.at, calendar, "%H:%M %Z"),
            change(cold.more),
            None if flush.best is None else moment(flush.best.start, calendar, "%H:%M %Z"),
            change(cold.more_then),
            cold.cut or None,
        )
        for calendar, flush in found
        for cold in flush.pools
    )
    return Table(
        title="Tomorrow with every cache empty",
        columns=("workload", "pool", "day", "least", "most", "least, empty", "most, empty", "at", "more", "best hour", "more then", "cut"),
        keys=("workload", "pool", "day", "least", "most", "least_empty", "most_empty", "at", "more", "best", "more_then", "cut"),
        rows=cells,
        empty="nothing is known: no workload has a `cache` whose hits come off its load",
        named_by=2,
    )


def _told(flush: "Flush", calendar: "Calendar") -> "Iterator[str]":
    if flush.doubt or flush.best is None:
        yield f"{flush.workload}: {flush.doubt}"
        return
    start, end = calendar.local(flush.best.start), calendar.local(flush.best.end)
    more = sum(cold.more_then for cold in flush.pools)
    costs = f"asks for {more} replica{'s' if more > 1 else ''} more" if more > 0 else "asks for no replica more"
    yield f"{flush.workload}: a flush at {start:%H:%M %Z} {costs}; to have the floor for it in the plan, enter it:"
    factor = math.ceil(flush.factor * 100) / 100
    zone = "" if calendar.zone == "UTC" else f" {calendar.zone}"
    yield (
        f'  forecaster calendar add "cache flush {flush.workload}" "{start:%Y-%m-%dT%H:%M}{zone}" "{end:%Y-%m-%dT%H:%M}{zone}" '
        f"--factor {factor:g} --workload {flush.workload}"
    )

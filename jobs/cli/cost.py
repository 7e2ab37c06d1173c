"""The commands `cost show` and `cost compare`: what a request, a token and a task cost."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat
from jobs.cli.savings import Days

if TYPE_CHECKING:
    from forecaster.series import Window
    from jobs.cli.session import Session
    from jobs.cost.account import Cost

First = Annotated[str, typer.Argument(metavar="A", help="A workload, its days up to DAY as WORKLOAD@DAY, such as chat@2024-05-18.")]
Second = Annotated[str, typer.Argument(metavar="B", help="What it is compared with, written alike.")]


def show_(
    workload: AnyWorkload = None,
    days: Days = 7,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """What 1,000 requests, a million tokens and a task cost over the last whole UTC days; `cost show` and `cost` are the same.

    Replicas are those seen ready, else the floors decided. Without prices costs are in replica-hours. A workload's section `task` says
    what a task takes; retries, invalid turns and abandoned tasks are shown as their own cost. What is not known is empty.

    Example: forecaster cost show chat --days 28
    """
    from jobs.cli.cost_tables import costs_table, costs_whole, notes
    from jobs.cli.session import session
    from jobs.cli.show import say, show
    from jobs.cost.account import costs
    from jobs.savings import whole_days

    output = Output.JSON if json else output
    with session(config, now) as at:
        found = costs(at.fleet.store, at.members(workload), whole_days(at.now, days))
    for sentence in found.left_out:
        say(f"forecaster: not in it: {sentence}")
    show(costs_whole(found.rows) if output in {Output.JSON, Output.CSV} else costs_table(found.rows), output)
    for line in notes(found.rows):
        say(line)


def compare(
    first: First,
    second: Second,
    days: Days = 7,
    config: ConfigFile = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """Two workloads, or one in two spans, side by side: what a unit costs in each, and what explains the difference.

    Without @DAY the last whole UTC days count; with it those that end with DAY. 1.5 times the price at half the calls a task is 0.75 times
    the cost a task.

    Example: forecaster cost compare chat chat-int8 --days 28
    """
    from forecaster.errors import ConfigRejected
    from jobs.cli.cost_tables import compared_json, factors_table, notes, side_names, sides_table, verdict_line
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_json
    from jobs.cost.account import compare as compared

    with session(config, now) as at:
        sides = tuple(_side(at, told, days) for told in (first, second))
        if sides[0] == sides[1]:
            raise ConfigRejected(
                f"{first} and {second} are the same days of the same workload; say others, such as {sides[0][0]}@2024-05-18"
            )
        costs = _cost(at, *sides[0]), _cost(at, *sides[1])
    found = compared(*costs)
    if json:
        show_json(compared_json(costs, found))
    else:
        show(sides_table(costs), Output.TABLE)
        show(factors_table(costs, found), Output.TABLE)
        typer.echo(verdict_line(costs, found))
    for line in notes(costs, side_names(costs)):
        say(line)


def _side(at: "Session", told: str, days: int) -> "tuple[str, Window]":
    """A workload and its days. Raises ConfigRejected for a day that is none, or has not ended."""
    from datetime import UTC, datetime, timedelta

    from forecaster.errors import ConfigRejected
    from forecaster.units import iso
    from jobs.savings import whole_days

    name, marked, day = told.partition("@")
    if not marked:
        return name, whole_days(at.now, days)
    try:
        end = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError) as error:
        raise ConfigRejected(f"{told!r} names no day; write WORKLOAD@DAY, such as {name}@2024-05-18") from error
    if end > at.now:
        raise ConfigRejected(f"the day of {told!r} has not ended by {iso(at.now)}; name one before it")
    return name, whole_days(end, days)


def _cost(at: "Session", name: str, window: "Window") -> "Cost":
    from forecaster.errors import NothingKept
    from jobs.cost.account import cost_of

    try:
        return cost_of(at.fleet.store, at.member(name), window)
    except NothingKept as error:
        raise NothingKept(f"{name}: {error}") from error

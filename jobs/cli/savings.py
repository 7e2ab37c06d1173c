"""The command `savings`: what the floors cost, and what they saved."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from jobs.cli.show import Table
    from jobs.savings import Account, Row

Days = Annotated[int, typer.Option("--days", metavar="N", min=1, max=400, help="So many whole UTC days before now.")]
HpaTarget = Annotated[
    str | None,
    typer.Option(
        "--hpa-target",
        metavar="RATIO[:RATIO]",
        help="Utilisation that your autoscaler aims at, above 0 to 1; 0.7:0.9 = 0.7 without floors and 0.9 with them. Default: 0.7.",
    ),
]
_HOURS = ("planned", "actual", "ours", "reactive", "static")


def savings(
    workload: AnyWorkload = None,
    days: Days = 7,
    hpa_target: HpaTarget = None,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """Replica-hours and money as planned, as they were, and as they would have been without floors; late requests avoided.

    For people: each workload and the fleet by day; with a WORKLOAD its days. CSV and JSON have every row of it: workload null is the
    fleet, day null the whole span. What is not known is empty, never zero.

    Example: forecaster savings --days 28
    """
    from jobs.cli.session import session
    from jobs.cli.show import say, show
    from jobs.savings import Asked, account, whole_days

    output = Output.JSON if json else output
    alone, target = targets(hpa_target)
    with session(config, now) as at:
        found = account(
            at.fleet.store, at.members(workload), Asked(window=whole_days(at.now, days), target_ratio=target, alone_ratio=alone)
        )
    for sentence in found.left_out:
        say(f"forecaster: not in it: {sentence}")
    show(_everything(found) if output in {Output.JSON, Output.CSV} else _table(found, one=workload is not None), output)
    if output is Output.TABLE:
        for line in _notes(found):
            say(line)


def targets(told: str | None) -> tuple[float, float]:
    """The utilisation at which the autoscaler aims without floors, and above them. Raises ConfigRejected for no ratio in (0, 1]."""
    from forecaster.errors import ConfigRejected
    from jobs.savings import PLAIN_TARGET

    if told is None:
        return PLAIN_TARGET, PLAIN_TARGET
    alone, _, above = told.partition(":")
    try:
        return target_ratio(float(alone)), target_ratio(float(above or alone))
    except ValueError as error:
        raise ConfigRejected(f"--hpa-target is a number such as 0.7, or two such as 0.7:0.9, got {told}") from error


def target_ratio(told: float) -> float:
    """A utilisation as a person says it. Raises ConfigRejected outside of (0, 1]."""
    from forecaster.errors import ConfigRejected

    if not 0 < told <= 1:
        raise ConfigRejected(f"--hpa-target must be above 0 and at most 1, such as 0.7 for 70 %, got {told:g}")
    return told


def _table(found: "Account", *, one: bool) -> "Table":
    """For people: the days of one workload; else the sum of each workload, and the fleet by day."""
    from jobs.cli.show import Table

    rows = [row for row in found.rows if row.workload is not None if one or row.day is None]
    rows += [row for row in found.rows if row.workload is None and not one]
    columns = ("workload", "day", "mode", *_HOURS, "saved", "late", "late reactive", "avoided")
    priced = ("cost", "cost reactive", f"saved {found.currency}") if found.currency is not None else ()
    title = "Replica-hours and late requests" + (f", and cost in {found.currency}" if priced else "")
    return Table(title=title, columns=(*columns, *priced), rows=tuple(_short(row, priced=bool(priced)) for row in rows), named_by=2)


def _short(row: "Row", *, priced: bool) -> tuple[object, ...]:
    spent, money = row.spent, row.money
    late = (spent.late_ours, spent.late_reactive, spent.avoided)
    cells = (
        row.workload or "all",
        f"{row.day:%a %d %b}" if row.day is not None else "all days",
        str(row.mode) if row.mode is not None else None,
        *(_amount(value, 1) for value in (*(getattr(spent, f"{name}_hours") for name in _HOURS), spent.saved_hours)),
        *(_amount(value, 0) for value in late),
    )
    costs = (None, None, None) if money is None else (money.ours, money.reactive, money.saved)
    return (*cells, *(_amount(value, 2) for value in costs)) if priced else cells


def _amount(value: float | None, digits: int) -> object:
    from jobs.cli.show import Cell

    return None if value is None else Cell(value=value, words=f"{value + 0.0:,.{digits}f}")


def _everything(found: "Account") -> "Table":
    from jobs.cli.show import Table

    keys = ("workload", "day", "mode", *(f"{name}_hours" for name in _HOURS), "saved_hours")
    keys += ("requests", "late_ours", "late_reactive", "late_avoided", "hpa_target_alone", "hpa_target", "currency")
    keys += (*(f"{name}_cost" for name in _HOURS), "saved_cost")
    rows = tuple(_whole(row, found) for row in found.rows)
    return Table(title="Savings", columns=keys, keys=keys, rows=rows)


def _whole(row: "Row", found: "Account") -> tuple[object, ...]:
    spent, money = row.spent, row.money
    costs = (*(None if money is None else getattr(money, name) for name in _HOURS), None if money is None else money.saved)
    return (
        row.workload,
        row.day,
        str(row.mode) if row.mode is not None else None,
        *(getattr(spent, f"{name}_hours") for name in _HOURS),
        spent.saved_hours,
        spent.requests,
        spent.late_ours,
        spent.late_reactive,
        spent.avoided,
        found.asked.alone_ratio,
        found.asked.target_ratio,
        found.currency,
        *costs,
    )


def _notes(found: "Account") -> list[str]:
    """How the columns are to be read."""
    alone = f"reactive: a replay of the measured load under an autoscaler alone that aims at {found.asked.alone_ratio:.0%}"
    beside = (
        f"ours: the same under the floors that were decided, aiming at {found.asked.target_ratio:.0%}; saved and avoided compare the two"
    )
    others = "planned: the floors; actual: replicas seen ready; static: a fixed fleet for the largest minute of the span; empty: not known"
    unpriced = ("no money is told: there are no `prices` in the configuration",) if found.currency is None else ()
    return [alone, beside, others, *unpriced]

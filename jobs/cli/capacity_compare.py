"""The command `capacity compare`: tomorrow under each variant of a workload."""

from typing import TYPE_CHECKING

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from jobs.capacity.compare import Option
    from jobs.cli.show import Table


def compare(
    workload: AnyWorkload = None,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """Tomorrow under each of a workload's `variants` (quantised, distilled, another engine or GPU) beside what runs.

    Floors, GPU-hours and cost, of 1,000 expected requests and of a task too, planned over the stored forecast: nothing is forecast
    anew, and nothing is kept. Cost needs `prices`, that of a task `task`. What is not known is empty, and a sentence says why.

    Example: forecaster capacity compare chat
    """
    from jobs.capacity.compare import compare
    from jobs.cli.session import session
    from jobs.cli.show import say, show

    output = Output.JSON if json else output
    with session(config, now) as at:
        rows = [row for member in at.members(workload) for row in compare(at.fleet, member, at.now)]
    show(_options(rows), output)
    if output is Output.TABLE:
        for row in rows:
            if row.doubt:
                say(f"{row.workload}/{row.variant}: {row.doubt}")


def _options(rows: "list[Option]") -> "Table":
    from jobs.cli.show import Cell, Table, amount
    from jobs.config.scalars import spell_duration

    keys: tuple[str, ...] = ("workload", "pool", "variant", "day", "capacity_rpm", "lead_time_s", "least", "most", "gpu_hours", "cost")
    keys += ("cost_per_1000_requests", "calls_a_task", "cost_per_task", "currency", "doubt")
    names: tuple[str, ...] = ("workload", "pool", "variant", "day", "rpm a replica", "lead time", "least", "most", "GPU-hours", "cost")
    names += ("cost of 1,000 requests", "calls a task", "cost of a task", "currency", "doubt")
    cells = tuple(
        (
            row.workload,
            row.pool,
            row.variant,
            Cell(value=row.day, words=f"{row.day:%a %d %b}"),
            amount(row.capacity.rpm),
            Cell(value=row.lead_s, words=spell_duration(row.lead_s)),
            row.least,
            row.most,
            *(amount(value) for value in (row.gpu_hours, row.cost, row.per_1000, row.calls_a_task, row.per_task)),
            row.currency,
            row.doubt or None,
        )
        for row in rows
    )
    empty = "no workload has `variants`: write some under it"
    return Table(title="Tomorrow under each variant", columns=names, keys=keys, rows=cells, empty=empty, named_by=3)

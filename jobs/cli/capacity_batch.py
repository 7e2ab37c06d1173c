"""The command `capacity batch`: the frontier of throughput against P95 over batch size and batch wait."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output

if TYPE_CHECKING:
    from forecaster.batching import BatchPoint
    from jobs.capacity.batch import Batches
    from jobs.cli.show import Table

PoolName = Annotated[str | None, typer.Option("--pool", metavar="NAME", help="One of its pools or variants. Default: all with a profile.")]
SloText = Annotated[
    str | None,
    typer.Option("--slo", metavar="LIMITS", help="What P95 must keep, such as ttft_p95=1s,e2e_p95=10s. Default: that of the profile."),
]
_COLUMNS, _ROWS = 64, 12
_BEST, _NOW, _OTHER = "@", "N", "o"


def batch(
    workload: AnyWorkload = None,
    pool: PoolName = None,
    slo: SloText = None,
    config: ConfigFile = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """What batch size and batch wait buy: throughput of one replica against P95, and what carries most within the SLO.

    The step time of the engine is fitted as alpha + beta x batch to the load steps of the newest profile; each batch up to what the KV
    memory holds is then told at 80 % of its throughput, and only those that no other beats in both are shown, with where the engine
    stands now (`serving.max_batch`). Batches that nobody measured are marked as such. Nothing is kept.

    Example: forecaster capacity batch chat --slo e2e_p95=10s
    """
    from jobs.capacity.batch import batches
    from jobs.capacity.importing import told
    from jobs.cli.session import author, session
    from jobs.cli.show import say, show, show_chart

    with session(config, now) as at:
        found = batches(at.fleet.store, at.members(workload), pool, told(slo, None, author(None)).slo, at.now)
    for sentence in found.left_out:
        say(f"forecaster: not in it: {sentence}")
    show(batch_table(found.pools), Output.JSON if json else Output.TABLE)
    for each in found.pools:
        if not json:
            show_chart(batch_chart(each))
        for sentence in each.told:
            say(f"{each.workload}/{each.pool}: {sentence}")


def batch_table(pools: "tuple[Batches, ...]") -> "Table":
    """A row a setting of the frontier, by pool and rising throughput."""
    from jobs.cli.show import Table

    keys: tuple[str, ...] = ("workload", "pool", "batch", "batch_wait_s", "rpm", "utilisation_ratio", "most_rpm", "e2e_p95_s", "ttft_p95_s")
    keys += ("tokens_per_s", "mark")
    names: tuple[str, ...] = ("workload", "pool", "batch", "wait", "rpm", "of its throughput", "throughput rpm", "P95 s", "P95 TTFT s")
    names += ("tokens/s", "mark")
    rows = tuple((each.workload, each.pool, *_cells(each, point)) for each in pools for point in each.rows)
    return Table(title="What batches carry", columns=names, keys=keys, rows=rows, named_by=4)


def batch_chart(found: "Batches") -> str:
    """Each setting as a letter: throughput to the right, P95 upwards."""
    from jobs.cli.canvas import Canvas
    from jobs.cli.show import number

    most_s, most_rpm = (max(getattr(point, name) for point in found.rows) for name in ("e2e_p95_s", "rpm"))
    canvas = Canvas(top=most_s, columns=_COLUMNS, rows=_ROWS, labels={_ROWS - 1: number(most_s), _ROWS // 2 - 1: number(most_s / 2)})
    for point in found.rows:
        row, column = canvas.height(point.e2e_p95_s, 1) - 1, round(point.rpm / most_rpm * (_COLUMNS - 1))
        canvas.put(max(row, 0), column, _BEST if point == found.best else _NOW if point == found.now else _OTHER)
    legend = f"{found.workload}/{found.pool}: P95 s  {_BEST} carries most within the SLO  {_NOW} now  {_OTHER} others"
    axis = f"{'0':>9}{number(most_rpm) + ' rpm':>{_COLUMNS}}"
    return "\n".join([legend, *canvas.lines(), f"{'':7}└{'─' * _COLUMNS}", axis])


def _cells(found: "Batches", point: "BatchPoint") -> tuple[object, ...]:
    from jobs.cli.show import Cell, amount, percent

    wait: Cell = Cell(value=point.wait_s, words=f"{1e3 * point.wait_s:g} ms")
    return (
        point.batch,
        wait,
        amount(point.rpm),
        percent(point.utilisation_ratio),
        *(amount(value) for value in (point.most_rpm, point.e2e_p95_s, point.ttft_p95_s, point.tokens_s)),
        ", ".join(_marks(found, point)) or None,
    )


def _marks(found: "Batches", point: "BatchPoint") -> list[str]:
    marks = ["carries most within the SLO"] if point == found.best else []
    marks += ["now"] if point == found.now else []
    marks += ["beyond what was measured"] if point.is_extrapolated else []
    return marks + ([] if point in found.frontier else ["not on the frontier"])

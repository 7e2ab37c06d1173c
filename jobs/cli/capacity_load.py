"""The table of `capacity show --load`: what the load is."""

from collections.abc import Sequence

from jobs.capacity.loads import Load
from jobs.cli.show import Cell, Table, amount, percent
from jobs.config.scalars import spell_duration


def load_table(rows: Sequence[Load]) -> Table:
    """A row a window of each workload."""
    keys: tuple[str, ...] = ("workload", "window_s", "measured_ratio", "rpm", "largest_minute_rpm", "qps", "peak_second_qps", "streams")
    keys += ("tokens_in_per_s", "tokens_out_per_s", "latency_mean_s", "latency_p95_s", "latency_p99_s")
    names: tuple[str, ...] = ("workload", "window", "measured", "rpm", "largest minute", "QPS", "peak second", "streams")
    names += ("tokens in/s", "tokens out/s", "mean s", "P95 s", "P99 s")
    cells = tuple(
        (
            row.workload,
            Cell(value=row.span_s, words=spell_duration(row.span_s)),
            percent(row.measured_ratio),
            *(amount(value) for value in (row.rpm, row.largest_rpm, row.qps)),
            _peak_second(row),
            *(amount(value) for value in (row.streams, row.tokens_in_s, row.tokens_out_s, row.latency_s, row.p95_s, row.p99_s)),
        )
        for row in rows
    )
    return Table(title="What the load is", columns=names, keys=keys, rows=cells, empty="there is no workload", named_by=2)


def _peak_second(row: Load) -> Cell | None:
    if row.peak_second_unknown:
        return Cell(value=None, words=row.peak_second_unknown)
    return amount(row.peak_second_qps)

"""What `history` prints."""

from collections.abc import Sequence

from forecaster.calendar import Calendar
from forecaster.decision import CycleRecord
from forecaster.series import Signal
from forecaster.units import MINUTE_S
from jobs.cli.options import Output
from jobs.cli.show import Cell, Table, moment, percent
from jobs.views.days import MeasuredDay


def decisions_table(records: Sequence[CycleRecord], calendar: Calendar, output: Output) -> Table:
    """The decisions, oldest first: people get the sentences, which name pool and target; programs get everything apart."""
    title, empty = "Decisions", "none"
    if output in {Output.TABLE, Output.MARKDOWN}:
        short = tuple((moment(r.at, calendar, "%a %d %b %H:%M:%S %Z"), r.decision.last, r.decision.floor, r.sentence) for r in records)
        return Table(title=title, columns=("at", "before", "floor", "decision"), rows=short, empty=empty)
    columns = ("at", "pool", "target", "mode", "action", "last", "floor", "plan", "written", "error", "reasons", "sentence")
    return Table(title=title, columns=columns, rows=tuple(_decision(record) for record in records), empty=empty)


def _decision(record: CycleRecord) -> tuple[object, ...]:
    decision = record.decision
    return (
        record.at,
        decision.pool,
        decision.target,
        str(record.mode),
        str(decision.action),
        decision.last,
        decision.floor,
        decision.plan_id,
        record.applied.written if record.applied is not None else False,
        record.error,
        " ".join(reason.code for reason in decision.reasons),
        record.sentence,
    )


def load_table(days: Sequence[tuple[Signal, MeasuredDay]], calendar: Calendar) -> Table:
    """A row a local day and signal: mean and peak in the signal's unit, and what was not measured."""
    rows = tuple(
        (
            Cell(value=day.day, words=f"{day.day:%a %d %b}"),
            str(signal),
            signal.unit,
            day.mean,
            day.peak,
            moment(day.peak_at, calendar, "%H:%M %Z"),
            day.peak_minute,
            percent(day.measured_ratio),
            len(day.gaps),
            _longest(day),
        )
        for signal, day in days
    )
    columns = ("day", "signal", "unit", "mean", "peak", "at", "busiest minute", "measured", "gaps", "longest gap")
    keys = ("day", "signal", "unit", "mean", "peak", "peak_at", "peak_minute", "measured_ratio", "gaps", "longest_gap_s")
    return Table(title="Measured load", columns=columns, keys=keys, rows=rows, named_by=2)


def _longest(day: MeasuredDay) -> Cell | None:
    if not day.gaps:
        return None
    longest_s = max(gap.length_s for gap in day.gaps)
    return Cell(value=longest_s, words=f"{longest_s / MINUTE_S:,.0f} min")

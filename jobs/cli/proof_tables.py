"""A backtest for people: what each policy came to, the worst days, and what to make of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from forecaster.backtest.accuracy import LEVELS
from forecaster.units import spell_number
from jobs.cli.show import Cell, Table, percent
from jobs.proof.judged import OURS, OURS_YOURS, RETARGETED, YOURS
from jobs.proof.verdict import as_good, beyond_limit

if TYPE_CHECKING:
    from jobs.proof.judged import WorstDay
    from jobs.proof.report import Report

_MUCH = 0.1  # from here on nobody counts thousandths of a per cent
_FEW_DAYS = 7  # no weekday seen twice, and most of the week not even once before the level is chosen
_WORDS = {
    YOURS: "as it is",
    OURS_YOURS: "our floors under it",
    RETARGETED: "and at our target",
    "static": "peak of last 14 days",
    "hpa_0.7": "HPA at 70 %",
    "hpa_best": "best in hindsight",
    "keda_cron_best": "best in hindsight",
    "last_week": "last week as floor",
    "aws_like": "hourly, as AWS does",
    "dynamo_like": "as Dynamo's planner",
    "holt_winters": "as Predictive HPA",
    "clairvoyant_cold_start": "knows the future",
    "ours_hpa_0.7": "floors, HPA at 70 %",
    OURS: "floors, our target",
}
_YOURS = (YOURS, OURS_YOURS, RETARGETED)


def tables(report: "Report") -> Iterator[Table]:
    """One for the user's own HPA, where there is one, and one for everything that one could set up instead."""
    judged, found = report.judged, report.found
    if any(name in judged.rows for name in _YOURS):
        yield _policies(report, _YOURS, "Your HPA, with its own limits and lags")
    title = f"{found.first_origin:%Y-%m-%d} to {found.trace.end:%Y-%m-%d} UTC, replayed by the minute"
    yield _policies(report, tuple(name for name in judged.rows if name not in _YOURS), title)
    if any(round(day.late) for day in judged.worst):
        yield _worst_days(report)


LEGEND = (
    "late min: minutes in which more than 1 in 1,000 requests were late. missed: mornings, from the\n"
    "quietest half hour to 90 % of the day's peak, with more than 1 in 1,000 late. x ideal: hours over\n"
    "those of a fleet without cold starts that knows each minute.\n"
)
"""What the columns of the tables mean."""


def sentences(report: "Report") -> Iterator[str]:
    """What follows from the figures, and what they rest on."""
    found, judged = report.found, report.judged
    point = found.points[0]
    yield from _against_yours(report)
    yield (
        f"Recommended: level P{point.level * 100:g} and HPA target {point.target:.0%}, chosen on the days before "
        f"{found.first_origin:%Y-%m-%d}; a replica serves {spell_number(found.fleet.replica_rpm)} requests/min."
    )
    if (days := (found.first_origin - found.trace.start) / timedelta(days=1)) < _FEW_DAYS:
        yield f"The recommendation rests on {days:.1f} days only, which is weak evidence: give a trace of at least {2 * _FEW_DAYS} days."
    yield from beyond_limit(judged, found.settings.late_limit_ratio)
    yield from as_good(judged)
    scores = found.accuracy.model
    covered = ", ".join(f"P{level * 100:g} {value:.1%}" for level, value in zip(LEVELS, scores.coverage, strict=True) if value is not None)
    if covered:
        yield f"Load stayed below: {covered}. The median was off by {scores.wape:.1%} of the load." if scores.wape is not None else covered


def _policies(report: "Report", names: tuple[str, ...], title: str) -> Table:
    clairvoyant, mornings = report.found.clairvoyant_hours, len(report.judged.mornings)
    rows = []
    for row in (report.judged.rows[name] for name in names if name in report.judged.rows):
        missed = Cell(value=len(row.missed), words=f"{len(row.missed)}/{mornings}")
        late = Cell(value=row.late_ratio, words=f"{row.late_ratio:.3%}" if row.late_ratio < _MUCH else f"{row.late_ratio:.1%}")
        hours = Cell(value=row.replica_hours, words=f"{row.replica_hours:,.0f}")
        ratio = Cell(value=row.replica_hours / clairvoyant, words=f"{row.replica_hours / clairvoyant:.2f}")
        rows.append((row.name, _WORDS.get(row.name, ""), late, row.late_minutes, missed, hours, ratio))
    columns = ("policy", "what it is", "late", "late min", "missed", "hours", "x ideal")
    return Table(title=title, columns=columns, rows=tuple(rows))


def _against_yours(report: "Report") -> Iterator[str]:
    rows = report.judged.rows
    if YOURS not in rows:
        return
    for name, what in ((OURS_YOURS, "our floors under it"), (RETARGETED, "with its target moved as well")):
        before, after = rows[YOURS], rows[name]
        more = after.replica_hours / before.replica_hours - 1
        yield (
            f"Against your HPA as it is, {what}: {more:+.0%} replica-hours, {before.late_ratio:.3%} -> {after.late_ratio:.3%} late, "
            f"mornings missed {len(before.missed)} -> {len(after.missed)} of {len(report.judged.mornings)}."
        )


def _worst_days(report: "Report") -> Table:
    rows = tuple(_worst(report, day) for day in report.judged.worst if round(day.late))
    columns = ("day", "late", "requests", "what happened")
    return Table(title="Our worst days", columns=columns, rows=rows)


def _worst(report: "Report", day: "WorstDay") -> tuple[object, ...]:
    found = report.found
    peak, level = found.peaks[day.index], found.points[day.index].level
    name, forecast = f"{peak.forecast.day:%a %d %b}", peak.forecast.at_level(level)
    late = Cell(value=day.late_ratio, words=f"{day.late_ratio:.2%}")
    when = f"most at {day.busiest_h:02d}:00"
    if peak.actual is None:
        return name, late, round(day.late), f"{when}; its peak was not measured"
    over = percent(peak.actual / forecast - 1, signed=True) if forecast > 0 else None
    said = f"{when}; peak {spell_number(peak.actual)} against {spell_number(forecast)} forecast"
    return name, late, round(day.late), f"{said} (P{level * 100:g}{'' if over is None else f', {over.words}'})"

"""What a backtest printed and kept: the summary of the contract, and what the person who decides asked beyond it."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from forecaster.backtest.run import Backtest
from forecaster.simulate.fleet import WAIT_LEVELS
from forecaster.units import iso
from jobs.backtest import Json, summary, write
from jobs.proof.chart import frontier_svg
from jobs.proof.cron import DAYS, Timetable
from jobs.proof.evidence import Evidence
from jobs.proof.judged import Judged, Point, Row
from jobs.proof.verdict import as_good

CHART = "frontier.svg"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """A backtest with its judgement; evidence and the address of the server where the load came out of Prometheus.

    notes: on the load, and how each figure that nobody gave came about.
    """

    found: Backtest
    judged: Judged
    evidence: Evidence | None = None
    url: str | None = None
    notes: tuple[str, ...] = ()


def report_summary(report: Report) -> dict[str, Json]:
    """`summary`, with late minutes and mornings of each policy, the frontier, the best cron, and where the load came from."""
    plain, judged = summary(report.found), report.judged
    policies = cast("dict[str, Json]", plain["policies"])
    days = cast("list[dict[str, Json]]", plain["worst_days"])
    return {
        **plain,
        "mu_known": report.evidence is not None and report.evidence.size.replica_rpm is not None,
        "worst_days": [{**day, "most_late_hour_utc": worst.busiest_h} for day, worst in zip(days, judged.worst, strict=True)],
        "policies": {**policies, **{name: _row(row) for name, row in judged.rows.items()}},
        "mornings": len(judged.mornings),
        "as_good": next(as_good(judged), None),
        "frontier": {kind: [_point(point) for point in points] for kind, points in judged.frontier.items()},
        "keda_cron": timetable_json(judged.cron),
        "load": None if report.evidence is None else _load(report.evidence, report.url),
        "hpa": None if report.evidence is None else _hpa(report.evidence),
        "notes": list(report.notes),
    }


def write_report(report: Report, directory: Path) -> None:
    """The files of a backtest and `frontier.svg`. Raises ConfigRejected when the directory cannot be written."""
    found = report.found
    title = f"What {found.first_origin:%d %b %Y} to {found.trace.end:%d %b %Y} would have cost"
    chart = frontier_svg(report.judged, title, found.settings.late_limit_ratio)
    write(found, directory, said=report_summary(report), charts={CHART: chart})


def timetable_json(table: Timetable) -> dict[str, Json]:
    """A timetable as programs read it; days by their three letters, hours in UTC."""
    return {
        "zone": "UTC",
        "min_replicas": table.minimum,
        "hpa_target_utilisation": table.target,
        "windows": [
            {"days": [DAYS[day] for day in one.days], "from_h": one.from_h, "until_h": one.until_h, "replicas": one.replicas}
            for one in table.windows
        ],
    }


def _row(row: Row) -> dict[str, Json]:
    return {
        "late_ratio": row.late_ratio,
        "replica_hours": row.replica_hours,
        "changes": row.changes,
        "hpa_target_utilisation": row.target,
        "wait_s": {f"{level:g}": wait for level, wait in zip(WAIT_LEVELS, row.wait_s, strict=True)},
        "late_minutes": row.late_minutes,
        "mornings_missed": [morning.day.isoformat() for morning in row.missed],
    }


def _point(point: Point) -> dict[str, Json]:
    return {"hpa_target_utilisation": point.target, "replica_hours": point.replica_hours, "late_ratio": point.late_ratio}


def _load(evidence: Evidence, url: str | None) -> dict[str, Json]:
    trace, query = evidence.trace, evidence.load.query
    return {
        "prometheus": url,
        "query": query.expression,
        "unit": str(query.unit),
        "from": iso(trace.start),
        "measured_ratio": evidence.load.measured_ratio,
    }


def _hpa(evidence: Evidence) -> dict[str, Json] | None:
    hpa, metric, theirs = evidence.hpa, evidence.metric, evidence.theirs
    if hpa is None:
        return None
    return {
        "namespace": hpa.namespace,
        "name": hpa.name,
        "scales": {"kind": hpa.scales[0], "name": hpa.scales[1]},
        "min_replicas": hpa.minimum,
        "max_replicas": hpa.maximum,
        "metric": None if metric is None else metric.name,
        "target_utilisation": None if theirs is None else theirs.target,
        "keda": hpa.keda,
        "spec_metrics": list(hpa.spec_metrics),
    }

"""Whether anything simpler than us would have done as well."""

from collections.abc import Iterator

from jobs.proof.judged import FLOORS, OURS, YOURS, Judged, Row

ON_TIME_RATIO = 0.0005
"""So few late requests count as none."""
_AS_CHEAP = 1.01
"""Up to 1 % dearer is as cheap: nobody installs anything for less."""

_SIMPLER = (
    (YOURS, "your HPA as it is", "leave it as it is"),
    (
        "hpa_best",
        "the best plain HPA in hindsight (hpa_best)",
        "try its target{target} first{patch}",
    ),
    ("keda_cron_best", "the best KEDA cron in hindsight (keda_cron_best)", "`forecaster export keda-cron --from DIR` prints it"),
    ("last_week", "last week's load as the floor (last_week)", "`forecaster export keda-cron --from DIR` prints a timetable to begin with"),
)
"""The simplest first; DIR as in `backtest --out DIR`."""
_PATCH = ": `forecaster export hpa --from DIR --best` prints the patch"


def as_good(judged: Judged) -> Iterator[str]:
    """One sentence for the simplest policy that was on time or no later, and no dearer than our floors; none where there is no such."""
    ours = judged.rows[OURS]
    for name, what, remedy in _SIMPLER:
        row = judged.rows.get(name)
        if row is not None and is_as_good(row, ours):
            target = "" if row.target is None else f", {row.target:.0%},"
            said = remedy.format(target=target, patch=_PATCH if YOURS in judged.rows else "")  # nobody else's HPA can be patched
            late = "no later" if row.late_ratio <= ours.late_ratio else f"on time ({row.late_ratio:.3%} late)"
            yield f"On this trace {what} would have done as well: {late} and no dearer than our floors; {said}."
            return


def beyond_limit(judged: Judged, limit_ratio: float) -> Iterator[str]:
    """One sentence where our floors were later than the limit allows, with the nearest target that was not; else none."""
    ours = judged.rows[OURS]
    if ours.late_ratio <= limit_ratio:
        return
    said = f"On the replayed days {OURS} was later than the limit of {limit_ratio:.1%}: {ours.late_ratio:.3%}"
    kept = [point for point in judged.frontier[FLOORS] if point.late_ratio <= limit_ratio]
    if not kept:
        yield f"{said}, and so were our floors under every other target: no target keeps the limit on this load."
        return
    best = min(kept, key=lambda point: point.replica_hours)
    more = best.replica_hours / ours.replica_hours - 1
    yield f"{said}. With a target of {best.target:.0%} it would have been {best.late_ratio:.3%} at {more:+.1%} replica-hours."


def is_as_good(row: Row, ours: Row) -> bool:
    """No later and no dearer, in the figures that matter to a person."""
    return row.late_ratio <= max(ours.late_ratio, ON_TIME_RATIO) and row.replica_hours <= _AS_CHEAP * ours.replica_hours

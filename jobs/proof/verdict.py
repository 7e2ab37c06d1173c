"""Whether anything simpler than us would have done as well."""

from collections.abc import Iterator

from jobs.proof.judged import OURS, YOURS, Judged, Row

ON_TIME_RATIO = 0.0005
"""So few late requests count as none."""
_AS_CHEAP = 1.01
"""Up to 1 % dearer is as cheap: nobody installs anything for less."""

_SIMPLER = (
    (YOURS, "your HPA as it is", "leave it as it is"),
    (
        "hpa_best",
        "the best plain HPA in hindsight (hpa_best)",
        "try its target{target} first: `forecaster export hpa --best` prints the patch",
    ),
    ("keda_cron_best", "the best KEDA cron in hindsight (keda_cron_best)", "`forecaster export keda-cron` prints it"),
    ("last_week", "last week's load as the floor (last_week)", "`forecaster export keda-cron` prints a timetable to begin with"),
)
"""The simplest first."""


def as_good(judged: Judged) -> Iterator[str]:
    """One sentence for the simplest policy that was no later and no dearer than our floors; none where there is no such."""
    ours = judged.rows[OURS]
    for name, what, remedy in _SIMPLER:
        row = judged.rows.get(name)
        if row is not None and is_as_good(row, ours):
            target = "" if row.target is None else f", {row.target:.0%},"
            said = remedy.format(target=target)
            yield f"On this trace {what} would have done as well: no later and no dearer than our floors; {said}."
            return


def is_as_good(row: Row, ours: Row) -> bool:
    """No later and no dearer, in the figures that matter to a person."""
    return row.late_ratio <= max(ours.late_ratio, ON_TIME_RATIO) and row.replica_hours <= _AS_CHEAP * ours.replica_hours

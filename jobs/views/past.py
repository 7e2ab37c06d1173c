"""What was decided and what was measured over a span."""

from datetime import datetime

from forecaster.decision import CycleRecord
from forecaster.errors import NothingKept
from forecaster.series import Signal
from forecaster.units import iso
from jobs.views.days import MeasuredDay, local_day, measured_days
from jobs.views.kept import Kept


def decisions(kept: Kept, since: datetime) -> tuple[CycleRecord, ...]:
    """The records since an instant, led by those in force at it. Raises NothingKept when there are none."""
    records = kept.records(since)
    if not records:
        raise NothingKept(f"{kept.workload.name}: no floor was decided by {iso(kept.now)}; run `forecaster run` first")
    return records


def load(kept: Kept, since: datetime) -> tuple[tuple[Signal, MeasuredDay], ...]:
    """Each forecast signal's local days from the one of `since` on, from the first on which something was measured.

    Raises NothingKept when nothing was.
    """
    calendar = kept.workload.calendar
    start = local_day(calendar, calendar.local(since).date()).start
    found = []
    for signal in kept.forecast_signals:
        days = measured_days(kept.history(signal, start), calendar)
        first = next((i for i, day in enumerate(days) if day.mean is not None), len(days))
        found += [(signal, day) for day in days[first:]]
    if not found:
        raise NothingKept(f"{kept.workload.name}: no load was kept between {iso(start)} and {iso(kept.now)}; run `forecaster fetch` first")
    return tuple(found)

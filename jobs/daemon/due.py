"""When a forecast is due: one interval after the last one, whoever made it."""

from datetime import datetime, timedelta

from forecaster.series import Window
from jobs.fleet import Fleet
from jobs.standing import plans_near

POLL_S = 15.0
"""The daemon looks this often whether a forecast is due: a run that was missed or could not be kept is made up for within that time."""


def last_planned(fleet: Fleet, now: datetime, span_s: float) -> datetime | None:
    """When the workload that was planned longest ago was planned; None when one has no plan of the last `span_s`. Raises StoreError."""
    oldest, at = None, Window(start=now, end=now + timedelta(seconds=1))
    for workload in (member.workload for member in fleet.members):
        plans = (
            plan for pool in workload.pools for plan in plans_near(fleet.store, workload.name, pool.name, now, span_s, last=1, span=at)
        )
        newest = max((plan.issued_at for plan in plans), default=None)
        if newest is None:
            return None
        oldest = newest if oldest is None else min(oldest, newest)
    return oldest


def is_due(last: datetime | None, changed_at: datetime | None, every_s: float, now: datetime) -> bool:
    """Whether the last forecast is missing, older than the interval, or from before the configuration changed.

    Half a poll early is in time: at the next look it would be late by the other half.
    """
    if last is None or (changed_at is not None and last < changed_at):
        return True
    return now - last >= timedelta(seconds=every_s - POLL_S / 2)

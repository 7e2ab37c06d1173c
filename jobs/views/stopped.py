"""Which half of the line no longer runs at all, by what the store kept last of the whole fleet.

An apply that runs keeps a record of every target hourly, and a forecast plans every pool: what is a few intervals old was the last run.
The interval is the configured one, or what the last runs kept where cron runs them less often.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from forecaster.ports import Store
from forecaster.series import Window
from forecaster.units import DAY_S, HOUR_S, check_instant, iso
from jobs.standing import FAR_S, NEXT, plans_near
from jobs.views.status import WorkloadStatus

SILENT_S = 2 * HOUR_S
"""A record is kept at least hourly: an applier whose last one is older has stopped."""
_INTERVALS = 3
"""One run may fail and one may come late."""
_LATELY = 3
"""Of so many last runs the shortest gap is their interval: a longer one was an outage."""
_LEFT = {
    "apply": "floors stay as they were then, and live load raises none",
    "forecast": "plans are those of then, until they expire",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A half of the line, with the last sign of it."""

    verb: Literal["apply", "forecast"]
    since: datetime
    now: datetime

    def __post_init__(self) -> None:
        check_instant("stopped.since", self.since)
        check_instant("stopped.now", self.now)

    @property
    def silent_s(self) -> float:
        """Seconds without a sign."""
        return (self.now - self.since).total_seconds()

    @property
    def sentence(self) -> str:
        """What stopped, since when, what that means and what to do."""
        silent = f"{self.silent_s / HOUR_S:.0f} h" if self.silent_s < 2 * DAY_S else f"{self.silent_s / DAY_S:.0f} d"
        remedy = f"start the daemon or the cron job again; `forecaster {self.verb}` does it once, and says why where it fails"
        return f"`forecaster {self.verb}` left nothing since {iso(self.since)}, {silent} ago, of any workload: {_LEFT[self.verb]}; {remedy}"


def stopped(store: Store, found: Sequence[WorkloadStatus], *, apply_every_s: float, forecast_every_s: float) -> tuple[Stopped, ...]:
    """The halves that ran once and no longer do, of at least one workload. Raises StoreError.

    The store is asked for earlier runs only of a half that seems to have stopped.
    """
    now, silences = found[0].now, []
    applied, planned = _applied(found), _planned(found)
    if applied is not None and _is_silent(now, applied, max(SILENT_S, _INTERVALS * apply_every_s)):
        interval_s = _interval_s(at for status in found for at in _records(store, status, applied))
        if _is_silent(now, applied, 2 * interval_s):  # of an hour where nothing changes, however often it runs: two of them are SILENT_S
            silences.append(Stopped(verb="apply", since=applied, now=now))
    if planned is not None and _is_silent(now, planned, _INTERVALS * forecast_every_s):
        issued = sorted({at for status in found for at in _plans(store, status)})
        if issued and _is_silent(now, issued[-1], _INTERVALS * max(forecast_every_s, _interval_s(issued))):
            silences.append(Stopped(verb="forecast", since=issued[-1], now=now))
    return tuple(silences)


def _is_silent(now: datetime, last: datetime, limit_s: float) -> bool:
    return (now - last).total_seconds() > limit_s


def _applied(found: Sequence[WorkloadStatus]) -> datetime | None:
    """The last sign of an apply: a record, or a target that it could not read."""
    records = [record.at for status in found for pool in status.pools for _, record in pool.targets if record is not None]
    return max((*records, *(unread.at for status in found for unread in status.unread.values())), default=None)


def _planned(found: Sequence[WorkloadStatus]) -> datetime | None:
    """When the newest plan was issued, of those that somebody may follow or judge."""
    plans = [plan for status in found for pool in status.pools for plan in (pool.in_force.plan, pool.in_force.waiting)]
    return max((plan.issued_at for plan in plans if plan is not None), default=None)


def _records(store: Store, status: WorkloadStatus, last: datetime) -> list[datetime]:
    """When records were kept over the last day of apply, and when the one before them was."""
    window = Window(start=last - timedelta(seconds=DAY_S), end=last + NEXT)
    return [record.at for record in store.records(status.workload.name, window)]


def _plans(store: Store, status: WorkloadStatus) -> list[datetime]:
    """When the last plans of each pool were issued, whatever became of them."""
    here = Window(start=status.now, end=status.now + NEXT)
    plans = (plans_near(store, status.workload.name, pool.pool, status.now, FAR_S, last=_LATELY, span=here) for pool in status.pools)
    return [plan.issued_at for of_pool in plans for plan in of_pool]


def _interval_s(runs: Iterable[datetime]) -> float:
    """The shortest gap between the last runs, 0 where there were fewer than two."""
    lately = sorted(set(runs))[-_LATELY:]
    return min(((later - earlier).total_seconds() for earlier, later in pairwise(lately)), default=0.0)

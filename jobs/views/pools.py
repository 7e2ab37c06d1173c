"""One pool before a day: the newest plan that may still be followed, against the one that it would replace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from forecaster.approval import InForce, active_approvals
from forecaster.decision import Ruling
from forecaster.plan import Plan
from forecaster.series import Signal
from forecaster.units import DAY_S
from forecaster.workload import Mode, Pool
from jobs.standing import INHERITED_BY, standing
from jobs.views.kept import Kept
from jobs.views.signals import SignalReview


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReview:
    """One pool; None = there is none, or it is not known.

    proposed: the plan that waits, else the one in force. baseline: in mode review the plan that a person approved last, else the
    plan in force. approval: that person's word. binding: the signal that asks for most replicas at tomorrow's peak.
    replica_hours: what each plan holds over the next day, as far as both reach.
    """

    pool: Pool
    in_force: InForce
    proposed: Plan | None
    baseline: Plan | None
    approval: Ruling | None
    binding: Signal | None
    peak_at: datetime | None
    floor: int | None
    floor_before: int | None
    replica_hours: float | None
    replica_hours_before: float | None

    @property
    def floor_change(self) -> int | None:
        """Replicas that the newest plan asks for at tomorrow's peak beyond the one that it would replace."""
        return self.floor - self.floor_before if self.floor is not None and self.floor_before is not None else None


def review_pool(kept: Kept, pool: Pool, signals: Sequence[SignalReview], tomorrow: date) -> PoolReview:
    """The pool's floor at tomorrow's peak, and how it differs."""
    rulings = kept.rulings()
    found, _ = standing(kept.store, kept.workload, pool.name, rulings, kept.now)
    proposed = found.waiting or found.plan
    approval = _approval(rulings, f"{kept.workload.name}/{pool.name}@", kept.now) if kept.workload.policy.mode is Mode.REVIEW else None
    approved = kept.plan(pool.name, approval.plan_id) if approval is not None and approval.plan_id is not None else None
    baseline = approved or found.plan
    peak_at, binding = _peak(proposed, signals, tomorrow)
    until = _reach((proposed, baseline), kept.now)
    return PoolReview(
        pool=pool,
        in_force=found,
        proposed=proposed,
        baseline=baseline,
        approval=approval if approved is not None else None,
        binding=binding,
        peak_at=peak_at,
        floor=_replicas_at(proposed, peak_at),
        floor_before=_replicas_at(baseline, peak_at),
        replica_hours=_replica_hours(proposed, kept.now, until),
        replica_hours_before=_replica_hours(baseline, kept.now, until),
    )


def _approval(rulings: tuple[Ruling, ...], prefix: str, now: datetime) -> Ruling | None:
    """The last approval that a person gave for a plan whose id begins so, and that still holds."""
    given = [r for r in active_approvals(rulings, now) if r.author != INHERITED_BY and (r.plan_id or "").startswith(prefix)]
    return max(given, key=lambda ruling: ruling.at, default=None)


def _peak(plan: Plan | None, signals: Sequence[SignalReview], tomorrow: date) -> tuple[datetime | None, Signal | None]:
    """When tomorrow's peak is expected, and the signal that asks for most replicas then."""
    at, signal = next(((s.tomorrow.at, s.signal) for s in signals if s.tomorrow is not None), (None, None))
    demand = plan.demand if plan is not None else None
    if demand is None:
        return at, signal
    at = next((peak.at for peak in demand.peaks if peak.day == tomorrow), at)
    i = demand.index(at) if at is not None else None
    return at, signal if i is None else demand.signals[int(demand.needs[:, i].argmax())]


def _replicas_at(plan: Plan | None, at: datetime | None) -> int | None:
    floor = plan.floor_at(at) if plan is not None and at is not None else None
    return floor.replicas if floor is not None else None


def _reach(plans: Sequence[Plan | None], now: datetime) -> datetime:
    """The end of the next day, or of the plan that ends before."""
    return min([now + timedelta(seconds=DAY_S), *(plan.floors[-1].until for plan in plans if plan is not None)])


def _replica_hours(plan: Plan | None, start: datetime, end: datetime) -> float | None:
    return None if plan is None else plan.replica_hours(start, end)

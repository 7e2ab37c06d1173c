"""How far the fleet's plan may change at once before a person is asked, even in mode `auto`."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.units import DAY_S, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Limits on one planning cycle against the plans in force; None = no limit.

    replicas_ratio: change of the fleet's planned replica-hours over the next day, as a share of those in force. workloads: how many
    pools may change by more than that share.
    """

    replicas_ratio: float | None = 0.5
    workloads: int | None = None

    def __post_init__(self) -> None:
        for name in ("replicas_ratio", "workloads"):
            value = getattr(self, name)
            if value is not None:
                check_positive(f"envelope.{name}", value, "")


PoolKey: TypeAlias = tuple[str, str]
"""Workload and pool."""


def enveloped(
    new: tuple[Plan, ...], followed: dict[PoolKey, Plan], unanswered: frozenset[PoolKey], envelope: Envelope, now: datetime
) -> tuple[Plan, ...]:
    """The new plans; those that change are held with a reason when the fleet would change beyond the envelope.

    followed: the last plan that was followed of each pool, expired or not; compared over the next day, as far as both reach.
    unanswered: the pools whose last plan was held and got no approval. A pool without a plan to compare with passes: its first plan
    starts from the floor that was found, under hold, limits and bounds. But silence is no consent: an unanswered pool without one
    stays held. Live load still raises the floor of a held plan's pool.
    """
    changes = {}
    before_total = change_total = 0.0
    for plan in new:
        old = followed.get((plan.workload, plan.pool))
        if old is not None:
            before, after = _replica_hours(old, plan, now)
            changes[plan.id] = abs(after - before) / before if before else 0.0
            before_total, change_total = before_total + before, change_total + abs(after - before)
    ratio = change_total / before_total if before_total else 0.0
    limit = envelope.replicas_ratio
    moved = sum(change > (limit or 0.0) for change in changes.values())
    broken = []
    if limit is not None and ratio > limit:
        broken.append(f"the fleet's planned replica-hours change by {ratio:.0%}, the envelope is {limit:.0%}")
    if envelope.workloads is not None and moved > envelope.workloads:
        broken.append(f"{moved} pools change at once, the envelope is {envelope.workloads}")
    return tuple(_held(plan, _why(plan, broken if changes.get(plan.id) else [], followed, unanswered)) for plan in new)


def _why(plan: Plan, broken: list[str], followed: dict[PoolKey, Plan], unanswered: frozenset[PoolKey]) -> str:
    """Why a plan is held; empty when it is not."""
    key = (plan.workload, plan.pool)
    if key not in followed and key in unanswered:
        return "the plan before it was held and nobody has approved one since"
    return " and ".join(broken)


def _held(plan: Plan, why: str) -> Plan:
    return replace(plan, held=True, reasons=(*plan.reasons, Reason(code=Code.ENVELOPE, detail=why))) if why else plan


def _replica_hours(old: Plan, new: Plan, now: datetime) -> tuple[float, float]:
    """Planned replica-hours of both over the part of the next day that both cover."""
    end = min(now + timedelta(seconds=DAY_S), old.floors[-1].until, new.floors[-1].until)
    start = max(now, old.floors[0].start, new.floors[0].start)
    return old.replica_hours(start, end), new.replica_hours(start, end)

"""Which plan is in force: the newest that may be followed, by mode, approvals, rejections and age."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.plan import Plan
from forecaster.units import WEEK_S
from forecaster.workload import Mode, Policy

STANDING_WEEKS = 4
"""How far back the last approved floor of the same weekday and time is looked for."""


class PlanState(StrEnum):
    """What can be said of the plan for an instant."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    AWAITS_APPROVAL = "awaits-approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The plan to follow (None unless fresh), the plan that waits for a person, and what holds while it waits.

    standing: the last approved floor of the same weekday and time, None when there was none in the last weeks.
    """

    state: PlanState
    plan: Plan | None
    waiting: Plan | None
    standing: int | None


def in_force(plans: tuple[Plan, ...], approved: tuple[Plan, ...], rulings: tuple[Ruling, ...], policy: Policy, now: datetime) -> InForce:
    """The plan in force at `now`.

    plans: those issued lately, oldest first. approved: those that carry an approval from the last weeks, oldest first. Mode `review`
    follows approved plans only; the others follow every plan that is not held. A rejected plan is never followed. An approval ends
    with its plan's `valid_until`, or earlier when it says so.
    """
    verdicts = _verdicts(rulings, now)
    followed = [p for p in plans if p.issued_at <= now and _may_follow(p, verdicts, policy.mode)]
    fresh = next((p for p in reversed(followed) if p.valid_until > now and p.floor_at(now) is not None), None)
    newest = next((p for p in reversed(plans) if p.issued_at <= now and verdicts.get(p.id) is not RulingKind.REJECT), None)
    waits = newest is not None and newest.valid_until > now and not _may_follow(newest, verdicts, policy.mode)
    waiting = newest if waits else None
    standing = None if fresh else _standing(approved, now)
    if fresh is not None:
        state = PlanState.FRESH
    elif waiting is not None:
        state = PlanState.AWAITS_APPROVAL
    else:
        state = PlanState.STALE if followed else PlanState.MISSING
    return InForce(state=state, plan=fresh, waiting=waiting, standing=standing)


def last_followed(plans: tuple[Plan, ...], rulings: tuple[Ruling, ...], mode: Mode, now: datetime) -> Plan | None:
    """The newest plan that could be followed when it was fresh, expired or not, as long as its floors reach beyond `now`."""
    verdicts = _verdicts(rulings, now)
    return next((p for p in reversed(plans) if p.floor_at(now) is not None and _may_follow(p, verdicts, mode)), None)


def inherited_from(plan: Plan, approved: Plan, tolerance_ratio: float, now: datetime) -> bool:
    """Whether a newer plan stays within the tolerance of an approved one until that one ends; one replica is always tolerated."""
    end = min(approved.valid_until, plan.valid_until)
    moments = {f.start for f in (*plan.floors, *approved.floors) if now < f.start < end} | {now}
    for moment in moments:
        ours, theirs = plan.floor_at(moment), approved.floor_at(moment)
        if ours is None or theirs is None:
            return False
        if abs(ours.replicas - theirs.replicas) > max(1.0, tolerance_ratio * theirs.replicas):
            return False
    return end > now


def active(rulings: tuple[Ruling, ...], kind: RulingKind, ended_by: RulingKind, now: datetime) -> Ruling | None:
    """The ruling of a kind that holds at `now`: the last one given, unless it ended or was taken back."""
    last = next((r for r in reversed(rulings) if r.kind in {kind, ended_by} and r.at <= now), None)
    return last if last is not None and last.kind is kind and (last.until is None or now < last.until) else None


def paused_by(rulings: tuple[Ruling, ...], now: datetime) -> Paused | None:
    """The pause that a person ordered, if one holds."""
    ruling = active(rulings, RulingKind.PAUSE, RulingKind.RESUME, now)
    return ruling.paused if ruling is not None else None


def override_of(rulings: tuple[Ruling, ...], now: datetime) -> Ruling | None:
    """The override that holds, if one does."""
    return active(rulings, RulingKind.OVERRIDE, RulingKind.CLEAR, now)


def active_approvals(rulings: tuple[Ruling, ...], now: datetime) -> tuple[Ruling, ...]:
    """The approvals that hold at `now`: the last word on their plan, and not ended."""
    last = {r.plan_id: r for r in rulings if r.plan_id is not None and r.at <= now}
    return tuple(r for r in last.values() if r.kind is RulingKind.APPROVE and (r.until is None or now < r.until))


def _verdicts(rulings: tuple[Ruling, ...], now: datetime) -> dict[str, RulingKind]:
    """The last word on each plan; an approval that has ended is no word."""
    verdicts: dict[str, RulingKind] = {}
    for ruling in rulings:
        if ruling.plan_id is None or ruling.at > now:
            continue
        if ruling.until is None or now < ruling.until:
            verdicts[ruling.plan_id] = ruling.kind
    return verdicts


def _may_follow(plan: Plan, verdicts: dict[str, RulingKind], mode: Mode) -> bool:
    match verdicts.get(plan.id):
        case RulingKind.REJECT:
            return False
        case RulingKind.APPROVE:
            return True
        case _:
            return mode is not Mode.REVIEW and not plan.held


def same_time_of_week(now: datetime) -> tuple[datetime, ...]:
    """The same weekday and time of the last weeks, the newest first."""
    return tuple(now - timedelta(seconds=weeks * WEEK_S) for weeks in range(1, STANDING_WEEKS + 1))


def _standing(approved: tuple[Plan, ...], now: datetime) -> int | None:
    for moment in same_time_of_week(now):
        for plan in reversed(approved):
            floor = plan.floor_at(moment)
            if floor is not None and plan.issued_at <= moment < plan.valid_until:
                return floor.replicas
    return None

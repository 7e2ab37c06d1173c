"""The last word before a write: what may be followed, in what order, and how fast.

Order, each step outranked by the ones above it: bounds; pause; a person's override; load unknown -> the largest of last floor,
fallback and plan; plan missing, stale or waiting -> the largest of fallback and live need; else the plan, corrected. Configured windows
are a floor under all of them. Then `hold_when`, hold, the dead band and the step limits slow the way; then come the budget of GPUs and the
bounds.

The dead band keeps a floor that is one above the need rounded up while the need is within a tenth of a replica of asking for it, for an
hour from when that floor was first set:

| need             | floor before | floor | since                                                                    |
|------------------|--------------|-------|--------------------------------------------------------------------------|
| 5.97 -> 6.03     | 6            | 7     | a raise is never delayed                                                 |
| 6.03 -> 5.97     | 7            | 7     | jitter around a whole number moves a floor up once and not down again    |
| 6.03 -> 5.85     | 7            | 6     | that is no jitter                                                        |
| 9.40 -> 5.97     | 10           | 6     | nor is that                                                              |
| 0.03 -> 0        | 1            | 0     | nothing at all is not nearly something                                   |

It costs one replica for the time that a need rests within that tenth below a whole number after it came from there, an hour at most each
time. Over the packaged Azure week: .006 % of the replica-hours with the default hold, which catches most jitter by itself.
"""

import math
from datetime import datetime, timedelta

import numpy as np

from forecaster.approval import PlanState, override_of, paused_by
from forecaster.capacity import HOW_TO_TELL
from forecaster.case import Case
from forecaster.contention import beside_writer, let_go
from forecaster.decision import Action, Decision, Paused, Seen
from forecaster.pending import beside_pending
from forecaster.plan import window_floor
from forecaster.reasons import Code, Reason
from forecaster.series import Window
from forecaster.units import HOUR_S, MINUTE_S, ceil_to, iso, spell_number, whole_replicas
from forecaster.workload import Policy


def guard(case: Case) -> Decision:
    """The decision for one target: never without a reason, always inside the bounds when it sets a floor."""
    paused = case.seen.paused or paused_by(case.rulings, case.now)
    if paused is not None:
        return _paused(case, paused)
    wanted, reasons = _wanted(case)
    for step in (_ahead, _stand_in, _in_ratio):
        wanted, more = step(case, wanted)
        reasons += more
    floor = wanted
    for step in (beside_writer, _hold_when, _hold, _dead_band, _step_limits, _within_budget, _bounds):
        floor, more = step(case, floor)
        reasons += more
    gone = let_go(case, floor)
    if gone is not None:
        said = (reason for reason in reasons if reason.code is not Code.REASSERTED)  # it is not
        return _decision(case, Action.LEAVE, case.seen.floor, case.now, (*said, gone), wanted=wanted)
    late = case.overdue
    if late is not None:
        reasons.append(Reason(code=Code.OVERDUE, detail=late.told))
    since = case.recent[-1].since if case.recent and case.recent[-1].floor == floor else case.now
    return _decision(case, Action.SET, floor, since, tuple(reasons), wanted=wanted)


def bounds_of(policy: Policy, seen: Seen) -> tuple[int, int | None]:
    """The least and the largest floor for a target, None = no ceiling. Where the two cross, the ceiling wins.

    Neither bound goes below the value found at adoption unless that is allowed; the object's own ceiling may.
    """
    least = seen.original if policy.minimum is None else policy.minimum
    maximum = policy.maximum
    if not policy.allow_below_original:
        least = max(least, seen.original)
        maximum = maximum if maximum is None else max(maximum, seen.original)
    ceilings = [bound for bound in (maximum, seen.ceiling) if bound is not None]
    return least, min(ceilings, default=None)


def _paused(case: Case, paused: Paused) -> Decision:
    by = case.seen.paused_by or ("an annotation on the object" if case.seen.paused is not None else "a person")
    match paused:
        case Paused.HOLD:
            detail = f"paused by {by}: the object stays as it is at {case.seen.floor}"
            reasons = (Reason(code=Code.PAUSED, detail=detail, after=case.seen.floor),)
            return _decision(case, Action.LEAVE, case.seen.floor, case.now, reasons)
        case Paused.RELEASE:
            detail = f"released by {by}: the original minimum of {case.seen.original} is put back"
            reasons = (Reason(code=Code.RELEASED, detail=detail, before=case.seen.floor, after=case.seen.original),)
            return _decision(case, Action.RELEASE, case.seen.original, case.now, reasons)


def _decision(
    case: Case, action: Action, floor: int, since: datetime, reasons: tuple[Reason, ...], *, wanted: int | None = None
) -> Decision:
    plan = case.in_force.plan
    return Decision(
        at=case.now,
        workload=case.workload,
        pool=case.pool,
        target=case.seen.target,
        action=action,
        floor=floor,
        wanted=floor if wanted is None else wanted,
        last=case.recent[-1].floor if case.recent else None,
        since=since,
        # without a plan the floor is renewed by the hour, so that it outlives us by one to two
        valid_until=plan.valid_until if plan is not None else ceil_to(case.now, HOUR_S) + timedelta(seconds=HOUR_S),
        plan_id=plan.id if plan is not None else None,
        reasons=reasons,
    )


def _wanted(case: Case) -> tuple[int, list[Reason]]:
    """The floor that is asked for before anything slows or bounds it."""
    correction, state, look = case.correction, case.in_force.state, case.correction.look
    override = override_of(case.rulings, case.now)
    if override is not None and override.replicas is not None:
        detail = (
            f"{override.author} set {override.replicas} until {iso(override.until) if override.until else 'cleared'}: {override.reason}"
        )
        return _at_least_live(case, override.replicas, Reason(code=Code.OVERRIDDEN, detail=detail, after=override.replicas))
    if not look.known:
        asked = max(case.last, case.fallback, correction.floor, _window(case))
        if not case.sizable:
            detail = f"pool {case.pool} has no capacity for its load: the floor is held at {asked}; {HOW_TO_TELL}"
            return asked, [Reason(code=Code.NO_CAPACITY, detail=detail, after=asked)]
        what = f"{', '.join(look.unknown)} unknown" if look.unknown else "no load signal is measured"
        known = (
            f"the last floor {case.last}" if correction.planned is None else f"the last floor {case.last}, the plan's {correction.floor}"
        )
        detail = f"{what}: at least {known} and the fallback {case.fallback}"
        reasons = [Reason(code=Code.LOAD_UNKNOWN, detail=detail, before=correction.floor, after=asked)]
        return asked, reasons if state is PlanState.FRESH else [*reasons, _without_plan(case, asked)]
    if state is not PlanState.FRESH:
        standing = max(case.fallback, case.in_force.standing or 0, _window(case))
        if state is PlanState.AWAITS_APPROVAL:
            standing = max(standing, case.seen.original)
        return _at_least_live(case, standing, _without_plan(case, standing))
    opened = _window(case)
    if opened > correction.floor:
        detail = f"a configured window asks for {opened}"
        return opened, [*correction.reasons, Reason(code=Code.WINDOW_BINDS, detail=detail, before=correction.floor, after=opened)]
    return beside_pending(case, opened)


def _at_least_live(case: Case, floor: int, reason: Reason) -> tuple[int, list[Reason]]:
    """A floor that does not come from a plan, raised by live load."""
    need = case.correction.look.need
    if need is None or need <= floor:
        return floor, [reason]
    return need, [reason, Reason(code=Code.LIVE_ABOVE_PLAN, detail=f"live load needs {need}", before=floor, after=need)]


def _without_plan(case: Case, floor: int) -> Reason:
    """Why no plan is followed."""
    match case.in_force.state:
        case PlanState.AWAITS_APPROVAL:
            waiting = case.in_force.waiting.id if case.in_force.waiting is not None else "a plan"
            return Reason(code=Code.AWAITS_APPROVAL, detail=f"{waiting} awaits approval: floor {floor} until then", after=floor)
        case PlanState.STALE:
            return Reason(code=Code.PLAN_STALE, detail=f"the last plan has expired: fallback {case.fallback}", after=floor)
        case _:
            return Reason(code=Code.PLAN_MISSING, detail=f"there is no plan to follow: fallback {case.fallback}", after=floor)


def _window(case: Case) -> int:
    return window_floor(case.policy.windows, case.now)


def _ahead(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """Nodes are asked for earlier than the replicas on them: what the plan says ahead, as far off as live load puts it off now."""
    plan, planned = case.in_force.plan, case.correction.planned
    if case.ahead_s == 0 or plan is None or planned is None or case.in_force.state is not PlanState.FRESH:
        return floor, []
    end = case.now + timedelta(seconds=case.ahead_s)
    coming = max(f.replicas for f in plan.within(Window(start=case.now, end=end)).floors)
    asked = coming + min(case.correction.floor - planned.replicas, 0)
    if asked <= floor or override_of(case.rulings, case.now) is not None:
        return floor, []
    detail = f"nodes for {asked} replicas are asked for {case.ahead_s / MINUTE_S:g} min before them"
    return asked, [Reason(code=Code.NODES_AHEAD, detail=detail, before=floor, after=asked)]


def _stand_in(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """What another pool was asked for in time and does not get."""
    if case.stands_in is None:
        return floor, []
    asked = floor + case.stands_in.replicas
    return asked, [Reason(code=Code.STANDS_IN, detail=case.stands_in.told, before=floor, after=asked)]


def _in_ratio(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """What the pool of the other role asks for by itself needs so many of this one beside it. A person's word stands."""
    if case.beside is None or override_of(case.rulings, case.now) is not None or (asked := case.beside.raised(floor)) <= floor:
        return floor, []
    return asked, [Reason(code=Code.ROLE_RATIO, detail=case.beside.told, before=floor, after=asked)]


def _hold_when(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """Conditions block lowering only, and expire by themselves: one that has held for its whole span is taken for stuck."""
    reasons = []
    for name, series in case.conditions:
        holds = np.isnan(series.mean) | (series.mean != 0)
        if floor >= case.last or holds.size == 0 or not holds[-1]:
            continue
        if holds.all():
            detail = f"{name} has held for {case.policy.hold_when_expiry_s / MINUTE_S:g} min and is taken for stuck"
            reasons.append(Reason(code=Code.HOLD_WHEN_EXPIRED, detail=detail))
            continue
        reasons.append(Reason(code=Code.HOLD_WHEN, detail=f"{name} holds: no lowering", before=floor, after=case.last))
        floor = case.last
    return floor, reasons


def _hold(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """A floor is lowered when nothing has asked for it during `hold_s`: the highest that stood and was wanted within that span.

    A person's override is obeyed and taken back at once: it neither waits for a hold nor holds anything itself.
    """
    if override_of(case.rulings, case.now) is not None:
        return floor, []
    held = max((min(d.wanted, d.floor) for d in case.recent if not _overridden(d)), default=floor)
    if held <= floor or case.policy.hold_s == 0:
        return floor, []
    detail = f"{held} stays until nothing has asked for it for {case.policy.hold_s / MINUTE_S:g} min"
    return held, [Reason(code=Code.HOLD, detail=detail, before=floor, after=held)]


_DEAD_BAND, _DEAD_BAND_S = 0.1, 1 * HOUR_S
"""Replicas, of which half catches a third of the jitter and twice costs twice as much; a need that rests is no jitter after an hour."""


def _dead_band(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """A floor of ours one above the need is kept while the need is within the band of asking for it; no raise is ever held."""
    correction = case.correction
    if floor != correction.floor or floor == 0 or not case.recent or case.last != floor + 1:
        return floor, []
    stands_s = (case.now - case.recent[-1].since).total_seconds()
    if stands_s >= _DEAD_BAND_S or whole_replicas(correction.need + _DEAD_BAND) != case.last:
        return floor, []
    if case.in_force.state is not PlanState.FRESH or override_of(case.rulings, case.now) is not None:
        return floor, []
    detail = f"{spell_number(correction.need)} are needed, too close to more than {floor} for a lowering"
    return case.last, [Reason(code=Code.DEAD_BAND, detail=detail, before=floor, after=case.last)]


def _overridden(decision: Decision) -> bool:
    return any(reason.code is Code.OVERRIDDEN for reason in decision.reasons)


_UNUSED_MIN = 5.0
"""So much of a quota that was not used is kept: as long as between two runs of a crontab, and no jump after a quiet night."""


def _step_limits(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """At most so many replicas a minute since the floor last moved, and of at most five minutes; at adoption as after one minute."""
    policy, last = case.policy, case.last
    minutes = (case.now - case.recent[-1].since).total_seconds() / MINUTE_S if case.recent else 1.0
    if policy.raise_per_min is not None and floor > (most := last + _quota(policy.raise_per_min, minutes)):
        detail = f"raised by at most {policy.raise_per_min:g} replicas/min"
        return most, [Reason(code=Code.RAISE_LIMITED, detail=detail, before=floor, after=most)]
    if policy.lower_per_min is not None and floor < (least := last - _quota(policy.lower_per_min, minutes)):
        detail = f"lowered by at most {policy.lower_per_min:g} replicas/min"
        return least, [Reason(code=Code.LOWER_LIMITED, detail=detail, before=floor, after=least)]
    return floor, []


def _quota(per_min: float, minutes: float) -> int:
    """Whole replicas that a limit leaves after so many minutes; at least one once it has been earned, however slowly."""
    return math.floor(per_min * min(minutes, max(_UNUSED_MIN, 1 / per_min)) + 1e-9)


def _within_budget(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """No more than is left of GPUs that are shared. A person's word stands, and an unknown load is no reason to lower.

    Nodes are asked for ahead of what their plan has of the budget later.
    """
    if case.room is None or override_of(case.rulings, case.now) is not None:
        return floor, []
    most = case.room.most if case.correction.look.known else max(case.room.most, min(case.last, floor))
    plan, planned = case.in_force.plan, case.correction.planned
    if case.ahead_s > 0 and plan is not None and planned is not None:
        end = case.now + timedelta(seconds=case.ahead_s)
        most = max(most, *(f.replicas for f in plan.within(Window(start=case.now, end=end)).floors))
    if floor <= most:
        return floor, []
    return most, [Reason(code=Code.BUDGET_BINDS, detail=case.room.told(floor), before=floor, after=most)]


def _bounds(case: Case, floor: int) -> tuple[int, list[Reason]]:
    least, most = bounds_of(case.policy, case.seen)
    reasons = []
    if floor < least:
        reasons.append(Reason(code=Code.MIN_BINDS, detail=f"min is {least}", before=floor, after=least))
        floor = least
    if most is None or floor <= most:
        return floor, reasons
    own = case.seen.ceiling is not None and case.seen.ceiling == most != case.policy.maximum
    code, whose = (Code.CEILING_BELOW_FLOOR, "the target's own ceiling") if own else (Code.MAX_BINDS, "max")
    reasons.append(Reason(code=code, detail=f"{whose} is {most}, {floor} were asked for", before=floor, after=most))
    return most, reasons

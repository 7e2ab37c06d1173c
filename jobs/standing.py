"""What the store knows of plans and people's words, read as the core wants it; shared by both halves of the line and by views."""

from datetime import datetime, timedelta

from forecaster.approval import InForce, PlanState, active_approvals, in_force, inherited_from, same_time_of_week
from forecaster.decision import Ruling, RulingKind
from forecaster.errors import PlanUnknown
from forecaster.plan import Plan, is_plan_of, issued_at_of
from forecaster.ports import Store
from forecaster.series import Window
from forecaster.units import DAY_S, HOUR_S, from_epoch_s
from forecaster.workload import Mode, Workload

NEAR_S = 6 * HOUR_S
"""Plans this young are read at every tick."""
FAR_S = 14 * DAY_S
"""The longest horizon that a plan can have."""
INHERITED_BY = "forecaster"
"""The author of approvals that were inherited."""
NEXT = timedelta(microseconds=1)
"""No instant lies between two of these: a window that ends so far after one holds it."""
EVER = from_epoch_s(0)
_TICK = timedelta(seconds=1)  # plans are named by the second


def plans_near(
    store: Store, workload: str, pool: str, now: datetime, span_s: float = NEAR_S, *, last: int | None = None, span: Window | None = None
) -> tuple[Plan, ...]:
    """The plans issued over the last `span_s` up to and including `now`, oldest first. last, span: as `Store.plans` has them."""
    return store.plans(workload, pool, Window(start=now - timedelta(seconds=span_s), end=now + NEXT), last=last, span=span)


def plans_named(store: Store, workload: str, pool: str, plan_id: str) -> tuple[Plan, ...]:
    """The plan of an id, where it is one of that pool and is kept: the instant of its issue, to the second, is the id's last part."""
    if not is_plan_of(plan_id, workload, pool):
        return ()
    issued_at = issued_at_of(plan_id)
    return tuple(p for p in store.plans(workload, pool, Window(start=issued_at, end=issued_at + _TICK)) if p.id == plan_id)


def rulings_of(store: Store, workload: str, now: datetime) -> tuple[Ruling, ...]:
    """Every person's word on a workload up to and including `now`, oldest first: a pause has no end until it is taken back."""
    return store.rulings(workload, Window(start=EVER, end=now + NEXT))


def standing(
    store: Store,
    workload: Workload,
    pool: str,
    rulings: tuple[Ruling, ...],
    now: datetime,
    *,
    near: tuple[Plan, ...] | None = None,
    span: Window | None = None,
) -> tuple[InForce, tuple[Plan, ...]]:
    """The plan in force for a pool, and the plans of the last hours that correction compares with, oldest first.

    near: the plans of the last NEAR_S where they were read already. span: the floors that are asked for, None = all.

    Plans of the last hours are read at every tick. Older ones only while none of these may be followed: an approved one by its id,
    and in other modes than review those of two expiries, since a plan older than one is stale and one older than two forgotten.
    """
    policy = workload.policy
    near = plans_near(store, workload.name, pool, now, span=span) if near is None else near
    found = in_force(near, (), rulings, policy, now)
    if found.state is PlanState.FRESH:
        return found, near
    approved = tuple(plan for moment in (now, *same_time_of_week(now)) for plan in _approved_before(store, workload, pool, rulings, moment))
    older = approved if policy.mode is Mode.REVIEW else plans_near(store, workload.name, pool, now, 2 * policy.expiry_s, span=span)
    plans = tuple(sorted({plan.id: plan for plan in (*older, *near)}.values(), key=lambda plan: plan.issued_at))
    return in_force(plans, approved, rulings, policy, now), plans


def _approved_before(store: Store, workload: Workload, pool: str, rulings: tuple[Ruling, ...], moment: datetime) -> tuple[Plan, ...]:
    """The newest approved plan that could be in force at a moment; one read of one plan."""
    ids = {
        r.plan_id for r in rulings if r.kind is RulingKind.APPROVE and r.plan_id is not None and is_plan_of(r.plan_id, workload.name, pool)
    }
    since = moment - timedelta(seconds=workload.policy.expiry_s)
    issued = max((at for at in map(issued_at_of, ids) if since < at <= moment), default=None)
    if issued is None:
        return ()
    return tuple(plan for plan in store.plans(workload.name, pool, Window(start=issued, end=issued + _TICK)) if plan.id in ids)


def inherit_approvals(store: Store, workload: Workload, plans: tuple[Plan, ...], now: datetime) -> tuple[Plan, ...]:
    """Append an approval for each plan close enough to one that a person approved and that still holds; the plans left waiting.

    The inherited approval ends with the person's, so that plans cannot creep away from what somebody looked at.
    """
    waiting = []
    asked = [plan for plan in plans if workload.policy.mode is Mode.REVIEW or plan.held]
    rulings = rulings_of(store, workload.name, now) if asked else ()
    for plan in asked:
        verdicts = {r.plan_id for r in rulings if r.kind in {RulingKind.APPROVE, RulingKind.REJECT}}
        if plan.id in verdicts:
            continue
        root = _root(store, workload, plan, rulings, now)
        if root is None:
            waiting.append(plan)
            continue
        approved, ruling = root
        detail = f"within {workload.policy.review_tolerance_ratio:.0%} of {approved.id}, approved by {ruling.author}"
        inherited = Ruling(
            at=now,
            workload=workload.name,
            kind=RulingKind.APPROVE,
            author=INHERITED_BY,
            reason=detail,
            until=min(approved.valid_until, ruling.until or approved.valid_until),
            plan_id=plan.id,
        )
        store.append_ruling(inherited)
    return tuple(waiting)


def _root(store: Store, workload: Workload, plan: Plan, rulings: tuple[Ruling, ...], now: datetime) -> tuple[Plan, Ruling] | None:
    """The newest plan that a person approved, still valid, which this one is close enough to."""
    by_people = {r.plan_id: r for r in active_approvals(rulings, now) if r.author != INHERITED_BY and r.plan_id is not None}
    tolerance = workload.policy.review_tolerance_ratio
    for plan_id in sorted(by_people, key=issued_at_of, reverse=True):
        for old in plans_named(store, workload.name, plan.pool, plan_id):
            if now - timedelta(seconds=FAR_S) <= old.issued_at <= now < old.valid_until and inherited_from(plan, old, tolerance, now):
                return old, by_people[plan_id]
    return None


def judged_plans(store: Store, workload: Workload, plan_id: str | None, now: datetime) -> tuple[Plan, ...]:
    """The plan of that id, or the newest waiting one of each pool. Raises PlanUnknown when there is none to judge."""
    rulings = rulings_of(store, workload.name, now)
    if plan_id is None:
        states = [in_force(plans_near(store, workload.name, p.name, now, FAR_S), (), rulings, workload.policy, now) for p in workload.pools]
        found = tuple(state.waiting for state in states if state.waiting is not None)
        if not found:
            raise PlanUnknown(f"{workload.name}: no plan awaits approval; `forecaster review {workload.name}` shows what is in force")
        return found
    named = [plan for p in workload.pools for plan in plans_near(store, workload.name, p.name, now, FAR_S) if plan.id == plan_id]
    if not named:
        raise PlanUnknown(
            f"{workload.name}: there is no plan {plan_id!r} of the last two weeks; `forecaster review {workload.name}` names them"
        )
    return tuple(named)

"""The last steps of the first half: demand and plan of every pool, held where they change the fleet too much, or approved."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from forecaster.always_on import always_on_plan, sized
from forecaster.approval import last_followed
from forecaster.balance import balanced, unbalanced
from forecaster.belief import believed_plan
from forecaster.decision import Ruling
from forecaster.envelope import Move, beyond, held, move
from forecaster.event_effects import with_events
from forecaster.events import Event
from forecaster.forecast import Forecast
from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.series import FORECAST_SIGNALS, LOAD_SIGNALS, Window
from forecaster.spot import away
from forecaster.units import DAY_S
from forecaster.workload import Mode, Pool
from jobs.budget import within_budgets
from jobs.bulk import in_troughs
from jobs.capacity.known import stale, without_capacity
from jobs.draft import Draft, walled
from jobs.failure import Failure
from jobs.fleet import Fleet
from jobs.levels import at_its_level
from jobs.standing import NEAR_S, inherit_approvals, plans_near, rulings_of

_AT_ONCE = 250


def recall(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """The newest forecasts of one instant that the store has and that still speak of `now`."""
    span = Window(start=now - timedelta(seconds=fleet.horizon_s), end=now + timedelta(seconds=1))
    kept = [f for s in FORECAST_SIGNALS for f in fleet.store.forecasts(draft.name, s, span) if f.issued_at <= now < f.end]
    newest = max((f.issued_at for f in kept), default=None)
    if newest is None:
        missing = Failure(
            verb="plan", error=Code.PLAN_MISSING, sentence="there is no forecast to plan from; run `forecaster forecast` first"
        )
        return replace(draft, failures=(missing,))
    return replace(draft, forecasts=tuple(f for f in kept if f.issued_at == newest))


def foresee(draft: Draft, events: tuple[Event, ...]) -> Draft:
    """The draft's forecasts with the events that its workload will feel: those that are kept in the store have none."""
    forecasts, believed = (tuple(with_events(f, draft.name, events) for f in each) for each in (draft.forecasts, draft.believed))
    return replace(draft, forecasts=forecasts, believed=believed)


def plan_pools(draft: Draft, now: datetime) -> Draft:
    """Demand and plan of every pool that a forecast and a capacity speak of; a pool without is reported, never guessed."""
    plans, failures = [], []
    workload = draft.member.workload
    forecasts = draft.believed or tuple(f for f in draft.forecasts if f.signal in LOAD_SIGNALS)
    serving = [pool for pool in workload.pools if pool.bulk is None]
    for pool in serving if forecasts else ():
        made = _pool_plan(draft, pool, forecasts, now)
        if made is None:
            signals = ", ".join(f.signal for f in forecasts)
            failures.append(Failure(verb="plan", error=Code.NO_CAPACITY, sentence=without_capacity(draft.member, pool, signals)))
        else:
            told = {note: None for forecast in forecasts for note in forecast.notes if note.code is Code.EVENT}
            late = pool.lead_time.widened
            widened = (Reason(code=Code.LEAD_TIME_WIDENED, detail=f"lead time {pool.lead_time.told}"),) if late else ()
            lost = away(pool)
            spot = () if lost is None else (lost.reason,)
            plans.append(replace(made, reasons=(*made.reasons, *told, *widened, *spot, *pool.caches.reasons, *stale(draft.member, pool))))
    in_ratio = balanced(plans, workload.roles, workload.policy.maximum)
    return replace(draft, plans=in_ratio, failures=(*draft.failures, *failures))


def _pool_plan(draft: Draft, pool: Pool, forecasts: tuple[Forecast, ...], now: datetime) -> Plan | None:
    """The plan of one pool; None when no forecast signal has a capacity. One that is always on needs none."""
    leveled, chosen = at_its_level(draft.member, pool)
    made = believed_plan(forecasts, draft.trusts, leveled, sized(leveled, pool), now)
    if pool.always_on:
        span = Window(start=forecasts[0].start, end=forecasts[0].end)
        return always_on_plan(leveled, pool, span, now, None if made is None else made.demand)
    return None if made is None else replace(made, reasons=(*made.reasons, *chosen))


def planned(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """A plan of every pool, and how far each moves from the one that was followed."""
    return with_moves(fleet, plan_pools(draft, now), now)


def with_moves(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """The draft with how far each of its plans moves from the one that was followed. Raises StoreError."""
    rulings, mode = rulings_of(fleet.store, draft.name, now), draft.member.workload.policy.mode
    return replace(draft, moves=tuple(_move(fleet, plan, rulings, mode, now) for plan in draft.plans))


def budgeted(fleet: Fleet, drafts: Sequence[Draft], now: datetime) -> tuple[Draft, ...]:
    """The drafts of the whole fleet within its budgets of GPUs, before any of them is kept. Raises StoreError."""
    compared = partial(with_moves, fleet, now=now)
    within = in_troughs(fleet, within_budgets(fleet, drafts, compared, now), compared, now)
    return tuple(replace(draft, plans=unbalanced(draft.plans, draft.member.workload.roles, now)) for draft in within)


def settle(fleet: Fleet, drafts: Sequence[Draft], now: datetime) -> Iterator[Draft]:
    """Hold the plans that change the fleet too much, keep them, and let them inherit approvals. Raises StoreError.

    Some hundred at a time, since their bytes are as large again.
    """
    why = iter(beyond([move for draft in drafts for move in draft.moves], fleet.envelope))
    for first in range(0, len(drafts), _AT_ONCE):
        some = drafts[first : first + _AT_ONCE]
        judged = [replace(draft, plans=tuple(held(plan, next(why)) for plan in draft.plans)) for draft in some]
        fleet.store.append_plans([plan for draft in judged for plan in draft.plans])
        for draft in judged:
            yield walled(partial(_approve, fleet, now=now), draft)


def _move(fleet: Fleet, made: Plan, rulings: tuple[Ruling, ...], mode: Mode, now: datetime) -> Move:
    """From the last plan of the pool that was followed; older ones are read only while none of the newer was."""
    day = Window(start=now, end=now + timedelta(seconds=DAY_S))
    old: Plan | None = None
    earlier: tuple[Plan, ...] = ()
    for span_s, last in ((NEAR_S, 1), (NEAR_S, None), (fleet.horizon_s, None)):
        found = plans_near(fleet.store, made.workload, made.pool, now, span_s, last=last, span=day)
        earlier = tuple(plan for plan in found if plan.id != made.id)
        old = last_followed(earlier, rulings, mode, now)
        if old is not None:
            break
    return move(old, made, now, unanswered=bool(earlier) and earlier[-1].held)


def _approve(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """Let plans inherit a person's approval where they are close enough; the others wait for one and say so."""
    waiting = inherit_approvals(fleet.store, draft.member.workload, draft.plans, now)
    return replace(draft, waiting=waiting)

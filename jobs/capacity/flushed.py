"""Tomorrow with every cache empty beside tomorrow as it is planned, and the hour at which a flush costs least. Nothing is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from forecaster.budget import Budget
from forecaster.caches import Hits
from forecaster.plan import Plan
from forecaster.series import LOAD_SIGNALS, Window
from forecaster.units import DAY_S, HOUR_S
from forecaster.workload import Pool, Workload
from jobs.caches import relieved, usual_hits
from jobs.draft import Draft
from jobs.events import known_events
from jobs.fleet import Fleet, Member
from jobs.levels import with_points
from jobs.plan import foresee, plan_pools, recall
from jobs.trusting import believe


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """Floors over a day, in replicas: the least, the most, and since when that is."""

    least: int
    most: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Cold:
    """One pool tomorrow: its floors as they are planned, and as they would be with every cache empty all day.

    emptied: whatever the policy's maximum. more: the most replicas that this adds at any time. more_then: the same for a flush in the best
    hour. cut: what of the emptied floors is not to be had, in words, empty where all is.
    """

    pool: str
    planned: Floors
    emptied: Floors
    more: int
    more_then: int
    cut: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """What a flush does to one workload tomorrow. best: when it adds least to all of its pools together, None = nothing is known.

    factor: the load that is left for the engines then over what is left as planned, in the pool and signal that feel it most. doubt: what
    keeps it from being known.
    """

    workload: str
    day: date
    pools: tuple[Cold, ...] = ()
    best: Window | None = None
    factor: float = 1.0
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two plans of one pool, as it is planned and with its caches empty."""

    pool: Pool
    planned: Plan
    emptied: Plan

    def more(self, span: Window) -> int:
        """The most replicas that the second has over the first at any time of a span."""
        starts = (floor.start for plan in (self.planned, self.emptied) for floor in plan.floors if floor.start in span)
        return max(_replicas(self.emptied, at) - _replicas(self.planned, at) for at in {span.start, *starts})


def flush(fleet: Fleet, member: Member, refill_s: float, now: datetime) -> Flush:
    """What it does to a workload that has a cache. refill_s: how long caches take to fill again. Raises StoreError."""
    (member,) = with_points(fleet.store, [member], now)
    day, window = _tomorrow(member, now)
    nothing = Flush(workload=member.workload.name, day=day)
    draft = relieved(fleet, recall(fleet, Draft(member=member), now), now)
    if not draft.forecasts:
        return replace(nothing, doubt=draft.failures[0].sentence)
    usual = usual_hits(fleet, member, now)
    if usual == Hits():
        return replace(nothing, doubt="its hits were measured for less than a day: nothing comes off for them that a flush could take away")
    draft = foresee(believe(fleet, draft, now), known_events(fleet, now))
    gone = _emptied(draft.member.workload, usual)
    pairs = tuple(_pairs(draft, gone, now))
    if not pairs or any(pair.planned.floors[-1].until < window.end for pair in pairs):
        return replace(nothing, doubt=_unplanned(pairs))
    best = _best(pairs, window, refill_s)
    pools = tuple(_cold(pair, window, best, fleet.budgets, member.workload.policy.maximum) for pair in pairs)
    return replace(nothing, pools=pools, best=best, factor=_factor(draft.member.workload, gone))


def _pairs(draft: Draft, gone: Workload, now: datetime) -> Iterator[_Pair]:
    """The plans of every pool that can be planned."""
    unbounded = replace(gone, policy=replace(gone.policy, maximum=None))
    emptied = {plan.pool: plan for plan in plan_pools(replace(draft, member=replace(draft.member, workload=unbounded)), now).plans}
    pools = {pool.name: pool for pool in gone.serving}
    for plan in plan_pools(draft, now).plans:
        if plan.pool in emptied and plan.pool in pools:
            yield _Pair(pool=pools[plan.pool], planned=plan, emptied=emptied[plan.pool])


def _best(pairs: Sequence[_Pair], window: Window, refill_s: float) -> Window:
    """The hour from which on a flush adds the fewest replicas until caches are full again; of equal ones that with the lowest floors."""
    last = min(window.end - timedelta(seconds=1), *(pair.planned.floors[-1].until - timedelta(seconds=refill_s) for pair in pairs))
    hours = (window.start + timedelta(hours=hour) for hour in range(int(window.length_s // HOUR_S)))
    spans = [Window(start=hour, end=hour + timedelta(seconds=refill_s)) for hour in hours if hour <= last]
    return min(spans, key=lambda span: (sum(pair.more(span) for pair in pairs), sum(_replicas(pair.emptied, span.start) for pair in pairs)))


def _cold(pair: _Pair, window: Window, best: Window, budgets: Sequence[Budget], maximum: int | None) -> Cold:
    emptied = _floors(pair.emptied, window)
    return Cold(
        pool=pair.pool.name,
        planned=_floors(pair.planned, window),
        emptied=emptied,
        more=pair.more(window),
        more_then=pair.more(best),
        cut="; ".join(_cuts(pair.pool, emptied.most, budgets, maximum)),
    )


def _cuts(pool: Pool, most: int, budgets: Sequence[Budget], maximum: int | None) -> Iterator[str]:
    if maximum is not None and most > maximum:
        yield f"max is {maximum}"
    for budget in budgets:
        if pool.claim is not None and pool.claim.budget == budget.name and most * pool.claim.gpus_per_replica > budget.gpus:
            yield f"{most * pool.claim.gpus_per_replica} GPUs, {budget.gpus} in budget {budget.name}"


def _floors(plan: Plan, window: Window) -> Floors:
    inside = plan.within(window).floors
    largest = max(inside, key=lambda floor: floor.replicas)
    return Floors(least=min(floor.replicas for floor in inside), most=largest.replicas, at=max(largest.start, window.start))


def _replicas(plan: Plan, at: datetime) -> int:
    floor = plan.floor_at(at)
    return 0 if floor is None else floor.replicas


def _emptied(workload: Workload, usual: Hits) -> Workload:
    return replace(workload, pools=tuple(replace(pool, caches=pool.caches.emptied(usual)) for pool in workload.pools))


def _factor(planned: Workload, gone: Workload) -> float:
    """Over the signals that a pool has a capacity for; of one that follows a profile all."""
    return max(
        after.caches.left(signal) / before.caches.left(signal)
        for before, after in zip(planned.serving, gone.serving, strict=True)
        for signal in LOAD_SIGNALS
        if before.capacity.of(signal) is not None
    )


def _unplanned(pairs: Sequence[_Pair]) -> str:
    if pairs:
        return "the stored forecast ends before tomorrow does: run `forecaster forecast`"
    return "no pool of it has a capacity for its load, so that nothing is planned"


def _tomorrow(member: Member, now: datetime) -> tuple[date, Window]:
    calendar = member.workload.calendar
    tomorrow = calendar.local(now).date() + timedelta(days=1)
    days = dict(calendar.local_days(Window(start=now, end=now + timedelta(seconds=3 * DAY_S))))
    return tomorrow, days[tomorrow]

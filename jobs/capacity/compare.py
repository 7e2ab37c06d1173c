"""Tomorrow under each variant of a workload: floors, GPU-hours and cost, planned over the forecast that is stored. Nothing is kept."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

import numpy as np

from forecaster.always_on import own_expected
from forecaster.capacity import Capacity
from forecaster.estimate import Lengths
from forecaster.leadtime import LeadTime
from forecaster.plan import Plan
from forecaster.profile_best import Asked
from forecaster.series import Signal, Window
from forecaster.unit_cost import Task
from forecaster.units import DAY_S, MINUTE_S
from forecaster.workload import Pool
from jobs.caches import relieved
from jobs.capacity.known import choice_of, newest_of_each
from jobs.capacity.lengths import measured_lengths
from jobs.capacity.tasks import Tasks
from jobs.capacity.variant import Variant
from jobs.draft import Draft
from jobs.events import known_events
from jobs.fleet import Fleet, Member
from jobs.levels import with_points
from jobs.plan import foresee, plan_pools, recall
from jobs.trusting import believe


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to serve a pool's share tomorrow; None = not known. cost: of a whole local day, per_1000: of so many expected requests.

    calls_a_task: of the model, for each task that is completed. doubt: what the figures do not tell, empty where nothing is wrong.
    """

    workload: str
    pool: str
    variant: str
    day: date
    capacity: Capacity
    lead_s: float
    least: int | None = None
    most: int | None = None
    gpu_hours: float | None = None
    cost: float | None = None
    currency: str | None = None
    per_1000: float | None = None
    calls_a_task: float | None = None
    doubt: str = ""

    @property
    def per_task(self) -> float | None:
        """What a completed task costs: a call x calls a task."""
        return None if self.per_1000 is None or self.calls_a_task is None else self.per_1000 / 1_000 * self.calls_a_task


def compare(fleet: Fleet, member: Member, now: datetime) -> Iterator[Option]:
    """What runs, and each variant that would take its place, pool by pool. Raises StoreError."""
    (member,) = with_points(fleet.store, [member], now)
    draft = relieved(fleet, recall(fleet, Draft(member=member), now), now)
    draft = foresee(believe(fleet, draft, now), known_events(fleet, now))
    day, window = _tomorrow(member, now)
    tasks = Tasks(fleet.store, member, now)
    for variant in (*_as_is(member), *_with_profiles(fleet, member, now)):
        yield _with_task(_option(draft, variant, day, window, now), None if variant.task is None else tasks.of(variant.task))


def _as_is(member: Member) -> Iterator[Variant]:
    """The pools that variants would take the place of, as they run."""
    compared = {variant.pool for variant in member.variants}
    for variant in member.variants:
        if variant.pool in compared:
            compared.remove(variant.pool)
            pool = _pool(member, variant.pool)
            yield replace(
                variant,
                name=pool.name,
                capacity=pool.capacity,
                asked=Asked(),
                lead_time=pool.lead_time,
                prices=member.prices.get(pool.name),
                gpus_per_replica=member.gpus.get(pool.name, 1),
                task=member.task,
            )


def _with_profiles(fleet: Fleet, member: Member, now: datetime) -> Iterator[Variant]:
    name, store = member.workload.name, fleet.store
    entries = newest_of_each(store, [(name, variant.name) for variant in member.variants if variant.asked.is_open], now)

    def lengths() -> Lengths:
        return measured_lengths(store, name, member.step_s, now)

    for variant in member.variants:
        used = choice_of(variant.asked, variant.serving, entries.get((name, variant.name), ()), lengths, now).used
        yield variant if used is None or used.capacity is None else replace(variant, capacity=used.capacity)


def _option(draft: Draft, variant: Variant, day: date, window: Window, now: datetime) -> Option:
    lead_time = variant.lead_time
    option = Option(
        workload=draft.name, pool=variant.pool, variant=variant.name, day=day, capacity=variant.capacity, lead_s=lead_time.plan_s
    )
    if not draft.forecasts:
        return replace(option, doubt=draft.failures[0].sentence if draft.failures else "there is no forecast")
    try:
        plan = _plan(draft, variant, now)
    except ValueError as error:
        return replace(option, doubt=str(error))
    if plan is None:
        remedy = (
            f"set one, import a load test with --pool {variant.name}, or give it an estimate; `forecaster capacity show` says what it lacks"
        )
        return replace(option, doubt=f"no capacity is known: {remedy}")
    if plan.floors[-1].until < window.end:
        return replace(option, doubt="the stored forecast ends before tomorrow does: run `forecaster forecast`")
    floors = [floor.replicas for floor in plan.within(window).floors]
    hours, prices = plan.replica_hours(window.start, window.end), variant.prices
    requests = _requests(plan, _pool(draft.member, variant.pool), window)
    cost = None if prices is None else hours * prices.gpu_hour
    return replace(
        option,
        least=min(floors),
        most=max(floors),
        gpu_hours=hours * variant.gpus_per_replica,
        cost=cost,
        currency=None if prices is None else prices.currency,
        per_1000=None if cost is None or not requests else 1_000 * cost / requests,
        doubt=_short_window(draft, lead_time),
    )


def _with_task(option: Option, task: Task | str | None) -> Option:
    """What a task takes beside what it costs; where nobody knows it, the sentence that says so."""
    if isinstance(task, str):
        return replace(option, doubt="; ".join(filter(None, (option.doubt, task))))
    return option if task is None else replace(option, calls_a_task=task.calls_a_task)


def _plan(draft: Draft, variant: Variant, now: datetime) -> Plan | None:
    """The plan of the pool with the variant in its place."""
    old = _pool(draft.member, variant.pool)
    new = replace(old, capacity=variant.capacity, lead_time=replace(variant.lead_time, nodes_first=old.lead_time.nodes_first))
    workload = draft.member.workload
    pools = tuple(new if pool.name == variant.pool else pool for pool in workload.pools)
    planned = plan_pools(replace(draft, member=replace(draft.member, workload=replace(workload, pools=pools))), now)
    return next((plan for plan in planned.plans if plan.pool == variant.pool), None)


def _requests(plan: Plan, pool: Pool, window: Window) -> float | None:
    """Those that are expected of a pool over the window, from the median."""
    needed = plan.demand
    if needed is None or Signal.RPM not in needed.signals:
        return None
    expected = own_expected(needed, pool, Signal.RPM)
    steps = [i for i in range(expected.size) if needed.step_start(i) in window]
    return float(np.sum(expected[steps])) * needed.step_s / MINUTE_S


def _short_window(draft: Draft, lead_time: LeadTime) -> str:
    """Where the forecast's maxima look less far ahead than the variant takes to start."""
    window_s = max(forecast.window_s for forecast in draft.forecasts)
    return "it takes longer to start than the forecast looks ahead: floors are too low in a ramp" if lead_time.plan_s > window_s else ""


def _pool(member: Member, name: str) -> Pool:
    return next(pool for pool in member.workload.pools if pool.name == name)


def _tomorrow(member: Member, now: datetime) -> tuple[date, Window]:
    calendar = member.workload.calendar
    tomorrow = calendar.local(now).date() + timedelta(days=1)
    days = dict(calendar.local_days(Window(start=now, end=now + timedelta(seconds=3 * DAY_S))))
    return tomorrow, days[tomorrow]

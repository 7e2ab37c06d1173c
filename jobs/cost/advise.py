"""Advice for workloads from what the store has: how their loads vary, what was forecast of them, and what their replicas did."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.advice import LEAST_DAYS, Advice, Figures, Variance, advice, busiest, followed, outrun, variance
from forecaster.decision import CycleRecord
from forecaster.errors import HistoryAtOtherStep, NothingKept
from forecaster.savings import Spent, spent, total
from forecaster.series import Floats, Series, Window, empty_series
from forecaster.unit_cost import summed
from forecaster.units import DAY_S, MINUTE_S
from jobs.cost.asked import task_of
from jobs.cost.base_load import base_loads
from jobs.cost.days import days_of, filled
from jobs.fleet import Fleet, Member
from jobs.promotion import without
from jobs.ready import ReadyReplicas, ready_replicas
from jobs.recommendations import kept_looks, pools_of
from jobs.route import route
from jobs.savings import Asked, pool_days, sizing_signal, with_records
from jobs.starts import with_lead_times
from jobs.views.accuracy import MEDIAN, over, scored
from jobs.views.kept import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What came of one workload: advice, or why there is none.

    told: what could not be found out, in sentences. always_on: the same of how many always-on replicas would have cost least.
    """

    workload: str
    advice: Advice | None
    missing: str = ""
    told: tuple[str, ...] = ()
    always_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A member with the lead times that its starts come to, and what the store has of the span."""

    fleet: Fleet
    replicas: ReadyReplicas
    member: Member
    records: tuple[CycleRecord, ...]
    asked: Asked
    now: datetime

    @property
    def lead_min(self) -> int:
        """Of the slowest pool."""
        return max(math.ceil(pool.lead_time.plan_s / MINUTE_S) for pool in self.member.workload.pools)

    @property
    def lead_steps(self) -> int:
        """The same in buckets, at least one."""
        return max(1, math.ceil(self.lead_min * MINUTE_S / self.member.step_s))


def advise(fleet: Fleet, members: Sequence[Member], asked: Asked, now: datetime) -> tuple[Advised, ...]:
    """One answer a member, in order. asked: over which whole UTC days, and at what the autoscalers aim. Raises StoreError."""
    replicas = ready_replicas(fleet.store)
    measured = with_lead_times(replace(fleet, members=tuple(members)), now).members
    return tuple(
        _advised(_Case(fleet=fleet, replicas=replicas, member=member, records=records, asked=asked, now=now))
        for member, records in with_records(fleet.store, measured, asked.window)
    )


def _advised(case: _Case) -> Advised:
    name = case.member.workload.name
    try:
        figures, told = _figures(case)
    except (NothingKept, HistoryAtOtherStep) as error:
        return Advised(workload=name, advice=None, missing=str(error))
    worth = tuple(base_loads(case.replicas, case.member, case.asked.window))
    return Advised(workload=name, advice=advice(figures), told=told, always_on=worth)


def _figures(case: _Case) -> tuple[Figures, tuple[str, ...]]:
    """Raises NothingKept where no pool can be sized, or too few days were forecast and measured."""
    window, pools = case.asked.window, case.member.workload.serving
    kept = [pool_days(case.replicas, case.member, pool, case.records, case.asked) for pool in pools]
    replayed = [total(parts, Spent) for parts in zip(*(spent(each) for each in kept), strict=True)]
    fills = tuple(filled(case.replicas, case.member, pool, window) for pool in pools)
    days = days_of(case.replicas, case.member, case.records, window)
    task = None if case.member.task is None else task_of(case.member.task, case.member.source, days.load)
    figures = Figures(
        variance=_variance(case),
        lead_min=case.lead_min,
        outrun_ratio=max(outrun(each.load.mean, each.carry, each.alone_ratio, case.lead_steps) for each in kept),
        late_ratio=_ratio([(day.late_reactive, day.requests) for day in replayed]),
        busiest_ratio=busiest(np.sum(fills, axis=0), np.sum([each.ready.mean for each in kept], axis=0)),
        filled_ratio=summed(days.used).utilisation_ratio,
        followed_ratio=followed(fills),
        lost_ratio=None if task is None or isinstance(task, str) else task.lost_share,
        floors_saved_ratio=_ratio([(day.saved_hours, day.reactive_hours) for day in replayed if day.planned_hours is not None]),
        point_saved_ratio=_point(case),
    )
    return figures, (task,) if isinstance(task, str) else ()


def _variance(case: _Case) -> Variance:
    """Of the load that the first pool is sized by, without what is marked as a lie. Raises NothingKept for too few days."""
    member, window = case.member, case.asked.window
    kept = Kept(store=case.fleet.store, member=member, now=case.now)
    signal = sizing_signal(member, member.workload.serving[0])
    if signal is not None:
        measured = route(case.fleet.store, member.lineage, signal, window, member.step_s).series
        load = without(measured, kept.marks(signal, window.start))
        median = _medians(kept, load)
        found = variance(load.mean, load.peak, median, lead_steps=case.lead_steps, step_min=member.step_s // MINUTE_S)
        if found is not None:
            return found
    span = f"from {window.start:%Y-%m-%d} to {window.end - timedelta(days=1):%Y-%m-%d}"
    raise NothingKept(
        f"too little history: {span} fewer than {LEAST_DAYS} days have both a kept forecast and its load; "
        f"let the forecast run for {LEAST_DAYS} days"
    )


def _medians(kept: Kept, load: Series) -> Floats:
    """The median that stood for each bucket when its local day began; NaN where none did, shape (n,)."""
    median = empty_series(load.signal, Window(start=load.start, end=load.end), load.step_s)
    first = kept.workload.calendar.local(load.start).date()
    for i in range(int((load.end - load.start).total_seconds() // DAY_S) + 1):  # a span of UTC days may touch one more local day
        found = scored(kept, first + timedelta(days=i), load)
        if found is not None:
            median = median.updated(over(found.forecast, MEDIAN, found.covers))
    return median.mean


def _point(case: _Case) -> float | None:
    """What the operating points of all pools that follow the load save of the replica-hours as they are; None where one has none."""
    looks = kept_looks(case.fleet.store, [case.member])
    named = zip(case.member.workload.pools, pools_of(case.member), strict=True)
    names = [name for pool, name in named if pool.follows_load]
    found = [looks[name].standing(case.now) if name in looks else None for name in names]
    return _ratio(
        [
            (None, None) if each is None else (each.as_it_is.replica_hours - each.pair.replica_hours, each.as_it_is.replica_hours)
            for each in found
        ],
        whole=True,
    )


def _ratio(parts: Sequence[tuple[float | None, float | None]], *, whole: bool = False) -> float | None:
    """The sum of the first over the sum of the second, of those parts of which both are known; `whole`: of all of them or none."""
    known = [(amount, count) for amount, count in parts if amount is not None and count is not None]
    count = sum(count for _, count in known)
    if (whole and len(known) < len(parts)) or count <= 0:
        return None
    return sum(amount for amount, _ in known) / count

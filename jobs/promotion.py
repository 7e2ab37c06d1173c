"""Whether a workload has earned `auto`: what the store knows of it, gate by gate; and a person's word that it has."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from forecaster.always_on import is_blind, own_series
from forecaster.confirmation import Confirmation, confirmation
from forecaster.decision import CycleRecord, Ruling, RulingKind
from forecaster.errors import HistoryAtOtherStep, NothingKept
from forecaster.marks import Mark, Treatment
from forecaster.ports import Store
from forecaster.promotion import SPAN_DAYS, Gate, capacity_gate, coverage_gate, days_gate, lead_time_gate, observed_days, replay_gate
from forecaster.savings import Spent, spent, total
from forecaster.series import LOAD_SIGNALS, PRESSURE_SIGNALS, Series, Window
from forecaster.workload import Pool
from jobs.aims import Aim
from jobs.caches import after_caches
from jobs.fleet import Fleet, Member
from jobs.ready import ready_replicas
from jobs.route import route
from jobs.savings import Asked, pool_days, whole_days
from jobs.starts import with_lead_times
from jobs.views.kept import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What gates are judged on: a member with the lead times that its starts come to, and what its store has of the last weeks."""

    store: Store
    member: Member
    window: Window
    now: datetime
    records: tuple[CycleRecord, ...]


def gates(fleet: Fleet, member: Member, now: datetime, aim: Aim) -> tuple[Gate, ...]:
    """Every gate of a workload, in order. aim: the target of the autoscaler as it is. Raises StoreError and HistoryAtOtherStep."""
    window = whole_days(now, SPAN_DAYS)
    (measured,) = with_lead_times(replace(fleet, members=(member,)), now).members
    records = fleet.store.records(member.workload.name, window)
    judged = [pool for pool in measured.workload.serving if not is_blind(pool)]
    evidence = Evidence(store=fleet.store, member=measured, window=window, now=now, records=records)
    targets = [(pool.name, target) for pool in measured.workload.pools for target in pool.targets]
    return (
        days_gate(observed_days(records, targets)),
        *_coverage(evidence),
        *(lead_time_gate(pool.name, pool.lead_time) for pool in judged),
        *(capacity_gate(pool.name, tuple(_confirmations(evidence, pool))) for pool in judged),
        replay_gate(_days(evidence, aim), aim.ratio, aim.said),
    )


def promote(store: Store, member: Member, found: Sequence[Gate], by: Ruling) -> None:
    """Keep a promotion with what was found of it: who promoted it knew what was missing. Raises StoreError."""
    missing = [gate.name for gate in found if not gate.passed]
    told = f"{by.reason} (forced; missing: {', '.join(missing)})" if missing else by.reason
    store.append_ruling(replace(by, kind=RulingKind.PROMOTE, reason=told, mode=member.configured or member.workload.policy.mode))


def _coverage(evidence: Evidence) -> Iterator[Gate]:
    kept = Kept(store=evidence.store, member=evidence.member, now=evidence.now)
    for signal in kept.forecast_signals:
        if signal in LOAD_SIGNALS and any(pool.capacity.of(signal) is not None for pool in evidence.member.workload.pools):
            yield coverage_gate(signal, kept.forecast(signal, evidence.now))


def _confirmations(evidence: Evidence, pool: Pool) -> Iterator[Confirmation]:
    """What production says of each capacity of a pool, without the days that are marked as lies."""
    store, member, window, step_s = evidence.store, evidence.member, evidence.window, evidence.member.step_s
    asked = {query.signal for query in member.queries}
    seen = ready_replicas(store).of(member.workload.name, pool.name, window, step_s)
    pressures = tuple(store.history(member.workload.name, s, window, step_s) for s in PRESSURE_SIGNALS if s in asked)
    kept = Kept(store=store, member=member, now=evidence.now)
    for signal in (s for s in LOAD_SIGNALS if s in asked):
        capacity = pool.capacity.of(signal)
        if capacity is not None:
            arrived = route(store, member.lineage, signal, window, step_s).series
            load = own_series(member.workload, pool, after_caches(store, member, pool, arrived))
            believed = without(load, kept.marks(signal, window.start))
            yield confirmation(believed, seen, pressures, capacity * member.workload.policy.efficiency_ratio)


def without(load: Series, marks: Sequence[Mark]) -> Series:
    """A load without the spans that models leave out."""
    starts = load.times_s()
    lies = np.zeros(len(load), dtype=bool)
    for mark in (mark for mark in marks if mark.kind.treatment is Treatment.LEFT_OUT):
        lies |= (starts >= mark.span.start.timestamp()) & (starts < mark.span.end.timestamp())
    return replace(load, mean=np.where(lies, np.nan, load.mean), peak=np.where(lies, np.nan, load.peak))


def _days(evidence: Evidence, aim: Aim) -> tuple[Spent, ...]:
    """The replay of each day, all pools together; none where one of them cannot be replayed."""
    asked = Asked(window=evidence.window, target_ratio=aim.ratio, alone_ratio=aim.ratio)
    try:
        of_pools = [
            spent(pool_days(ready_replicas(evidence.store), evidence.member, pool, evidence.records, asked))
            for pool in evidence.member.workload.serving
            if not is_blind(pool)
        ]
    except (NothingKept, HistoryAtOtherStep):
        return ()
    return tuple(total(parts, Spent) for parts in zip(*of_pools, strict=True))

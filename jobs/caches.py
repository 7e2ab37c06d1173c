"""What is counted on of the hits of caches, from history, before demand."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.caches import Counted, Hits
from forecaster.ports import Store
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S, floor_to
from forecaster.workload import Pool, Workload
from jobs.draft import Draft
from jobs.fleet import Fleet, Member

_MEDIAN = 0.5


def relieved(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """The draft with what is counted on of its caches, the same one where it has none. Raises StoreError and HistoryAtOtherStep."""
    counted = counted_of(draft.member.workload)
    if not counted:
        return draft
    hits, workload = _hits(fleet.store, draft.member, counted, now), draft.member.workload
    pools = tuple(replace(pool, caches=pool.caches.counting(hits)) for pool in workload.pools)
    return replace(draft, member=replace(draft.member, workload=replace(workload, pools=pools)))


def usual_hits(fleet: Fleet, member: Member, now: datetime) -> Hits:
    """The median over the days that are counted on. Raises StoreError and HistoryAtOtherStep."""
    usual = {signal: replace(counted, quantile=_MEDIAN) for signal, counted in counted_of(member.workload).items()}
    return _hits(fleet.store, member, usual, now)


def after_caches(store: Store, member: Member, pool: Pool, load: Series) -> Series:
    """What caches left of a measured load for the engines of a pool, by the hits of each bucket; all of it where those are not known.

    Of a pool whose capacity production taught it is all, too: what a replica carries is in those terms. Raises StoreError and
    HistoryAtOtherStep.
    """
    caches = pool.caches
    if not caches.counted or caches.taught or not len(load):
        return load
    span = Window(start=load.start, end=load.end)
    hits = {signal: store.history(member.workload.name, signal, span, member.step_s).mean for signal in caches.counted}
    unknown = np.full(len(load), np.nan)
    both = zip(*(hits.get(signal, unknown).tolist() for signal in (Signal.RESPONSE_HITS, Signal.PREFIX_HITS)), strict=True)
    left = np.array([replace(caches, hits=_measured(*each)).left(load.signal) for each in both])
    return replace(load, mean=load.mean * left, peak=load.peak * left)


def counted_of(workload: Workload) -> Mapping[Signal, Counted]:
    """The shares of hits that any of its pools counts on."""
    return {signal: counted for pool in workload.serving for signal, counted in pool.caches.counted.items()}


def _measured(responses: float, prefix: float) -> Hits:
    return Hits(responses=None if math.isnan(responses) else responses, prefix=None if math.isnan(prefix) else prefix)


def _hits(store: Store, member: Member, counted: Mapping[Signal, Counted], now: datetime) -> Hits:
    found = {signal: _counted_on(store, member, signal, each, now) for signal, each in counted.items()}
    return Hits(responses=found.get(Signal.RESPONSE_HITS), prefix=found.get(Signal.PREFIX_HITS))


def _counted_on(store: Store, member: Member, signal: Signal, counted: Counted, now: datetime) -> float | None:
    end = floor_to(now, member.step_s)
    span = Window(start=floor_to(end - timedelta(seconds=counted.days * DAY_S), member.step_s), end=end)
    return counted.of(store.history(member.workload.name, signal, span, member.step_s))

"""Pools that hold their replicas whatever the load, and those that take what is left: base load and peak load.

A pool that is `always_on` with N replicas has a floor of N, with no forecast to stand on. One that comes `after` it serves the load of both
(its own share says how much that is) less what those N carry:

| load of both, in rpm | 8 always on, 100 rpm each | after it, 50 rpm each |
|----------------------|---------------------------|-----------------------|
| 600                  | 8                         | 0                     |
| 1,000                | 8                         | 4                     |
| 1,000, 2 are missing | 8, of which 6 are there   | 8                     |

What one always-on replica carries counts in replicas of the other pool by the signal in which it carries least of them
(`Capacity.over`): no mix of requests makes it carry less. Several pools after the same one have of it what their shares are of each other.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import numpy as np

from forecaster.capacity import Capacity
from forecaster.demand import Demand
from forecaster.look import Look, SignalLook
from forecaster.plan import Floor, Plan, under_policy
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Series, Signal, Window
from forecaster.spot import present
from forecaster.workload import Pool, Workload

_NONE: Mapping[str, int] = MappingProxyType({})


def sized(workload: Workload, pool: Pool, missing: Mapping[str, int] = _NONE) -> Pool:
    """The pool as floors are sized for it: less what is away of it, behind what pools before it carry.

    missing: replicas by pool that should be there and are not; those of a pool before this one are made up for, as far as they are not
    spare. What comes back stands for itself: it comes after none, since that is counted in it.
    """
    own = present(pool)
    if not pool.after:
        return own
    first = [each for each in workload.pools if each.name in pool.after]
    whole, there = (sum(_carried(workload, each, own, gone.get(each.name, 0)) for each in first) for gone in (_NONE, missing))
    return replace(own, after=(), before=there, lacks=max(0.0, whole - there))


def always_on_plan(workload: Workload, pool: Pool, span: Window, issued_at: datetime, demand: Demand | None) -> Plan:
    """The plan of a pool that is always on, under the configured windows and bounds. demand: the load of all, to be shown beside it."""
    spare = f", {pool.spare} of them spare" if pool.spare else ""
    detail = f"{pool.always_on} are always on{spare}, whatever the load"
    reason = Reason(code=Code.ALWAYS_ON, detail=detail, after=pool.always_on)
    floors = [Floor(start=span.start, until=span.end, replicas=pool.always_on, reason=reason)]
    return under_policy(floors, demand, workload, pool, issued_at)


def is_blind(pool: Pool) -> bool:
    """Whether live load says nothing of a pool: its work waits, or it is always on and nobody said what it carries."""
    return pool.bulk is not None or (pool.always_on > 0 and pool.capacity == Capacity())


def looked_at(seen: Look, pool: Pool) -> Look:
    """What live load says of a pool: of an always-on one what it carries, and no more; how the load deviates moves others."""
    if not pool.always_on:
        return seen
    most = float(pool.always_on - pool.spare)
    signals = tuple(SignalLook(signal=s.signal, need=min(s.need, most), ratio=None, lull_ratio=0.0, lull_need=0.0) for s in seen.signals)
    return Look(at=seen.at, signals=signals, unknown=seen.unknown, queue_need=0.0)


def incomparable(workload: Workload) -> str | None:
    """A sentence for a pool after another with which it has no limited signal in common, where capacities of both are said; else None."""
    for pool in workload.pools:
        for first in (each for each in workload.pools if each.name in pool.after):
            said = Capacity() not in {pool.capacity, first.capacity}
            if said and pool.capacity.over(first.capacity) is None:
                return f"pool {pool.name} comes after {first.name}, and no signal has a capacity in both: give both one"
    return None


def own_series(workload: Workload, pool: Pool, series: Series) -> Series:
    """A pool's part of a workload's load, by bucket."""
    mean, peak = (own_load(workload, pool, series.signal, values) for values in (series.mean, series.peak))
    return replace(series, mean=mean, peak=peak)


def own_load(workload: Workload, pool: Pool, signal: Signal, load: Floats) -> Floats:
    """A pool's part of a workload's load of a signal: its share, less what the pools before it carry; unknown stays unknown.

    Of an always-on pool that others come after: what it carries of theirs, which is all of it until its replicas are full.
    """
    if pool.always_on and (behind := workload.behind(pool)):
        parts = [_of_first(workload, pool, each, signal, load) for each in behind]
        carried: Floats = np.sum(parts, axis=0)
        return carried
    return load * pool.share_ratio - _before(workload, pool, signal, load)


def own_expected(demand: Demand, pool: Pool, signal: Signal) -> Floats:
    """A pool's part of the median of its demand, by step: what pools before it leave, or what it carries itself where it is always on."""
    s = demand.signals.index(signal)
    left: Floats = np.maximum(0.0, demand.expected[s] - demand.margin.before * demand.carry[s])
    return np.minimum(left, (pool.always_on - pool.spare) * demand.carry[s]) if pool.always_on else left


def served_ratio(workload: Workload) -> float:
    """The sum of the shares of a workload's pools; what is before another pool is within its share. Above 1 some of it is room."""
    return sum(pool.share_ratio for pool in workload.serving if not (pool.always_on and workload.behind(pool)))


def _before(workload: Workload, pool: Pool, signal: Signal, load: Floats) -> Floats:
    """What of a pool's share the pools before it carry."""
    own = sized(workload, pool)
    carry = own.capacity.of(signal)
    share: Floats = load * pool.share_ratio
    if carry is None or not own.before:
        return np.where(np.isnan(share), np.nan, 0.0)
    return np.minimum(share, own.before * carry * workload.policy.efficiency_ratio)


def _of_first(workload: Workload, first: Pool, pool: Pool, signal: Signal, load: Floats) -> Floats:
    """What an always-on pool carries of the share of one that comes after it, among all that are before that one."""
    own = sized(workload, pool)
    part = _carried(workload, first, present(pool), 0) / own.before if own.before else 0.0
    return part * _before(workload, pool, signal, load)


def _carried(workload: Workload, first: Pool, own: Pool, missing: int) -> float:
    """Replicas of a pool, fractional, that an always-on pool before it stands for; 0 while a capacity is not known."""
    ratio = present(first).capacity.over(own.capacity)
    shares = sum(each.share_ratio for each in workload.behind(first))
    there = max(0, first.always_on - max(first.spare, missing))
    return 0.0 if ratio is None else there * ratio * own.share_ratio / shares

"""How many replicas of each always-on pool would have been cheapest over some days, from the load that the store has."""

from collections.abc import Iterator

import numpy as np

from forecaster.always_on import sized
from forecaster.base_load import Rates, at, cheapest
from forecaster.series import Floats, Window
from forecaster.spot import present
from forecaster.units import spell_number
from forecaster.workload import Pool
from jobs.caches import after_caches
from jobs.fleet import Member
from jobs.ready import ReadyReplicas
from jobs.route import route
from jobs.savings import sizing_signal


def base_loads(replicas: ReadyReplicas, member: Member, window: Window) -> Iterator[str]:
    """A sentence for each always-on pool that one pool with a price of its own comes after. Raises StoreError and HistoryAtOtherStep."""
    for pool in member.workload.serving:
        for first in (each for each in member.workload.pools if each.name in pool.after):
            if member.workload.behind(first) == (pool,):
                yield from _sentence(replicas, member, first, pool, window)


def _sentence(replicas: ReadyReplicas, member: Member, first: Pool, pool: Pool, window: Window) -> Iterator[str]:
    own, prices = sized(member.workload, pool), [member.prices.get(each.name) for each in (first, pool)]
    ratio, needs = present(first).capacity.over(own.capacity), _needs(replicas, member, pool, own, window)
    if prices[0] is None or prices[1] is None or ratio is None or needs is None:
        return
    rates = Rates(always_on=prices[0].gpu_hour, on_demand=prices[1].gpu_hour, ratio=ratio)
    carrying = first.always_on - first.spare
    needs = np.maximum(0.0, needs - (own.before - carrying * ratio))  # what other pools before it carry
    best = cheapest(needs, rates)
    if best is None:
        return
    now, spare = at(needs[~np.isnan(needs)], carrying, rates), first.spare * rates.always_on
    costs = [f"{spell_number(found.hourly + spare)} {prices[0].currency} an hour" for found in (best, now)]
    if best.replicas == carrying:
        yield f"{first.always_on} x {first.name} always on costs least for the load as it was: {costs[0]} with {pool.name}"
    else:
        better = f"{best.replicas + first.spare} x {first.name} always on would have cost least for the load as it was"
        yield f"{better}: {costs[0]} with {pool.name}, where {first.always_on} cost {costs[1]}"


def _needs(replicas: ReadyReplicas, member: Member, pool: Pool, own: Pool, window: Window) -> Floats | None:
    """Replicas of a pool, fractional, that all of its share would fill by bucket; None where nothing sizes it."""
    signal = sizing_signal(member, pool)
    capacity = None if signal is None else own.capacity.of(signal)
    if signal is None or capacity is None:
        return None
    arrived = route(replicas.store, member.lineage, signal, window, member.step_s).series
    left = after_caches(replicas.store, member, pool, arrived).mean
    needs: Floats = left * (pool.share_ratio / (capacity * member.workload.policy.efficiency_ratio))
    return needs

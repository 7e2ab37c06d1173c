"""Replicas that may be taken away: a spot replica counts for the part of its time that it is there.

| preempted an hour | until another is ready | away | floor for 20 replicas' load |
|-------------------|------------------------|------|-----------------------------|
| 0.02              | 6 min                  | .2 % | 21                          |
| 0.05              | 12 min                 | 1 %  | 21                          |
| 0.3               | 20 min                 | 10 % | 23                          |

away = preempted an hour x lead time in hours, by Little's law (1961): so many successors of each replica are on their way at any time. It
is a mean: preemptions that come all at once, as where a whole zone runs short, are what a pool that `stands_in_for` this one is for.
"""

from dataclasses import dataclass, replace

from forecaster.reasons import Code, Reason
from forecaster.units import HOUR_S, MINUTE_S
from forecaster.workload import Pool

_MOST_AWAY = 0.9
"""A pool that is away more than this has no use that a floor could plan for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """The part of a pool's time that its replicas are not there, and why. ratio: 0 to 0.9."""

    ratio: float
    reason: Reason


def away(pool: Pool) -> Away | None:
    """What preemptions take of a spot pool; None for one that nobody takes from."""
    if pool.preempted_per_hour == 0:
        return None
    ratio = min(_MOST_AWAY, pool.preempted_per_hour * pool.lead_time.plan_s / HOUR_S)
    often, gap_min = f"preempted {pool.preempted_per_hour:.3g} times an hour", pool.lead_time.plan_s / MINUTE_S
    detail = f"{often}, and {gap_min:.3g} min until another is ready: {ratio:.2g} of each replica is away on average, and asked for on top"
    return Away(ratio=ratio, reason=Reason(code=Code.SPOT_LOSSES, detail=detail))


def present(pool: Pool) -> Pool:
    """The pool with what a replica carries less what is away of it: floors then have the expected losses on top."""
    found = away(pool)
    if found is None:
        return pool
    return replace(pool, capacity=pool.capacity.times(1 - found.ratio))

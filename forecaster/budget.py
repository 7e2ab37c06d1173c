"""GPUs that several pools share: who gets how many when together they ask for more than there are.

Replicas are given one by one, in an order that does not depend on how many there are to give, until the next one does not fit:

1. every pool's minimum, whatever the budget;
2. by priority, the highest first;
3. within a priority by what a replica is worth for each GPU: how likely its load comes, times the price of the requests that would be late
   without it where every pool of that priority has one; so equal pools are cut to the same quantile of their load;
4. where that is equal, the pool that has the smaller part of what it asked for, then the first one.

| 32 H100, one a replica                | chat asks 24        | batch asks 18       |
|---------------------------------------|---------------------|---------------------|
| chat has the higher priority          | 24                  | 8                   |
| the same, batch has a minimum of 12   | 20                  | 12                  |
| one priority, alike in their load     | 18                  | 14                  |

A replica that does not fit ends the giving: were a smaller one of another pool given in its place, one GPU more would take that away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from forecaster.claim import Claim
from forecaster.demand import LEAST_RATIO, Demand
from forecaster.series import Floats
from forecaster.units import check_named, check_not_negative, check_positive, whole_replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """So many GPUs of one kind."""

    name: str
    gpus: int

    def __post_init__(self) -> None:
        check_named("budget.name", self.name)
        check_positive("budget.gpus", self.gpus, "GPUs")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ask:
    """What one pool asks for at one instant, in replicas. worth[k]: of replica k + 1 for an hour, falling, of any one unit."""

    claim: Claim
    replicas: int
    minimum: int
    worth: Floats

    def __post_init__(self) -> None:
        check_not_negative("ask.replicas", self.replicas, "replicas")
        check_not_negative("ask.minimum", self.minimum, "replicas")
        if self.worth.shape != (self.replicas,):
            msg = f"ask.worth must have one value a replica, got {self.worth.shape} for {self.replicas}"
            raise ValueError(msg)


def given(gpus: int, asks: Sequence[Ask]) -> tuple[int, ...]:
    """The replicas of each pool: never more than it asks for, never less than its minimum of that. More GPUs never give a pool less."""
    least = [min(ask.replicas, ask.minimum) for ask in asks]
    left = gpus - sum(replicas * ask.claim.gpus_per_replica for replicas, ask in zip(least, asks, strict=True))
    more = [ask.replicas - replicas for replicas, ask in zip(least, asks, strict=True)]
    if left <= 0 or not any(more):
        return tuple(least)
    owner = np.repeat(np.arange(len(asks)), more)
    size = np.array([ask.claim.gpus_per_replica for ask in asks])[owner]
    priority = np.array([ask.claim.priority for ask in asks])[owner]
    worth = np.concatenate([ask.worth[replicas:] for replicas, ask in zip(least, asks, strict=True)]) / size
    part = np.concatenate([np.arange(replicas, ask.replicas) / max(1, ask.replicas) for replicas, ask in zip(least, asks, strict=True)])
    order = np.lexsort((owner, part, -worth, -priority))
    taken = order[np.cumsum(size[order]) <= left]
    counts = np.bincount(owner[taken], minlength=len(asks)).tolist()
    return tuple(replicas + count for replicas, count in zip(least, counts, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Odds:
    """What is kept of how many replicas a load fills: filled[q, i] at step i, rising in q, and how likely the load exceeds each.

    spare: replicas beside them, which are needed only when others fail.
    """

    filled: Floats
    exceeded: tuple[float, ...]
    spare: int = 0


def odds(demand: Demand) -> Odds:
    """The low quantile, the median and the level of a demand, at each step that of the signal that asks for most."""
    carry = np.asarray(demand.carry)[:, None]
    kept = [(demand.expected_max, 0.5), (demand.load, min(0.5, 1 - demand.level))]
    if demand.least is not None:
        kept.insert(0, (demand.least, 1 - LEAST_RATIO * demand.level))
    needs = [np.zeros(demand.load.shape[1]), *(demand.margin.left_each((load / carry).max(axis=0)) for load, _ in kept)]
    exceeded = (1.0, *(exceeded for _, exceeded in kept))
    return Odds(filled=np.maximum.accumulate(np.stack(needs)), exceeded=exceeded, spare=demand.margin.spare)


def likely(known: Odds | None, i: int | None, replicas: int) -> Floats:
    """How likely the load of each of so many replicas comes at step i; falling, shape (replicas,).

    Replica k is needed where the load fills more than k - 1. Its distribution runs straight between the quantiles that are known; beyond
    the level it falls as 1 / k. What no load asks for, say a window, comes last with 0, and so do the spare ones.
    """
    k = np.arange(replicas, dtype=np.float64)
    if known is None or i is None:
        return np.zeros(replicas)
    filled = known.filled[:, i]
    within = np.interp(k, filled, known.exceeded)
    beyond = known.exceeded[-1] * filled[-1] / np.maximum(k, 1.0)
    found: Floats = np.minimum.accumulate(np.where(k < filled[-1], within, beyond))
    if known.spare:
        found[max(whole_replicas(float(filled[-1])), replicas - known.spare) :] = 0.0
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One pool at an apply, in replicas.

    share: what its plan has of the budget now. wanted: what was asked for last, live load included, None = not known. most: the maximum of
    its policy, None = none. waits: its work may wait, and gives way to everything else.
    """

    claim: Claim
    minimum: int
    share: int
    wanted: int | None = None
    most: int | None = None
    waits: bool = False

    def __post_init__(self) -> None:
        for name in ("minimum", "share"):
            check_not_negative(f"standing.{name}", getattr(self, name), "replicas")


def ceilings(gpus: int, pools: Sequence[Standing]) -> tuple[int, ...]:
    """The most that each floor may have until the next apply; they fit together unless minimums do not. More GPUs lower none.

    A pool has what it asked for last of its plan's share before anybody has more than that; then what live load asked for beyond shares
    is given by priority, then the rest of the shares, then the shares of pools whose work may wait, then what nobody asked for, in
    proportion: a raise that finds its own part of that is not delayed, a larger one has it at the next apply.
    """
    wanted = [pool.share if pool.wanted is None else pool.wanted for pool in pools]
    steps = (
        [0 if pool.waits else min(pool.share, want) for pool, want in zip(pools, wanted, strict=True)],
        [0 if pool.waits else want for pool, want in zip(pools, wanted, strict=True)],
        [0 if pool.waits else pool.share for pool in pools],
        [pool.share if pool.waits else 0 for pool in pools],
    )
    most = tuple(pool.minimum for pool in pools)
    for up_to in steps:
        bounded = [n if pool.most is None else min(n, pool.most) for n, pool in zip(up_to, pools, strict=True)]
        asked = [max(n, has) for n, has in zip(bounded, most, strict=True)]
        asks = [Ask(claim=pool.claim, replicas=n, minimum=has, worth=np.zeros(n)) for pool, n, has in zip(pools, asked, most, strict=True)]
        most = given(gpus, asks)
        if most != tuple(asked):
            return most
    return _spread(gpus, pools, most)


def _spread(gpus: int, pools: Sequence[Standing], most: Sequence[int]) -> tuple[int, ...]:
    """What nobody asked for, one replica after the other to the pool that has least of it for its size."""
    found, sizes = list(most), [pool.claim.gpus_per_replica for pool in pools]
    left = gpus - sum(has * size for has, size in zip(found, sizes, strict=True))
    turns = [(1 / max(1, has), i) for i, has in enumerate(most)]
    heapify(turns)
    while turns:
        _, i = heappop(turns)
        ceiling = pools[i].most
        if ceiling is not None and found[i] >= ceiling:
            continue
        if sizes[i] > left:
            break
        found[i] += 1
        left -= sizes[i]
        heappush(turns, ((found[i] - most[i] + 1) / max(1, most[i]), i))
    return tuple(found)

"""Plans that share a budget of GPUs: cut at every instant at which together they ask for more than there is, and what is missing, in words.

"2026-12-01T14:05:00Z: 42 h100 needed, 32 in quota: chat gets 20 of 24, batch 12 of 18" is known as long ahead as plans look.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from forecaster.budget import Ask, Budget, Odds, given, likely, odds
from forecaster.claim import Claim
from forecaster.plan import Floor, Plan, cut_at, merged
from forecaster.reasons import Code, Reason
from forecaster.units import check_not_negative, iso

_NAMED = 6
"""So many pools a sentence names; of a budget of a hundred nobody reads more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """One pool of a budget and its plan, None where none could be made: then it keeps the `standing` replicas throughout.

    minimum: replicas that it keeps whatever the budget. late_price: of the requests that one full replica serves in an hour, None = nobody
    said.
    """

    name: str
    claim: Claim
    minimum: int
    plan: Plan | None
    standing: int = 0
    late_price: float | None = None

    def __post_init__(self) -> None:
        check_not_negative("contender.minimum", self.minimum, "replicas")
        check_not_negative("contender.standing", self.standing, "replicas")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A span in which a budget does not suffice, at the first instant at which most is missing. asked, gets: replicas, a pool each."""

    budget: Budget
    start: datetime
    until: datetime
    at: datetime
    needed: int
    names: tuple[str, ...]
    asked: tuple[int, ...]
    gets: tuple[int, ...]
    gpus: int

    @property
    def told(self) -> str:
        """When how many GPUs are needed, how many there are, and who gets how many of the replicas that it asks for."""
        pools = [(name, gets, asked) for name, gets, asked in zip(self.names, self.gets, self.asked, strict=True) if asked]
        pools.sort(key=lambda pool: pool[1] - pool[2])
        shares = [f"{name} {'gets ' if not i else ''}{gets} of {asked}" for i, (name, gets, asked) in enumerate(pools[:_NAMED])]
        others = f" and {len(pools) - _NAMED} other pools" if len(pools) > _NAMED else ""
        told = f"{iso(self.at)}: {self.needed} {self.budget.name} needed, {self.budget.gpus} in quota: {', '.join(shares)}{others}"
        over = f"; what pools keep at least takes {self.gpus}" if self.gpus > self.budget.gpus else ""
        span = f" (too few from {iso(self.start)} until {iso(self.until)})" if self.start != self.at or self.until != self.at else ""
        return f"{told}{over}{span}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """Replicas of each contender from each edge to the next one, shape (contenders, edges - 1): asked for, and within the budget."""

    budget: Budget
    contenders: Sequence[Contender]
    edges: list[datetime]
    asked: NDArray[np.int64]
    gets: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([contender.claim.gpus_per_replica for contender in self.contenders])


def apportioned(budget: Budget, contenders: Sequence[Contender], now: datetime) -> tuple[tuple[Plan | None, ...], tuple[Shortfall, ...]]:
    """The plans, in order, within the budget from `now` on wherever minimums are, and what is missing, in order of time.

    A plan that fits at all instants is returned as it is. One that is cut says so floor by floor, and once for each span of its own.
    """
    plans = tuple(contender.plan for contender in contenders)
    coming = [floor for plan in plans if plan is not None for floor in plan.floors if floor.until > now]
    edges = sorted({max(edge, now) for floor in coming for edge in (floor.start, floor.until)})
    if not edges:
        return plans, ()
    asked = np.array([replicas_of(contender, edges[:-1]) for contender in contenders])
    table = _Table(budget=budget, contenders=contenders, edges=edges, asked=asked, gets=asked.copy())
    short = np.flatnonzero(table.sizes @ asked > budget.gpus)
    if not short.size:
        return plans, ()
    priced = _priced(contenders)
    known = [odds(plan.demand) if plan is not None and plan.demand is not None else None for plan in plans]
    for i in short:
        beside = zip(contenders, known, asked[:, i].tolist(), strict=True)
        asks = [_ask(contender, edges[i], n, of, by_price=contender.claim.priority in priced) for contender, of, n in beside]
        table.gets[:, i] = given(budget.gpus, asks)
    runs = np.split(short, np.flatnonzero(np.diff(short) > 1) + 1)
    found = tuple(_shortfall(table, run) for run in runs)
    return tuple(None if plan is None else _cut(table, c, plan, found) for c, plan in enumerate(plans)), found


def replicas_of(contender: Contender, instants: list[datetime]) -> list[int]:
    """Replicas at each instant; where its plan says nothing a pool stays where it is."""
    plan = contender.plan
    if plan is None:
        return [contender.standing] * len(instants)
    starts = [floor.start for floor in plan.floors]
    found = []
    for instant in instants:
        i = bisect_right(starts, instant) - 1
        inside = i >= 0 and instant < plan.floors[i].until
        found.append(plan.floors[i].replicas if inside else contender.standing)
    return found


def _priced(contenders: Sequence[Contender]) -> frozenset[int]:
    """The priorities at which late requests have a price in every pool, so that worths compare in money."""
    unpriced = {contender.claim.priority for contender in contenders if contender.late_price is None}
    return frozenset(contender.claim.priority for contender in contenders) - unpriced


def _ask(contender: Contender, at: datetime, replicas: int, known: Odds | None, *, by_price: bool) -> Ask:
    """What a pool asks for at an instant. A pool without a plan then is where it is, and nothing can be taken from it."""
    plan = contender.plan
    if plan is None or plan.floor_at(at) is None:
        return Ask(claim=contender.claim, replicas=replicas, minimum=replicas, worth=np.zeros(replicas))
    worth = likely(known, plan.demand.index(at) if plan.demand is not None else None, replicas)
    if contender.late_price is not None and by_price:
        worth = worth * contender.late_price
    return Ask(claim=contender.claim, replicas=replicas, minimum=contender.minimum, worth=worth)


def _shortfall(table: _Table, run: NDArray[np.int64]) -> Shortfall:
    """The span of a run of edges at which too much is asked for."""
    needed = table.sizes @ table.asked[:, run]
    worst = int(run[int(needed.argmax())])
    return Shortfall(
        budget=table.budget,
        start=table.edges[run[0]],
        until=table.edges[run[-1] + 1],
        at=table.edges[worst],
        needed=int(needed.max()),
        names=tuple(contender.name for contender in table.contenders),
        asked=tuple(table.asked[:, worst].tolist()),
        gets=tuple(table.gets[:, worst].tolist()),
        gpus=int(table.sizes @ table.gets[:, worst]),
    )


def _cut(table: _Table, c: int, plan: Plan, shortfalls: Sequence[Shortfall]) -> Plan:
    """The plan of contender c as the table has it, with the spans in which it is cut told once each."""
    gets = {at: int(n) for at, n, asked in zip(table.edges, table.gets[c], table.asked[c], strict=False) if n < asked}
    if not gets:
        return plan
    pieces = [_floor(table.budget, piece, gets) for piece in cut_at(list(plan.floors), table.edges)]
    told = tuple(
        Reason(code=Code.BUDGET_BINDS, detail=span.told, before=span.asked[c], after=span.gets[c])
        for span in shortfalls
        if any(span.start <= at < span.until for at in gets)
    )
    return replace(plan, floors=merged(pieces), reasons=(*plan.reasons, *told))


def _floor(budget: Budget, piece: Floor, gets: Mapping[datetime, int]) -> Floor:
    least = gets.get(piece.start)
    if least is None:
        return piece
    detail = f"budget {budget.name} of {budget.gpus} GPUs gives {least} of {piece.replicas}"
    reason = Reason(code=Code.BUDGET_BINDS, detail=detail, before=piece.replicas, after=least)
    return replace(piece, replicas=least, reason=reason)

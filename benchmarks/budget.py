"""What a shared budget of GPUs leaves unserved, given out by how likely each replica is needed, and by simpler rules.

The last week of the generated loads, all on the same dates, each sized to 20 replicas at its busiest. A budget is a share of what all of
them really need together at the week's busiest instant. Unserved: replica-hours of load above what its pool was given. The clairvoyant
wastes no GPU: what all need together beyond the budget.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import TypeAlias

import numpy as np

from benchmarks.accuracy.generated import loads
from benchmarks.figures import Figure, Table
from forecaster.apportion import Contender, apportioned
from forecaster.backtest.rolling import forecasts
from forecaster.backtest.settings import Settings
from forecaster.budget import Ask, Budget, given, likely, odds
from forecaster.capacity import Capacity
from forecaster.claim import Claim
from forecaster.demand import Demand, demand
from forecaster.leadtime import LeadTime
from forecaster.plan import Plan, plan
from forecaster.series import Floats, Series
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, whole_replicas
from forecaster.workload import Policy, Pool, Workload

_DAYS, _JUDGED, _WARM_UP = 42, 7, 7
_BUSIEST_REPLICAS = 20
_BUDGET_RATIOS = (0.6, 0.8, 1.0)
_POOLS = 1_000
_CLAIM = Claim(budget="gpus")

Rule: TypeAlias = Callable[[int, Sequence[Ask]], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Day:
    """One load over one day: what its floors ask for, and what it turns out to need, in fractional replicas, NaN = not measured."""

    demand: Demand
    needed: Floats = field(repr=False)


def proportional(gpus: int, asks: Sequence[Ask]) -> Sequence[int]:
    """Everybody is cut by the same factor, whole replicas, what is left over to the largest parts cut off."""
    total = sum(ask.replicas for ask in asks)
    exact = [ask.replicas * min(1.0, gpus / max(1, total)) for ask in asks]
    whole = [int(part) for part in exact]
    order = sorted(range(len(asks)), key=lambda i: whole[i] - exact[i])
    for i in order[: max(0, min(gpus, total) - sum(whole))]:
        whole[i] += 1
    return whole


def first_come(gpus: int, asks: Sequence[Ask]) -> Sequence[int]:
    """Whoever is asked first has all that it wants, as where each autoscaler takes what is free."""
    found = []
    for ask in asks:
        found.append(min(ask.replicas, gpus))
        gpus -= found[-1]
    return found


def days_of(series: Series, pool: Pool, policy: Policy) -> Iterator[Day]:
    """The judged days, from forecasts that know nothing of them."""
    first = series.start + timedelta(days=_DAYS - _JUDGED - _WARM_UP)
    origins = tuple(first + timedelta(days=day) for day in range(_WARM_UP + _JUDGED))
    for origin, forecast in list(zip(origins, forecasts(series, origins, Settings()), strict=True))[_WARM_UP:]:
        made = demand((forecast,), pool, policy)
        assert made is not None  # noqa: S101  # the pool has a capacity
        at = round((origin - series.start).total_seconds()) // series.step_s
        yield Day(demand=made, needed=series.mean[at : at + DAY_S // series.step_s] / made.carry[0])


def unserved(days: Sequence[Day], gpus: int, rule: Rule) -> float:
    """Replica-hours above what was given, over one day of all loads."""
    known = [odds(day.demand) for day in days]
    missing = 0.0
    for i in range(days[0].needed.size):
        wanted = [whole_replicas(day.demand.need_at(i)) for day in days]
        asks = [Ask(claim=_CLAIM, replicas=n, minimum=0, worth=likely(of, i, n)) for n, of in zip(wanted, known, strict=True)]
        has = np.array(rule(gpus, asks) if sum(wanted) > gpus else wanted)
        missing += float(np.nansum(np.maximum(0.0, np.array([day.needed[i] for day in days]) - has)))
    return missing * days[0].demand.step_s / HOUR_S


def _beyond(days: Sequence[Day], gpus: int) -> float:
    """What all need together beyond the budget: nobody can serve it."""
    together = np.nansum(np.stack([day.needed for day in days]), axis=0)
    return float(np.maximum(0.0, together - gpus).sum()) * days[0].demand.step_s / HOUR_S


def _pool(series: Series) -> Pool:
    busiest = float(np.nanmax(series.mean[-_JUDGED * DAY_S // series.step_s :]))
    lead_time = LeadTime(warm_s=5 * MINUTE_S, cold_s=10 * MINUTE_S)
    return Pool(name="gpu", capacity=Capacity(rpm=busiest / _BUSIEST_REPLICAS), lead_time=lead_time, targets=("hpa",), claim=_CLAIM)


def _pass_s(made: Plan) -> float:
    """Seconds for one cut of a thousand plans that ask for half as much again as there is."""
    floors = [floor.replicas for floor in made.floors]
    contenders = [
        Contender(name=f"pool-{i}", claim=_CLAIM, minimum=1, plan=replace(made, pool=f"pool-{i}"), late_price=None) for i in range(_POOLS)
    ]
    begun = perf_counter()
    apportioned(Budget(name="gpus", gpus=max(floors) * _POOLS * 2 // 3), contenders, made.issued_at)
    return perf_counter() - begun


def figures() -> Iterator[Figure | Table]:
    """Unserved replica-hours beside the simpler rules, then the time that one cut takes."""
    policy = Policy()
    named = [(name, series, _pool(series)) for name, series in loads(_DAYS)]
    by_load = [tuple(days_of(series, pool, policy)) for _, series, pool in named]
    by_day = list(zip(*by_load, strict=True))
    together = max(float(np.nansum(np.stack([day.needed for day in days]), axis=0).max()) for days in by_day)
    rows = []
    for ratio in _BUDGET_RATIOS:
        gpus = int(ratio * together)
        ours, cut, first = (sum(unserved(days, gpus, rule) for days in by_day) for rule in (given, proportional, first_come))
        beyond = sum(_beyond(days, gpus) for days in by_day)
        what = f"a budget of {ratio:.0%} of the busiest instant: unserved"
        yield Figure(name=f"{what} / cut in proportion", value=ours / cut, unit="x")
        yield Figure(name=f"{what} / first come", value=ours / first, unit="x")
        rows.append((f"{ratio:.0%} ({gpus} GPUs)", *(f"{hours:,.1f}" for hours in (ours, cut, first, beyond))))
    header = ("budget", "ours", "in proportion", "first come", "nobody could")
    yield Table(title=f"Unserved replica-hours of {len(named)} loads in {_JUDGED} days", header=header, rows=tuple(rows))
    name, _, pool = named[0]
    made = plan(by_day[-1][0].demand, Workload(name=name, pools=(pool,), policy=policy), pool, datetime(2026, 2, 15, tzinfo=UTC))
    yield Figure(name=f"one budget over {_POOLS:,} plans of a day, cut", value=_pass_s(made), unit="s")


if __name__ == "__main__":
    for figure in figures():
        print(figure.line if isinstance(figure, Figure) else figure)

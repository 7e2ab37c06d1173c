"""What the floors of a fleet cost and saved over the last days: from the store alone, so that it answers when clusters are down."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from forecaster.always_on import own_series
from forecaster.decision import CycleRecord
from forecaster.errors import HistoryAtOtherStep, NothingKept
from forecaster.ports import Store
from forecaster.savings import Money, PoolDays, Spent, floors_by_minute, least_floor, money, spent, total
from forecaster.series import LOAD_SIGNALS, Series, Signal, Window
from forecaster.units import DAY_S, MINUTE_S, floor_to
from forecaster.workload import Mode, Pool
from jobs.caches import after_caches
from jobs.capacity.known import how_to_tell
from jobs.fleet import Member
from jobs.ready import ReadyReplicas, ready_replicas
from jobs.route import route

PLAIN_TARGET = 0.7
"""The utilisation that most autoscalers in the field aim at, where nobody says another."""
_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked: over which whole UTC days, at which utilisation the autoscaler above the floors aims, and would aim without them."""

    window: Window
    target_ratio: float = PLAIN_TARGET
    alone_ratio: float = PLAIN_TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the account. workload None = the whole fleet; day None = all of the days. money: None without prices."""

    workload: str | None
    day: date | None
    mode: Mode | None
    spent: Spent
    money: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The rows: each workload by day and in sum, then the fleet. left_out: a sentence for each workload that is not in it."""

    rows: tuple[Row, ...]
    currency: str | None
    asked: Asked
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One workload's days."""

    member: Member
    spent: tuple[Spent, ...]
    money: tuple[Money | None, ...]


def whole_days(now: datetime, days: int) -> Window:
    """The last so many UTC days that have ended by `now`."""
    end = floor_to(now, DAY_S)
    return Window(start=end - timedelta(days=days), end=end)


def account(store: Store, members: Sequence[Member], asked: Asked) -> Account:
    """The account of whole UTC days. Raises StoreError, and NothingKept when of no workload anything was kept."""
    lines, left_out, replicas = [], [], ready_replicas(store)
    for member, records in with_records(store, members, asked.window):
        try:
            lines.append(_line(replicas, member, records, asked))
        except (NothingKept, HistoryAtOtherStep) as error:
            left_out.append(f"{member.workload.name}: {error}")
    if not lines:
        raise NothingKept(f"there is nothing to account for: {'; '.join(left_out) or 'no workload is configured'}")
    first = asked.window.start.date()
    days = [first + timedelta(days=i) for i in range(len(lines[0].spent))]
    rows = [
        row for line in lines for row in _rows(line.member.workload.name, line.member.workload.policy.mode, days, line.spent, line.money)
    ]
    of_fleet = [total([line.spent[i] for line in lines], Spent) for i in range(len(days))]
    money_of_fleet = [_summed([line.money[i] for line in lines]) for i in range(len(days))]
    currency = next((prices.currency for member in members for prices in member.prices.values()), None)
    return Account(
        rows=(*rows, *_rows(None, None, days, of_fleet, money_of_fleet)),
        currency=currency,
        asked=asked,
        left_out=tuple(left_out),
    )


def pool_days(replicas: ReadyReplicas, member: Member, pool: Pool, records: Sequence[CycleRecord], asked: Asked) -> PoolDays:
    """What is kept of a pool over whole UTC days.

    Raises StoreError, HistoryAtOtherStep, and NothingKept where the pool cannot be sized or no load was measured.
    """
    signal, window = sizing_signal(member, pool), asked.window
    if signal is None:
        raise NothingKept(f"pool {pool.name} has no capacity for its load; {how_to_tell(member, pool)}")
    arrived = route(replicas.store, member.lineage, signal, window, member.step_s).series
    load = own_series(member.workload, pool, after_caches(replicas.store, member, pool, arrived))
    if not load.measured_ratio:
        raise NothingKept(f"no {signal} was kept of these days; `forecaster fetch` brings what the source has")
    capacity, seen = pool.capacity.of(signal) or math.nan, least_floor(records, pool.name)
    least = member.workload.policy_of(pool).minimum if seen is None else seen
    is_full = pool.always_on > 0 and len(member.workload.behind(pool)) > 0  # nothing is added to it: what it does not carry is others'
    return PoolDays(
        load=load,
        ready=replicas.of(member.workload.name, pool.name, window, member.step_s),
        floors=floors_by_minute(records, pool.name, pool.targets[0], window),
        carry=capacity * member.workload.policy.efficiency_ratio,
        lead_min=math.ceil(pool.lead_time.plan_s / MINUTE_S),
        target_ratio=1.0 if is_full else asked.target_ratio,
        alone_ratio=1.0 if is_full else asked.alone_ratio,
        least=max(1, least or 1),
    )


def sizing_signal(member: Member, pool: Pool) -> Signal | None:
    """The load signal that a pool is replayed on: the first that is asked for and that it has a capacity for."""
    asked = {query.signal for query in member.queries}
    return next((s for s in LOAD_SIGNALS if s in asked and pool.capacity.of(s) is not None), None)


def scaled(series: Series, ratio: float) -> Series:
    """A share of a load."""
    return replace(series, mean=series.mean * ratio, peak=series.peak * ratio)


def with_records(store: Store, members: Sequence[Member], window: Window) -> Iterator[tuple[Member, tuple[CycleRecord, ...]]]:
    """Each member with its records, some at a time: those of a large fleet's month are not held in memory at once."""
    for first in range(0, len(members), _AT_ONCE):
        some = members[first : first + _AT_ONCE]
        found = store.records_of([member.workload.name for member in some], window)
        yield from ((member, found.get(member.workload.name, ())) for member in some)


def _line(replicas: ReadyReplicas, member: Member, records: Sequence[CycleRecord], asked: Asked) -> _Line:
    """One workload, its pools in sum. Raises NothingKept where one of them cannot be sized or nothing of its load is kept."""
    of_pools: list[tuple[Spent, ...]] = []
    priced: list[list[Money | None]] = []
    for pool in member.workload.serving:
        found = spent(pool_days(replicas, member, pool, records, asked))
        prices = member.prices.get(pool.name)
        of_pools.append(found)
        priced.append([None if prices is None else money(each, prices) for each in found])
    return _Line(
        member=member,
        spent=tuple(total(parts, Spent) for parts in zip(*of_pools, strict=True)),
        money=tuple(_summed(parts) for parts in zip(*priced, strict=True)),
    )


def _rows(
    workload: str | None, mode: Mode | None, days: Sequence[date], found: Sequence[Spent], priced: Sequence[Money | None]
) -> Iterator[Row]:
    for day, each, cost in zip(days, found, priced, strict=True):
        yield Row(workload=workload, day=day, mode=mode, spent=each, money=cost)
    yield Row(workload=workload, day=None, mode=mode, spent=total(found, Spent), money=_summed(priced))


def _summed(parts: Sequence[Money | None]) -> Money | None:
    known = [part for part in parts if part is not None]
    return total(known, Money) if known and len(known) == len(parts) else None

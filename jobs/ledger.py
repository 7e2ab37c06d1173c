"""What was asked for, when, and whether it was there in time: from the store alone, so that it answers when clusters are down."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from forecaster.always_on import own_series
from forecaster.decision import Action, CycleRecord
from forecaster.errors import HistoryAtOtherStep, NothingKept
from forecaster.ports import Store
from forecaster.ramps import Held, Minutes, Ramp, held, ramps
from forecaster.savings import floors_by_minute, least_floor, minutes_of
from forecaster.series import Floats, Window
from forecaster.units import MINUTE_S, floor_to
from forecaster.workload import Mode, Pool
from jobs.caches import after_caches
from jobs.fleet import Member
from jobs.ready import ReadyReplicas, ready_replicas
from jobs.route import route
from jobs.savings import sizing_signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One pool over the window: its ramps, and what its floors came to."""

    workload: str
    pool: str
    ramps: tuple[Ramp, ...]
    held: Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A page for each pool that was written; left_out: a sentence for each workload that is not in it."""

    window: Window
    pages: tuple[Page, ...]
    left_out: tuple[str, ...]


def ledger(store: Store, members: Sequence[Member], now: datetime, days: int) -> Ledger:
    """The ramps of the last so many times 24 hours. Raises StoreError, and NothingKept when of no workload anything was written."""
    pages: list[Page] = []
    left_out, replicas = [], ready_replicas(store)
    records = store.records_of([member.workload.name for member in members], Window(start=now - timedelta(days=days), end=now))
    for member in members:
        try:
            pages += _pages(replicas, member, _written(records.get(member.workload.name, ())), now, days)
        except (NothingKept, HistoryAtOtherStep) as error:
            left_out.append(f"{member.workload.name}: {error}")
    if not pages:
        raise NothingKept(f"there is nothing to account for: {'; '.join(left_out) or 'no workload is configured'}")
    return Ledger(window=Window(start=now - timedelta(days=days), end=now), pages=tuple(pages), left_out=tuple(left_out))


def _written(records: Sequence[CycleRecord]) -> tuple[CycleRecord, ...]:
    """Those that stood on an object: neither failed nor only observed."""
    return tuple(r for r in records if r.error is None and r.mode is not Mode.OBSERVE and r.decision.action is Action.SET)


def _pages(replicas: ReadyReplicas, member: Member, records: Sequence[CycleRecord], now: datetime, days: int) -> Iterator[Page]:
    if not records:
        raise NothingKept("no floor was written in this time")
    end = floor_to(now, member.step_s)
    window = Window(start=end - timedelta(days=days), end=end)
    for pool in member.workload.pools:
        minutes = _minutes(replicas, member, pool, records, window)
        if minutes is not None:
            yield Page(workload=member.workload.name, pool=pool.name, ramps=ramps(minutes), held=held(minutes))


def _minutes(replicas: ReadyReplicas, member: Member, pool: Pool, records: Sequence[CycleRecord], window: Window) -> Minutes | None:
    """A pool by the minute; None where no floor of its replicas was written."""
    pods = next((name for name in pool.in_order if name not in pool.nodes), pool.in_order[0])
    floors = floors_by_minute(records, pool.name, pods, window)
    if np.isnan(floors).all():
        return None
    nodes = next((name for name in pool.nodes if name != pods), None)
    ready = replicas.of(member.workload.name, pool.name, window, member.step_s)
    return Minutes(
        start=window.start,
        floors=floors,
        nodes=None if nodes is None else floors_by_minute(records, pool.name, nodes, window),
        ready=np.repeat(ready.mean, member.step_s // MINUTE_S),
        need=_need(replicas.store, member, pool, window),
        lead_min=math.ceil(pool.lead_time.plan_s / MINUTE_S),
        least=least_floor(records, pool.name) or 0,
    )


def _need(store: Store, member: Member, pool: Pool, window: Window) -> Floats:
    """Replicas, fractional, that the load of each minute asks for; NaN where it was not measured or nothing sizes it."""
    signal = sizing_signal(member, pool)
    capacity = None if signal is None else pool.capacity.of(signal)
    unknown: Floats = np.full(int(window.length_s // MINUTE_S), np.nan)
    if signal is None or capacity is None:
        return unknown
    arrived = route(store, member.lineage, signal, window, member.step_s).series
    load = own_series(member.workload, pool, after_caches(store, member, pool, arrived))
    if not load.measured_ratio:
        return unknown
    missing = np.repeat(np.isnan(load.mean), member.step_s // MINUTE_S)
    need: Floats = minutes_of(load).rpm / (capacity * member.workload.policy.efficiency_ratio)
    return np.where(missing, np.nan, need)

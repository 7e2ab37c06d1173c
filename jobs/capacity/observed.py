"""What production showed of a pool: kept history by bucket, and P95 latency as its source tells it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from forecaster.errors import NothingKept
from forecaster.learned import Observed, fresh
from forecaster.marks import MarkKind
from forecaster.ports import Query, Store
from forecaster.profile import Slo
from forecaster.series import Floats, Signal, Window
from forecaster.starts import LAST, Start
from forecaster.units import MINUTE_S, floor_to
from forecaster.workload import Pool
from jobs.fleet import Fleet, Member
from jobs.promotion import without
from jobs.ready import ReadyReplicas, ready_replicas
from jobs.route import route
from jobs.savings import scaled
from jobs.views.kept import Kept

LIMITED = {"ttft": "ttft_p95", "e2e": "latency_p95"}
"""By what an SLO limits, the question that presets supply."""
_LEAST_WARM_UP_S = 10 * MINUTE_S
"""Caches fill and kernels are compiled at the first requests, after a replica is ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What observing takes of the store, read once for all pools."""

    store: Store
    replicas: ReadyReplicas
    starts: Mapping[tuple[str, str], tuple[Start, ...]]
    now: datetime


def sight(fleet: Fleet, members: Sequence[Member], window: Window, now: datetime) -> Sight:
    """The starts and the notebook of ready replicas. Raises StoreError."""
    pools = [(member.workload.name, pool.name) for member in members for pool in member.workload.serving]
    starts = fleet.store.starts_of(pools, window, LAST) if pools else {}
    return Sight(store=fleet.store, replicas=ready_replicas(fleet.store), starts=starts, now=now)


def lately(now: datetime, span_s: float, step_s: int) -> Window:
    """The last so many seconds of whole buckets."""
    end = floor_to(now, step_s)
    return Window(start=floor_to(end - timedelta(seconds=span_s), step_s), end=end)


def alone(member: Member) -> Pool:
    """The one pool that serves. Raises NothingKept where there are several: P95 is told of the workload."""
    pools = member.workload.serving
    if len(pools) != 1:
        names = " and ".join(pool.name for pool in pools) or "no pool"
        raise NothingKept(f"P95 is told of the whole workload, so that it cannot be told apart for {names}")
    return pools[0]


def observed(of: Sight, member: Member, pool: Pool, slo: Slo, window: Window) -> Observed:
    """What was seen of a pool within a window of its grid; latencies are asked of the source, those that the SLO limits.

    Raises StoreError, HistoryAtOtherStep, SourceError, and NothingKept where no rpm is asked for.
    """
    asked = {query.signal for query in member.queries}
    if Signal.RPM not in asked:
        raise NothingKept("load a replica is counted in requests: add a signal or preset with rpm")
    step_s, name = member.step_s, member.workload.name
    load = scaled(route(of.store, member.lineage, Signal.RPM, window, step_s).series, pool.share_ratio)
    marks = Kept(store=of.store, member=member, now=of.now).marks(Signal.RPM, window.start)
    believed = without(load, [mark for mark in marks if mark.kind is not MarkKind.FLASH_CROWD])  # that one is true, and tells most
    ready = of.replicas.of(name, pool.name, window, step_s).mean

    def kept(signal: Signal) -> Floats:
        return of.store.history(name, signal, window, step_s).mean if signal in asked else np.full(len(load), np.nan)

    return Observed(
        step_s=step_s,
        rpm=load.mean,
        ready=ready,
        p95_s={limited: member.source.fetch(query, window, step_s).mean for limited, query in _queries(member, slo)},
        fresh=fresh(ready, _came_s(of.starts.get((name, pool.name), ())), load.times_s(), step_s, warm_up_s(pool)),
        left_out=np.isnan(believed.mean) & ~np.isnan(load.mean),
        refused_rpm=kept(Signal.REFUSED) * pool.share_ratio,
        in_flight=kept(Signal.CONCURRENCY) * pool.share_ratio,
        input_tokens=kept(Signal.INPUT_LENGTH),
        output_tokens=_generated(kept(Signal.OUTPUT_LENGTH), kept(Signal.TOKENS) * pool.share_ratio, load.mean),
        hits=kept(Signal.PREFIX_HITS),
    )


def warm_up_s(pool: Pool) -> float:
    """How long a replica is fresh once it is ready: as long as it took on a warm node, 10 minutes at least."""
    return max(pool.lead_time.warm_s, _LEAST_WARM_UP_S)


def _queries(member: Member, slo: Slo) -> list[tuple[str, Query]]:
    wanted = [(name, LIMITED[name]) for name, _ in slo.limits if name in LIMITED]
    return [(name, member.latencies[quantity]) for name, quantity in wanted if quantity in member.latencies]


def _came_s(starts: Sequence[Start]) -> Floats:
    """When replicas were seen to become ready, those of rolling updates too: they are as cold as others."""
    return np.array([start.ready.timestamp() for start in starts if start.ready is not None], dtype=np.float64)


def _generated(lengths: Floats, tokens_s: Floats, rpm: Floats) -> Floats:
    """Generated tokens a request, from their rate where no length is measured."""
    rated: Floats = np.divide(tokens_s * MINUTE_S, rpm, out=np.full(rpm.shape, np.nan), where=rpm > 0)
    return np.where(np.isnan(lengths), rated, lengths)

"""Gauges of the fleet as the last cycle left it. What was not known then is absent, and so is whatever was removed: never 0."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.apply import Basis, Cycle
from jobs.draft import Draft
from jobs.levers.tick import Tick
from jobs.telemetry import catalogue
from jobs.telemetry.metric import Metric
from jobs.telemetry.runs import Half


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One number of one metric. labels: values in the order of the metric's labels."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


def of_cycles(cycles: tuple[Cycle, ...], now: datetime) -> tuple[Reading, ...]:
    """What an apply run says of every workload, pool and target at `now`."""
    return tuple(
        reading
        for cycle in cycles
        for reading in (
            _reading(catalogue.TROUBLES, (cycle.workload, Half.APPLY), len(cycle.failures)),
            *(reading for basis in cycle.bases for reading in _of_pool(cycle.workload, basis, now)),
            *_of_targets(cycle),
        )
    )


def of_drafts(drafts: tuple[Draft, ...]) -> tuple[Reading, ...]:
    """What a forecast run says of every workload."""
    return tuple(
        reading
        for draft in drafts
        for reading in (
            _reading(catalogue.TROUBLES, (draft.name, Half.FORECAST), len(draft.failures)),
            *(_reading(catalogue.HISTORY_RATIO, (draft.name, known.signal), known.ratio) for known in draft.known),
            *_of_trust(draft),
            *_of_lead_times(draft),
        )
    )


def of_levers(tick: Tick) -> tuple[Reading, ...]:
    """Where levers and ladders stand after a tick."""
    held = (_reading(catalogue.LEVER_HELD, (name,), 1) for name in tick.memory.held)
    lost = (_reading(catalogue.LEVER_LOST, (name,), 1) for name in tick.lost)
    steps = (_reading(catalogue.LADDER_STEPS, (name,), one.depth) for name, one in tick.memory.standings.items())
    return (*held, *lost, *steps, _reading(catalogue.LEVER_RUN, (), tick.at.timestamp()))


def _of_lead_times(draft: Draft) -> Iterator[Reading]:
    for pool in draft.member.workload.pools:
        lead, seen = pool.lead_time, pool.lead_time.evidence
        yield _reading(catalogue.LEAD_TIME, (draft.name, pool.name, "warm"), lead.warm_s)
        yield _reading(catalogue.LEAD_TIME, (draft.name, pool.name, "cold"), lead.cold_s)
        if seen is not None:
            yield _reading(catalogue.STARTS, (draft.name, pool.name), seen.starts)


def _of_trust(draft: Draft) -> Iterator[Reading]:
    for found in draft.trusts:
        for metric, value in ((catalogue.TRUST_SCORE, found.score), (catalogue.COVERAGE, found.coverage)):
            if value is not None:
                yield _reading(metric, (draft.name, found.signal), value)


def _of_pool(workload: str, basis: Basis, now: datetime) -> Iterator[Reading]:
    labels = (workload, basis.pool)
    yield _reading(catalogue.AWAITING, labels, basis.in_force.waiting is not None)
    if basis.correction.look.need is not None:
        yield _reading(catalogue.LIVE_NEED, labels, basis.correction.look.need)
    plan = basis.in_force.plan
    if plan is None:
        return
    yield _reading(catalogue.PLAN_ISSUED, labels, plan.issued_at.timestamp())
    yield _reading(catalogue.PLAN_VALID_UNTIL, labels, plan.valid_until.timestamp())
    lead_s = plan.demand.lead_time_s if plan.demand is not None else 0.0
    for metric, instant in ((catalogue.PLANNED, now), (catalogue.PLANNED_AHEAD, now + timedelta(seconds=lead_s))):
        floor = plan.floor_at(instant)
        if floor is not None:
            yield _reading(metric, labels, floor.replicas)


def _of_targets(cycle: Cycle) -> Iterator[Reading]:
    pools = {record.decision.target: record.decision.pool for record in cycle.records}
    written = {record.decision.target: record.applied for record in cycle.records if record.applied is not None and record.applied.written}
    for record in cycle.records:
        decision = record.decision
        labels = (decision.workload, decision.pool, decision.target)
        yield _reading(catalogue.FLOOR, labels, decision.floor)
        for code in {alert.code for alert in decision.alerts}:
            yield _reading(catalogue.ALERT, (*labels, code), 1)
    for seen in cycle.seen:
        labels = (cycle.workload, pools[seen.target], seen.target)
        yield _reading(catalogue.OBJECT_FLOOR, labels, written[seen.target].after if seen.target in written else seen.floor)
        if seen.ready is not None:
            yield _reading(catalogue.READY, labels, seen.ready)
        if seen.pending is not None:
            yield _reading(catalogue.PENDING, labels, seen.pending)
        due = cycle.due.get(seen.target)
        if due is not None and seen.ready is not None:
            yield _reading(catalogue.OVERDUE, labels, max(due - seen.ready, 0))


def _reading(metric: Metric, labels: tuple[str, ...], value: float) -> Reading:
    return Reading(metric=metric, labels=tuple(str(label) for label in labels), value=float(value))

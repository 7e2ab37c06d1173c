"""What floors came to between two apply runs, in replica-seconds: added up as it goes, since nobody keeps every minute."""

from collections.abc import Iterator

from forecaster.units import MINUTE_S
from jobs.apply import Cycle
from jobs.telemetry import catalogue
from jobs.telemetry.readings import Reading

LONGEST_S = 15 * MINUTE_S
"""Longer than that between two runs, what was seen at the end of it does not speak of all of it."""


def held_since(cycle: Cycle, elapsed_s: float) -> Iterator[Reading]:
    """Increments of the replica-second counters of a workload, for the time that passed; none where replicas are not seen."""
    needs = {basis.pool: basis.correction.look.need for basis in cycle.bases}
    floors = {record.decision.target: record.decision for record in cycle.records if record.error is None}
    for seen in cycle.seen:
        decision = floors.get(seen.target)
        if decision is None or seen.ready is None:
            continue
        labels = (cycle.workload, decision.pool, seen.target)
        due, need = cycle.due.get(seen.target), needs.get(decision.pool)
        if due is not None:
            yield Reading(metric=catalogue.DUE_SECONDS, labels=labels, value=due * elapsed_s)
            yield Reading(metric=catalogue.SHORTFALL_SECONDS, labels=labels, value=max(due - seen.ready, 0) * elapsed_s)
        binds = seen.ready <= decision.floor
        yield Reading(metric=catalogue.BINDING_SECONDS, labels=labels, value=binds * max(decision.floor - seen.original, 0) * elapsed_s)
        if need is not None:
            idle = max(decision.floor - max(need, seen.original), 0)
            yield Reading(metric=catalogue.WASTED_SECONDS, labels=labels, value=binds * idle * elapsed_s)

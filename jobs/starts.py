"""Starts of replicas: seen while they happen, kept, and turned into the lead times that plans rest on.

A pod may be gone an hour after it was asked for, so apply looks at a target in every cycle in which replicas are on their way there, and at
no other: a fleet at rest costs one read of the store. Forecast looks at all, for what came and was ready between two cycles.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import structlog

from forecaster.decision import Seen
from forecaster.errors import TargetError
from forecaster.ports import StartSource
from forecaster.series import Window
from forecaster.starts import LAST, SPAN_S, Start, followed, measured
from forecaster.workload import Pool
from jobs.at_once import at_once
from jobs.failure import Failure, failure
from jobs.fleet import Fleet, Member
from jobs.standing import NEXT

Unread: TypeAlias = dict[str, tuple[Failure, ...]]
"""Why starts were not read, by workload: told and counted, and in nobody's way, since the configured lead time stands until then."""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One look at a target, with the starts that were open there when it was last looked at."""

    workload: str
    pool: str
    source: StartSource
    known: tuple[Start, ...]


def look_at_pending(fleet: Fleet, seen: Iterable[Seen], now: datetime) -> Unread:
    """Look at the targets where replicas were seen on their way, now or at the last look. Raises StoreError."""
    return _looked(fleet, {each.target for each in seen if each.pending}.__contains__, now)


def look_at_all(fleet: Fleet, now: datetime) -> Unread:
    """Look at every target that can tell. Raises StoreError."""
    return _looked(fleet, lambda _: True, now)


def with_lead_times(fleet: Fleet, now: datetime) -> Fleet:
    """The fleet with the lead times that its starts come to at `now`, the configured ones where they are too few. Raises StoreError."""
    pools = [(member.workload.name, pool.name) for member in fleet.members if member.starts for pool in member.workload.pools]
    span = Window(start=now - timedelta(seconds=SPAN_S), end=now + NEXT)
    starts = fleet.store.starts_of(pools, span, LAST) if pools else {}
    members = tuple(_measured(member, starts, fleet.horizon_s, now) for member in fleet.members)
    return replace(fleet, members=members)


def _measured(member: Member, starts: Mapping[tuple[str, str], tuple[Start, ...]], horizon_s: float, now: datetime) -> Member:
    def measured_pool(pool: Pool) -> Pool:
        of_pool = [start for start in starts.get((member.workload.name, pool.name), ()) if start.target in member.starts]
        found = measured(of_pool, pool.lead_time, now)
        return replace(pool, lead_time=found) if found.plan_s < horizon_s else pool  # beyond it no forecast would speak of the load

    if not member.starts:
        return member
    return replace(member, workload=replace(member.workload, pools=tuple(map(measured_pool, member.workload.pools))))


def _looked(fleet: Fleet, pending: Callable[[str], bool], now: datetime) -> Unread:
    if not any(member.starts for member in fleet.members):
        return {}
    known = fleet.store.open_starts()
    looks = tuple(_looks(fleet, known, pending))
    answers = at_once(partial(_look, now=now), looks, fleet.workers) if looks else ()
    found = [(look.workload, look.pool, start) for look, answer in zip(looks, answers, strict=True) for start in answer[0]]
    if found:
        fleet.store.append_starts(found)
    unread: dict[str, tuple[Failure, ...]] = defaultdict(tuple)
    for look, (_, failed) in zip(looks, answers, strict=True):
        if failed is not None:
            unread[look.workload] += (failed,)
    return dict(unread)


def _looks(fleet: Fleet, known: Mapping[tuple[str, str], tuple[Start, ...]], pending: Callable[[str], bool]) -> Iterator[_Look]:
    for member in fleet.members:
        for pool in member.workload.pools if member.starts else ():
            before = known.get((member.workload.name, pool.name), ())
            for name in (name for name in pool.targets if name in member.starts):
                of_target = tuple(start for start in before if start.target == name)
                if of_target or pending(name):
                    yield _Look(workload=member.workload.name, pool=pool.name, source=member.starts[name], known=of_target)


def _look(look: _Look, now: datetime) -> tuple[tuple[Start, ...], Failure | None]:
    """What is worth keeping of one look, or why there was none."""
    try:
        return followed(look.source.starts(now), look.known, now), None
    except Exception as error:  # the wall between targets: floors are decided without it, whatever an API server answers
        if not isinstance(error, TargetError):
            log.exception("starts", target=look.source.name)
        return (), failure("starts", error, f"starts on {look.source.name} were not read: {error}")

"""What admission asks of the levers now: limits from the replicas that are ready and will stay."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from forecaster.admission import Limits, limits_of, replicas_that_count
from forecaster.decision import Seen
from forecaster.errors import TargetError
from forecaster.ladder import LeverValue
from forecaster.series import Signal, Window
from forecaster.tiers import Wish
from forecaster.units import HOUR_S, ceil_to
from forecaster.workload import Mode, Pool
from jobs.capacity.known import with_capacities
from jobs.config.tiers import AdmissionSection
from jobs.failure import Failure, failure
from jobs.fleet import Fleet, Member
from jobs.standing import EVER, standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Wishes by lever, None = it is not known what to ask for and what stands is kept; and what failed."""

    wishes: dict[str, Wish | None]
    failures: tuple[Failure, ...]


def admit(fleet: Fleet, sections: tuple[AdmissionSection, ...], now: datetime) -> Admitted:
    """The limits of every section. A pool that is not there, or whose capacity or ready replicas are unknown, keeps its levers as they are.

    Raises StoreError.
    """
    named = {section.workload for section in sections}
    fleet = with_capacities(replace(fleet, members=tuple(member for member in fleet.members if member.workload.name in named)), now)
    wishes: dict[str, Wish | None] = {}
    failures: list[Failure] = []
    for section in sections:
        found = _placed(fleet, section)
        count: int | None = None
        if found is None:
            told = f"there is no pool {section.workload}/{section.pool} of known rpm and concurrency now, so its limits stay as they are"
            failures.append(Failure(verb="levers", error="PoolUnknown", sentence=told, cause=told))
        else:
            try:
                count = _counted(fleet, *found, section, now)
            except TargetError as error:
                told = f"ready replicas of {section.workload}/{section.pool} are unknown, so its limits stay as they are: {error}"
                failures.append(failure("levers", error, told))
        if found is None or count is None:
            wishes |= dict.fromkeys(section.levers())
        else:
            wishes |= dict(_wishes(section, _limits(section, found[1], count), now))
    return Admitted(wishes=wishes, failures=tuple(failures))


def _placed(fleet: Fleet, section: AdmissionSection) -> tuple[Member, Pool] | None:
    """The workload and its pool, with what sizes limits."""
    for member in fleet.members:
        for pool in member.workload.pools:
            sized = pool.capacity.of(Signal.RPM) is not None and pool.capacity.of(Signal.CONCURRENCY) is not None
            if (member.workload.name, pool.name) == (section.workload, section.pool) and sized:
                return member, pool
    return None


def _counted(fleet: Fleet, member: Member, pool: Pool, section: AdmissionSection, now: datetime) -> int | None:
    """The replicas that count, None = unknown. Raises TargetError where nobody can tell."""
    seen = _seen(member, pool, now)
    if seen is None:
        return None
    floor, coming = _floors(fleet, member, pool, section, now)
    drains = floor is not None and coming is not None and coming < floor
    return replicas_that_count(seen.ready, floor=seen.floor, coming=coming if drains else None)


def _seen(member: Member, pool: Pool, now: datetime) -> Seen | None:
    """The first target of the pool that tells of ready replicas; several of them carry the same."""
    for name in pool.targets:
        if name not in pool.nodes:
            seen = member.targets[name].observe(now)
            if seen.ready is not None:
                return seen
    return None


def _floors(fleet: Fleet, member: Member, pool: Pool, section: AdmissionSection, now: datetime) -> tuple[int | None, int | None]:
    """The plan's floor now and its smallest within the notice; None where no plan is in force, or none is written."""
    if member.workload.policy.mode is Mode.OBSERVE:
        return None, None
    span = Window(start=now, end=now + timedelta(seconds=section.notice))
    rulings = fleet.store.rulings(member.workload.name, Window(start=EVER, end=now + timedelta(seconds=1)))
    plan = standing(fleet.store, member.workload, pool.name, rulings, now, span=span)[0].plan
    if plan is None:
        return None, None
    at = plan.floor_at(now)
    ahead = [floor.replicas for floor in plan.within(span).floors]
    return None if at is None else at.replicas, min(ahead, default=None)


def _limits(section: AdmissionSection, pool: Pool, count: int) -> Limits:
    rpm, concurrency = pool.capacity.of(Signal.RPM), pool.capacity.of(Signal.CONCURRENCY)
    return limits_of(section.service_of(rpm or 0.0, concurrency or 0.0), count)


def _wishes(section: AdmissionSection, limits: Limits, now: datetime) -> Iterator[tuple[str, Wish]]:
    """A wish a lever. It ends within two hours unless it is renewed, which is written twice an hour."""
    until = ceil_to(now + timedelta(hours=1), HOUR_S // 2)
    by_tenant = {limit.tenant: limit for limit in limits.tenants}
    pairs: list[tuple[str | None, LeverValue]] = [
        (section.queue_length, limits.queue_length),
        (section.queue_timeout, limits.queue_timeout_s),
        (section.breaker, limits.breaker),
    ]
    pairs += [(tenant.rate, by_tenant[tenant.name].rate_rpm) for tenant in section.tenants]
    pairs += [(tenant.burst, by_tenant[tenant.name].burst) for tenant in section.tenants]
    why = f"admission of {section.workload}/{section.pool}: {limits.replicas} ready replicas count"
    return ((lever, Wish(value=value, why=why, until=until)) for lever, value in pairs if lever is not None)

"""What admission asks of the levers now: limits from the replicas that are ready and will stay."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from forecaster.admission import Limits, limits_of, replicas_that_count
from forecaster.caches import Hits
from forecaster.decision import Seen
from forecaster.errors import TargetError
from forecaster.ladder import LeverValue
from forecaster.plan import Plan
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
        plan: Plan | None = None
        count: int | None = None
        if found is None:
            told = f"there is no pool {section.workload}/{section.pool} of known rpm and concurrency now, so its limits stay as they are"
            failures.append(Failure(verb="levers", error="PoolUnknown", sentence=told, cause=told))
        else:
            plan = _plan(fleet, *found, section, now)
            try:
                count = _counted(*found, plan, section, now)
            except TargetError as error:
                told = f"ready replicas of {section.workload}/{section.pool} are unknown, so its limits stay as they are: {error}"
                failures.append(failure("levers", error, told))
        if found is None or count is None:
            wishes |= dict.fromkeys(section.levers())
        else:
            wishes |= dict(_wishes(section, _limits(section, found[1], plan, count), now))
    return Admitted(wishes=wishes, failures=tuple(failures))


def _placed(fleet: Fleet, section: AdmissionSection) -> tuple[Member, Pool] | None:
    """The workload and its pool, with what sizes limits."""
    for member in fleet.members:
        for pool in member.workload.pools:
            sized = pool.capacity.of(Signal.RPM) is not None and pool.capacity.of(Signal.CONCURRENCY) is not None
            if (member.workload.name, pool.name) == (section.workload, section.pool) and sized:
                return member, pool
    return None


def _plan(fleet: Fleet, member: Member, pool: Pool, section: AdmissionSection, now: datetime) -> Plan | None:
    """The plan in force, with its floors within the notice; None where there is none."""
    span = Window(start=now, end=now + timedelta(seconds=section.notice))
    rulings = fleet.store.rulings(member.workload.name, Window(start=EVER, end=now + timedelta(seconds=1)))
    return standing(fleet.store, member.workload, pool.name, rulings, now, span=span)[0].plan


def _counted(member: Member, pool: Pool, plan: Plan | None, section: AdmissionSection, now: datetime) -> int | None:
    """The replicas that count, None = unknown. Raises TargetError where nobody can tell."""
    seen = _seen(member, pool, now)
    if seen is None:
        return None
    written = None if member.workload.policy.mode is Mode.OBSERVE else plan
    floor, coming = _floors(written, section, now)
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


def _floors(plan: Plan | None, section: AdmissionSection, now: datetime) -> tuple[int | None, int | None]:
    """A plan's floor now and its smallest within the notice; None where it says none."""
    if plan is None:
        return None, None
    at = plan.floor_at(now)
    ahead = [floor.replicas for floor in plan.within(Window(start=now, end=now + timedelta(seconds=section.notice))).floors]
    return None if at is None else at.replicas, min(ahead, default=None)


def _limits(section: AdmissionSection, pool: Pool, plan: Plan | None, count: int) -> Limits:
    """Gateways count before the caches, so that what the plan counts on that those take may be let in on top."""
    rpm, concurrency = pool.capacity.of(Signal.RPM), pool.capacity.of(Signal.CONCURRENCY)
    hits = Hits() if plan is None or plan.demand is None else plan.demand.hits
    left_ratio = pool.caches.counting(hits).left(Signal.RPM)
    return limits_of(section.service_of(rpm or 0.0, concurrency or 0.0), count, left_ratio=left_ratio)


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

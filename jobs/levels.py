"""At which level each pool is planned: the configured one, or the recommended one where the configuration says `auto`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from forecaster.ports import Store
from forecaster.reasons import Code, Reason
from forecaster.recommendation import Recommendation
from forecaster.workload import Pool, Workload
from jobs.fleet import Fleet, Member
from jobs.recommendations import Looked, PoolName, kept_looks, pools_of


def with_levels(fleet: Fleet, now: datetime) -> Fleet:
    """The fleet with what is recommended at `now` for those that follow it; one read for all. Raises StoreError."""
    following = [member for member in fleet.members if member.follows]
    found = {member.workload.name: member for member in with_points(fleet.store, following, now)}
    return replace(fleet, members=tuple(found.get(member.workload.name, member) for member in fleet.members))


def with_points(store: Store, members: Iterable[Member], now: datetime) -> tuple[Member, ...]:
    """The members with what is recommended for their pools at `now`; one read for all. Raises StoreError."""
    members = tuple(members)
    looks = kept_looks(store, members)
    return tuple(replace(member, points=_standing(member, looks, now)) for member in members)


def at_its_level(member: Member, pool: Pool) -> tuple[Workload, tuple[Reason, ...]]:
    """The workload at the level that a pool is planned at, and why it is not the configured one."""
    point = member.points.get(pool.name)
    if not member.follows or point is None:
        return member.workload, ()
    policy = replace(member.workload.policy, level=point.level)
    detail = f"level auto is P{point.level * 100:g}; recommended since {point.since:%Y-%m-%d}: {point.told}"
    return replace(member.workload, policy=policy), (Reason(code=Code.OPERATING_POINT, detail=detail),)


def _standing(member: Member, looks: Mapping[PoolName, Looked], now: datetime) -> dict[str, Recommendation]:
    found = ((pool, looks[workload, pool].standing(now)) for workload, pool in pools_of(member) if (workload, pool) in looks)
    return {pool: point for pool, point in found if point is not None}

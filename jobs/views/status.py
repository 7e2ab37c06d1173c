"""How things stand: modes, floors, plans, and what people ordered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from forecaster.approval import InForce, active, override_of
from forecaster.decision import CycleRecord, Ruling, RulingKind
from forecaster.errors import NothingKept
from forecaster.ports import Store
from forecaster.recommendation import Recommendation
from forecaster.workload import Mode, Workload
from jobs.fleet import Member
from jobs.standing import standing
from jobs.unread import Unread
from jobs.views.kept import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatus:
    """One pool: the plan in force, and the last record of each target, None where nothing was ever decided."""

    pool: str
    in_force: InForce
    targets: tuple[tuple[str, CycleRecord | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadStatus:
    """One workload as of `now`; pause, override: the orders that hold, None = none. promotion: what raised its mode from `configured`.

    points: what is recommended for its pools. unread: by target, why the last apply decided nothing of it.
    """

    now: datetime
    workload: Workload
    pause: Ruling | None
    override: Ruling | None
    pools: tuple[PoolStatus, ...]
    promotion: Ruling | None
    configured: Mode
    points: Mapping[str, Recommendation]
    unread: Mapping[str, Unread]


def status_of(store: Store, members: tuple[Member, ...], now: datetime, *, beside: bool = False) -> tuple[WorkloadStatus, ...]:
    """How each member stands. beside: something else is told as well, so that there is a status without them.

    Raises NothingKept when nothing was ever planned or decided and nothing stands beside, and StoreError.
    """
    found = tuple(_status(Kept(store=store, member=member, now=now)) for member in members)
    pools = [pool for status in found for pool in status.pools]
    unread = any(status.unread for status in found)
    if (
        not beside
        and not unread
        and not any(pool.in_force.plan or pool.in_force.waiting or any(record for _, record in pool.targets) for pool in pools)
    ):
        raise NothingKept("there is no status: nothing was planned or decided yet; run `forecaster run` first")
    return found


def _status(kept: Kept) -> WorkloadStatus:
    rulings = kept.rulings()
    records = {(r.decision.pool, r.decision.target): r for r in kept.last_records()}
    return WorkloadStatus(
        now=kept.now,
        workload=kept.workload,
        pause=active(rulings, RulingKind.PAUSE, RulingKind.RESUME, kept.now),
        override=override_of(rulings, kept.now),
        pools=tuple(
            PoolStatus(
                pool=pool.name,
                in_force=standing(kept.store, kept.workload, pool.name, rulings, kept.now)[0],
                targets=tuple((target, records.get((pool.name, target))) for target in pool.targets),
            )
            for pool in kept.workload.pools
        ),
        promotion=kept.member.promotion,
        configured=kept.member.configured or kept.workload.policy.mode,
        points=kept.member.points,
        unread=kept.unread(),
    )

"""What each apply posts for those who pull: the last word on every pool, one row of the store for the whole fleet.

Records are kept when they are news, an hour apart at most; a posting is renewed by every apply. So its age tells whether anybody still
decides, and one read of one row answers for a thousand workloads.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from forecaster.decision import Seen
from forecaster.demand import carry_of
from forecaster.forecast import State
from forecaster.guard import bounds_of
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.units import DAY_S, MINUTE_S, check_instant, check_not_negative, epoch_s, from_epoch_s
from forecaster.workload import Mode, Policy, Pool
from jobs.fleet import Member

if TYPE_CHECKING:  # apply posts, so it imports us
    from jobs.apply import Basis, Cycle

_KEY = "forecaster/postings"
_VERSION = 1
_FORGOTTEN_S = 14 * DAY_S
"""A pool that nobody decided on for so long has left the fleet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """One pool as an apply left it at `at`: numbers in replicas, `queue` in requests, None = not known.

    mode: the one that held. floors: what was decided, by target. floor: the same of what counts replicas, the largest. original: what was
    found at adoption. least, most: the bounds of any floor, None = no ceiling. valid_until: when the floor is dead unless it is renewed.
    planned, planned_ahead: what the plan asks now and one lead time later, before live load and bounds. lead_s: that lead time.
    """

    at: datetime
    mode: Mode
    floor: int
    floors: Mapping[str, int]
    original: int
    least: int
    valid_until: datetime
    most: int | None = None
    ready: int | None = None
    pending: int | None = None
    queue: float | None = None
    planned: int | None = None
    planned_ahead: int | None = None
    lead_s: float | None = None

    def __post_init__(self) -> None:
        check_instant("posting.at", self.at)
        check_instant("posting.valid_until", self.valid_until)
        for name in ("floor", "original", "least"):
            check_not_negative(f"posting.{name}", getattr(self, name), "replicas")


_NAMES = tuple(field.name for field in fields(Posting))
Postings: TypeAlias = Mapping[tuple[str, str], Posting]
"""By workload and pool."""


def postings(store: Store) -> Postings:
    """The last word on every pool that has one. Raises StoreError."""
    kept = store.states([_KEY]).get(_KEY)
    if kept is None or kept.version != _VERSION:
        return {}
    rows = json.loads(zlib.decompress(kept.payload))
    return {(workload, pool): _read(values) for workload, pool, values in rows}


def post(store: Store, looked: Iterable[tuple[Member, "Cycle"]], now: datetime) -> None:
    """Renew the postings of the pools that were decided on. Raises StoreError."""
    keep(store, {(cycle.workload, pool): posting for member, cycle in looked for pool, posting in _posted(member, cycle, now)}, now)


def keep(store: Store, fresh: Postings, now: datetime) -> None:
    """Keep these; the others stay as they are, with their age, until they are forgotten. Raises StoreError."""
    if not fresh:
        return
    since = now - timedelta(seconds=_FORGOTTEN_S)
    kept = {**{key: posting for key, posting in postings(store).items() if posting.at >= since}, **fresh}
    rows = [[workload, pool, _written(posting)] for (workload, pool), posting in kept.items()]
    payload = zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)
    store.save_states({_KEY: State(model="postings", version=_VERSION, payload=payload)})


def _posted(member: Member, cycle: "Cycle", now: datetime) -> Iterator[tuple[str, Posting]]:
    bases, seen = {basis.pool: basis for basis in cycle.bases}, {each.target: each for each in cycle.seen}
    for pool in member.workload.pools:
        records = [record for record in cycle.records if record.decision.pool == pool.name]
        if not records:
            continue
        floors = {record.decision.target: record.decision.floor for record in records}
        counting = [name for name in floors if name not in pool.nodes] or list(floors)  # nodes are asked for earlier than what runs on them
        looks = [seen[name] for name in counting]
        policy = member.workload.policy_of(pool)
        least, most = _bounds(policy, looks)
        planned, planned_ahead, lead_s = _planned(bases[pool.name].in_force.plan, now)
        posting = Posting(
            at=now,
            mode=records[0].mode,
            floor=max(floors[name] for name in counting),
            floors=floors,
            original=max(look.original for look in looks),
            least=least,
            most=most,
            valid_until=min(record.decision.valid_until for record in records),
            ready=next((look.ready for look in looks if look.ready is not None), None),
            pending=next((look.pending for look in looks if look.pending is not None), None),
            queue=_queue(bases[pool.name], pool, policy),
            planned=planned,
            planned_ahead=planned_ahead,
            lead_s=lead_s,
        )
        yield pool.name, posting


def _bounds(policy: Policy, looks: list[Seen]) -> tuple[int, int | None]:
    """The bounds of the largest floor among the targets."""
    bounds = [bounds_of(policy, look) for look in looks]
    ceilings = [most for _, most in bounds if most is not None]
    return max(least for least, _ in bounds), max(ceilings) if len(ceilings) == len(bounds) else None


def _queue(basis: "Basis", pool: Pool, policy: Policy) -> float | None:
    """The backlog in requests, as far as live load told of it."""
    backlog = basis.correction.look.backlog
    return None if backlog is None else round(backlog.work_s / MINUTE_S * carry_of(pool.capacity, Signal.RPM, policy), 3)


def _planned(plan: Plan | None, now: datetime) -> tuple[int | None, int | None, float | None]:
    """What the plan in force asks now and one lead time later, and that lead time."""
    if plan is None:
        return None, None, None
    lead_s = plan.demand.lead_time_s if plan.demand is not None else 0.0
    here, ahead = plan.floor_at(now), plan.floor_at(now + timedelta(seconds=lead_s))
    return None if here is None else here.replicas, None if ahead is None else ahead.replicas, lead_s


def _written(posting: Posting) -> dict[str, object]:
    values = {name: getattr(posting, name) for name in _NAMES}
    known = {name: value for name, value in values.items() if value is not None}
    return known | {"at": epoch_s(posting.at), "valid_until": epoch_s(posting.valid_until)}


def _read(values: dict[str, Any]) -> Posting:
    at, valid_until, mode = from_epoch_s(values["at"]), from_epoch_s(values["valid_until"]), Mode(values["mode"])
    return Posting(**(values | {"at": at, "valid_until": valid_until, "mode": mode}))

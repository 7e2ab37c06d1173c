"""What a tick needs of the store, read for a hundred workloads at once: one by one, asking would cost more than reading."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forecaster.decision import CycleRecord, Ruling
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.series import Window
from forecaster.starts import LONGEST_S
from forecaster.units import HOUR_S
from jobs.earned import earned
from jobs.fleet import Member
from jobs.standing import EVER, NEAR_S, NEXT

NEWS_S = 1 * HOUR_S
"""A record that says nothing new is kept this often, as a sign of life."""
_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Of one workload, up to and including `now`, oldest first.

    plans: those of the last hours by pool, with the floors of `span`, which is from `now` to a lead time ahead. records: as far back as a
    decision looks, led by the last one before of each target. rulings: every one.
    """

    span: Window
    plans: dict[str, tuple[Plan, ...]]
    records: tuple[CycleRecord, ...]
    rulings: tuple[Ruling, ...]


def remembered(store: Store, members: Sequence[Member], now: datetime) -> Iterator[tuple[Member, Memory]]:
    """Each member, in the mode that holds, with what is remembered of it; read when its turn comes. Raises StoreError."""
    for first in range(0, len(members), _AT_ONCE):
        batch = members[first : first + _AT_ONCE]
        for member, memory in zip(batch, _read(store, batch, now), strict=True):
            yield earned(member, memory.rulings, now), memory


def _read(store: Store, members: Sequence[Member], now: datetime) -> list[Memory]:
    def back(span_s: float) -> Window:
        return Window(start=now - timedelta(seconds=span_s), end=now + NEXT)

    names = [member.workload.name for member in members]
    pools = [(member.workload.name, pool) for member in members for pool in member.workload.pools]
    ahead_s = max(max(pool.lead_time.plan_s, pool.lead_time.nodes_ahead_s) for _, pool in pools)
    if any(member.starts for member in members):  # plans rest on lead times that are measured elsewhere, and may be longer
        ahead_s = max(ahead_s, LONGEST_S)
    span = Window(start=now, end=now + timedelta(seconds=ahead_s) + NEXT)
    plans = store.plans_of([(name, pool.name) for name, pool in pools], back(NEAR_S), span=span)
    records = store.records_of(names, back(max(NEWS_S, ahead_s, *(member.workload.policy.hold_s for member in members))))
    rulings = store.rulings_of(names, Window(start=EVER, end=now + NEXT))
    return [
        Memory(
            span=span,
            plans={pool.name: plans.get((name, pool.name), ()) for pool in member.workload.pools},
            records=records.get(name, ()),
            rulings=rulings.get(name, ()),
        )
        for name, member in zip(names, members, strict=True)
    ]

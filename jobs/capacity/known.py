"""The capacity of each pool that takes it from the store: that of its newest profile at an instant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forecaster.capacity import Capacity
from forecaster.ports import Store
from forecaster.profile import ProfileEntry, Setup
from forecaster.profile_carried import Carried, Confidence, carried, confidence
from forecaster.series import Window
from forecaster.workload import Pool, Workload
from jobs.fleet import Fleet, Member
from jobs.standing import EVER, NEXT

PoolKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a pool's newest profile comes to: `found`, or the sentence why it proves nothing. stale: what is served otherwise by now."""

    entry: ProfileEntry
    found: Carried | str
    stale: tuple[str, ...]
    confidence: Confidence
    doubts: tuple[str, ...]

    @property
    def capacity(self) -> Capacity | None:
        """The figures, None = it proves none."""
        return self.found.capacity if isinstance(self.found, Carried) else None


def with_capacities(fleet: Fleet, now: datetime) -> Fleet:
    """The fleet with the capacities that were imported by `now`; one read for all, none where nobody asks for one. Raises StoreError."""
    wanted = [(member.workload.name, name) for member in fleet.members for name in sorted(member.imported)]
    if not wanted:
        return fleet
    entries = newest_of(fleet.store, wanted, now)
    return replace(fleet, members=tuple(_member_with(member, entries, now) for member in fleet.members))


def imported_into(workload: Workload, imported: frozenset[str], known: Mapping[str, Known]) -> Workload:
    """The workload with the capacities of its profiles, by pool; a pool whose profile proves none, or contradicts its SLO, has none."""
    return replace(
        workload, pools=tuple(_pool_with(pool, known.get(pool.name)) if pool.name in imported else pool for pool in workload.pools)
    )


def newest_of(store: Store, pools: Sequence[PoolKey], now: datetime) -> dict[PoolKey, ProfileEntry]:
    """The newest profile that each pool was given by `now`. Raises StoreError."""
    found = store.profiles_of(pools, Window(start=EVER, end=now + NEXT)) if pools else {}
    return {key: entries[-1] for key, entries in found.items()}


def known(entry: ProfileEntry, serving: Setup, now: datetime) -> Known:
    """What a profile comes to for what is served now; what its file did not tell is taken from there."""
    profile = replace(entry.profile, setup=entry.profile.setup.filled(serving))
    found, stale = carried(profile, entry.slo), entry.profile.setup.changed(serving)
    if isinstance(found, str):
        return Known(entry=entry, found=found, stale=stale, confidence=Confidence.LOW, doubts=(*stale, found))
    level, doubts = confidence(profile, found, stale, now)
    return Known(entry=entry, found=found, stale=stale, confidence=level, doubts=doubts)


def _member_with(member: Member, entries: Mapping[PoolKey, ProfileEntry], now: datetime) -> Member:
    if not member.imported:
        return member
    name = member.workload.name
    of_pools = {
        pool: known(entries[name, pool], member.servings.get(pool, Setup()), now) for pool in member.imported if (name, pool) in entries
    }
    return replace(member, workload=imported_into(member.workload, member.imported, of_pools))


def _pool_with(pool: Pool, found: Known | None) -> Pool:
    capacity = None if found is None else found.capacity
    try:
        return replace(pool, capacity=Capacity() if capacity is None else capacity)
    except ValueError:  # the waits that the configuration promises cannot be kept at it: `check` says so
        return replace(pool, capacity=Capacity())

"""The capacity of every pool as people see it: figures, where from, how old, how far to believe, and what binds."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from forecaster.capacity import Capacity
from forecaster.ports import Store
from forecaster.profile import Origin, Setup
from forecaster.profile_carried import Carried, Confidence
from forecaster.series import LOAD_SIGNALS
from forecaster.units import spell_number
from forecaster.workload import Pool
from jobs.capacity.known import Known, known, newest_of
from jobs.capacity.variant import Variant
from jobs.fleet import Member

CONTRADICTION_RATIO = 0.2
"""Configured and measured figures that differ by more speak of two setups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCapacity:
    """What one replica of a pool carries. in_use: what floors rest on. profile: the newest that was imported, None = none was."""

    workload: str
    pool: str
    in_use: Capacity
    origin: Origin | None
    profile: Known | None
    contradiction: str

    @property
    def confidence(self) -> Confidence | None:
        """Of what is in use; None = nobody measured it."""
        return self.profile.confidence if self.profile is not None and self.origin is Origin.FILE else None

    @property
    def carried(self) -> Carried | None:
        """What the profile comes to, None = there is none, or it proves nothing."""
        return self.profile.found if self.profile is not None and isinstance(self.profile.found, Carried) else None


def overview(store: Store, members: tuple[Member, ...], now: datetime) -> Iterator[PoolCapacity]:
    """Every pool and variant of `members`, whose imported capacities are in place. Raises StoreError."""
    keys = [(member.workload.name, pool.name) for member in members for pool in member.workload.pools]
    keys += [(member.workload.name, variant.name) for member in members for variant in member.variants]
    entries = newest_of(store, keys, now)
    for member in members:
        for pool in member.workload.pools:
            entry = entries.get((member.workload.name, pool.name))
            found = None if entry is None else known(entry, member.servings.get(pool.name, Setup()), now)
            yield _of_pool(member, pool, found)
        for variant in member.variants:
            entry = entries.get((member.workload.name, variant.name))
            yield _of_variant(member, variant, None if entry is None else known(entry, variant.serving, now))


def contradiction(configured: Capacity, measured: Capacity) -> str:
    """Where a configured figure and a measured one differ by more than 20 % of the measured one, in words; empty where none does."""
    both = ((s, configured.of(s), measured.of(s)) for s in LOAD_SIGNALS)
    apart = [
        f"{spell_number(said)} {signal.unit} configured, {spell_number(found)} measured"
        for signal, said, found in both
        if said is not None and found is not None and abs(said - found) > CONTRADICTION_RATIO * found
    ]
    return "; ".join(apart)


def _of_variant(member: Member, variant: Variant, found: Known | None) -> PoolCapacity:
    measured = None if found is None else found.capacity
    capacity = measured if variant.is_imported and measured is not None else variant.capacity
    is_known = any(capacity.of(signal) is not None for signal in LOAD_SIGNALS)
    return PoolCapacity(
        workload=member.workload.name,
        pool=variant.name,
        in_use=capacity,
        origin=None if not is_known else Origin.FILE if variant.is_imported else Origin.CONFIGURED,
        profile=found,
        contradiction="" if measured is None or variant.is_imported else contradiction(variant.capacity, measured),
    )


def _of_pool(member: Member, pool: Pool, found: Known | None) -> PoolCapacity:
    measured, is_imported = None if found is None else found.capacity, pool.name in member.imported
    is_known = any(pool.capacity.of(signal) is not None for signal in LOAD_SIGNALS)
    return PoolCapacity(
        workload=member.workload.name,
        pool=pool.name,
        in_use=pool.capacity,
        origin=None if not is_known else Origin.FILE if is_imported else Origin.CONFIGURED,
        profile=found,
        contradiction="" if measured is None or is_imported else contradiction(pool.capacity, measured),
    )

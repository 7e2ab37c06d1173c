"""The capacity of every pool as people see it: what is in use, and every other source beside it with why it is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from forecaster.capacity import Capacity
from forecaster.ports import Store
from forecaster.profile import Origin, Setup
from forecaster.profile_best import Asked, Choice, Source
from forecaster.series import LOAD_SIGNALS
from forecaster.units import spell_number
from jobs.capacity.known import choice_of, newest_of_each, what_is_missing
from jobs.capacity.lengths import measured_lengths
from jobs.fleet import Member

CONTRADICTION_RATIO = 0.2
"""Configured and measured figures that differ by more speak of two setups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCapacity:
    """What one replica of a pool or variant carries by each source that is known. missing: what to do where none is in use."""

    workload: str
    pool: str
    asked: Asked
    choice: Choice
    missing: str = ""

    @property
    def used(self) -> Source | None:
        """What floors rest on, None = nothing, so that the pool is held."""
        return self.choice.used

    @property
    def sources(self) -> tuple[tuple[Source, str], ...]:
        """All of them, the one in use first, each with why it is not in use."""
        return (*(() if self.used is None else ((self.used, ""),)), *self.choice.beside)

    @property
    def contradiction(self) -> str:
        """Where configured figures are in use, and the best measured ones are others; empty where none are."""
        measured = next((source.capacity for source, _ in self.choice.beside if is_measured(source)), None)
        return "" if not self.asked.figures.is_known or measured is None else contradiction(self.asked.figures, measured)


def overview(store: Store, members: tuple[Member, ...], now: datetime) -> Iterator[PoolCapacity]:
    """Every pool that serves live load, and every variant, of `members`. Raises StoreError."""
    each = [(member, name, asked, serving) for member in members for name, asked, serving in _carriers(member)]
    entries = newest_of_each(store, [(member.workload.name, name) for member, name, _, _ in each], now)
    for member, name, asked, serving in each:
        workload, lengths = member.workload.name, partial(measured_lengths, store, member.workload.name, member.step_s, now)
        choice = choice_of(asked, serving, entries.get((workload, name), ()), lengths, now, estimates=True)
        missing = "" if choice.used is not None else what_is_missing(asked, choice, f"--workload {workload} --pool {name}")
        yield PoolCapacity(workload=workload, pool=name, asked=asked, choice=choice, missing=missing)


def contradiction(configured: Capacity, measured: Capacity) -> str:
    """Where a configured figure and a measured one differ by more than 20 % of the measured one, in words; empty where none does."""
    both = ((s, configured.of(s), measured.of(s)) for s in LOAD_SIGNALS)
    apart = [
        f"{spell_number(said)} {signal.unit} configured, {spell_number(found)} measured"
        for signal, said, found in both
        if said is not None and found is not None and abs(said - found) > CONTRADICTION_RATIO * found
    ]
    return "; ".join(apart)


def is_measured(source: Source) -> bool:
    """Whether it is a measurement that proves a capacity."""
    return source.capacity is not None and source.origin not in {Origin.ESTIMATE, Origin.CONFIGURED}


def _carriers(member: Member) -> Iterator[tuple[str, Asked, Setup]]:
    """Pools and variants by name: where the capacity shall come from, and what they serve with."""
    for pool in member.workload.serving:
        yield pool.name, member.asked.get(pool.name, Asked(figures=pool.capacity)), member.servings.get(pool.name, Setup())
    for variant in member.variants:
        yield variant.name, variant.asked, variant.serving

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
from forecaster.workload import Pool
from jobs.capacity.known import choice_of, newest_of_each, what_is_missing, with_choice
from jobs.capacity.lengths import measured_lengths
from jobs.fleet import Member

CONTRADICTION_RATIO = 0.2
"""Configured and measured figures that differ by more speak of two setups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCapacity:
    """What one replica of a pool or variant carries by each source that is known. missing: what to know where no figure sizes it."""

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
    each = [(member, carrier) for member in members for carrier in _carriers(member)]
    entries = newest_of_each(store, [(member.workload.name, carrier.name) for member, carrier in each], now)
    for member, carrier in each:
        workload, lengths = member.workload.name, partial(measured_lengths, store, member.workload.name, member.step_s, now)
        choice = choice_of(carrier.asked, carrier.serving, entries.get((workload, carrier.name), ()), lengths, now, estimates=True)
        missing = _missing(carrier, choice, f"--workload {workload} --pool {carrier.name}")
        yield PoolCapacity(workload=workload, pool=carrier.name, asked=carrier.asked, choice=choice, missing=missing)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carrier:
    """A pool or a variant (pool: None): where its capacity shall come from, and what it serves with."""

    name: str
    asked: Asked
    serving: Setup
    pool: Pool | None = None


def _carriers(member: Member) -> Iterator[_Carrier]:
    for pool in member.workload.serving:
        asked = member.asked.get(pool.name, Asked(figures=pool.capacity))
        yield _Carrier(name=pool.name, asked=asked, serving=member.servings.get(pool.name, Setup()), pool=pool)
    for variant in member.variants:
        yield _Carrier(name=variant.name, asked=variant.asked, serving=variant.serving)


def _missing(carrier: _Carrier, choice: Choice, which: str) -> str:
    """Why no figure sizes it, and what to do; empty where one does. which: the options that name it."""
    pool = carrier.pool
    if choice.used is not None and (pool is None or not carrier.asked.is_open or with_choice(pool, choice).capacity.is_known):
        return ""
    if pool is not None and pool.always_on:
        return f"it holds {pool.always_on} replicas whatever the load, and needs none"
    missing = what_is_missing(carrier.asked, choice, which)
    return missing if pool is None else f"it is held where it is: {missing}"  # a variant never runs

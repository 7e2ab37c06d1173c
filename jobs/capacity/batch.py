"""What batch sizes and waits come to at each pool, from the newest of its profiles that tells enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forecaster.batching import WAITS_S, BatchPoint, Engine, best_within, engine_of, frontier, most_batch, point_of, sizes
from forecaster.errors import NothingKept
from forecaster.ports import Store
from forecaster.profile import ProfileEntry, Setup, Slo
from forecaster.units import spell_number
from jobs.capacity.importing import pool_of
from jobs.capacity.known import newest_of_each
from jobs.fleet import Member

_CROOKED_RATIO = 0.2
"""A line that misses a measured step by more says in which order batches come, and not much else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """One pool's frontier, by rising throughput, with where its engine stands now beside it.

    best: what carries most within the SLO, None = nothing does. now: None = nobody tells max_batch. told: what to know of the figures.
    """

    workload: str
    pool: str
    engine: Engine
    slo: Slo
    frontier: tuple[BatchPoint, ...]
    best: BatchPoint | None
    now: BatchPoint | None
    told: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[BatchPoint, ...]:
        """The frontier, and where the engine stands also where others are better."""
        beside = [] if self.now is None or self.now in self.frontier else [self.now]
        return tuple(sorted((*self.frontier, *beside), key=lambda point: (point.rpm, point.e2e_p95_s)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Pools in their order. left_out: a sentence for each whose profile does not tell what is needed."""

    pools: tuple[Batches, ...]
    left_out: tuple[str, ...]


def batches(store: Store, members: Sequence[Member], pool: str | None, slo: Slo | None, now: datetime) -> Found:
    """Every pool and variant of `members` that has a profile, or the one that is named; at that SLO, or that of each profile.

    Raises StoreError, ConfigRejected for a pool that is not there, and NothingKept where no profile tells what is needed.
    """
    wanted = list(_wanted(members, pool))
    entries = newest_of_each(store, [(name, of_pool) for name, of_pool, _ in wanted], now)
    found, left_out = [], []
    for name, of_pool, serving in wanted:
        try:
            found.append(_of_pool(name, of_pool, serving, entries.get((name, of_pool), ()), slo))
        except NothingKept as error:
            left_out.append(f"{name}/{of_pool}: {error}")
    if not found:
        raise NothingKept(f"there is no frontier to tell: {'; '.join(left_out) or 'no workload is configured'}")
    return Found(pools=tuple(found), left_out=tuple(left_out))


def _wanted(members: Sequence[Member], pool: str | None) -> Iterator[tuple[str, str, Setup]]:
    """Workload, pool or variant, and what it serves with."""
    for member in members:
        servings = {each.name: member.servings.get(each.name, Setup()) for each in member.workload.pools}
        servings |= {variant.name: variant.serving for variant in member.variants}
        for name in servings if pool is None else (pool_of(member, pool),):
            yield member.workload.name, name, servings[name]


def _of_pool(workload: str, pool: str, serving: Setup, entries: Sequence[ProfileEntry], slo: Slo | None) -> Batches:
    """Raises NothingKept, saying what is missing."""
    if not entries:
        raise NothingKept(f"it has no profile; run `forecaster capacity import FILE... --workload {workload} --pool {pool}`")
    entry, engine = _telling(entries)
    setup = entry.profile.setup.filled(serving)
    most, why = most_batch(entry.profile.points, setup, engine)
    in_use = serving.max_batch or setup.max_batch
    now = None if in_use is None else point_of(engine, min(in_use, most), 0.0)
    looked_at, within = sizes(most, in_use), slo or entry.slo
    best = best_within(engine, looked_at, within)
    points = [point_of(engine, batch, wait_s) for batch in looked_at for wait_s in WAITS_S]
    found = Batches(
        workload=workload,
        pool=pool,
        engine=engine,
        slo=within,
        frontier=frontier(points if best is None else [*points, best]),
        best=best,
        now=now,
    )
    return replace(found, told=tuple(_told(found, f"batches end at {most}: {why}", entry.profile.setup.changed(serving))))


def _telling(entries: Sequence[ProfileEntry]) -> tuple[ProfileEntry, Engine]:
    """The newest profile that tells of an engine, of the newest of each origin. Raises NothingKept with what the newest of all lacks."""
    newest_first = sorted(entries, key=lambda entry: entry.at, reverse=True)
    for entry in newest_first:
        engine = engine_of(entry.profile)
        if isinstance(engine, Engine):
            return entry, engine
    newest = newest_first[0].profile
    raise NothingKept(f"{newest.source}: {engine_of(newest)}")


def _told(found: Batches, end: str, stale: tuple[str, ...]) -> Iterator[str]:
    engine = found.engine
    low, high = engine.batches
    yield (
        f"a step takes {1e3 * engine.alpha_s:.3g} ms and {1e3 * engine.beta_s:.3g} ms more for each request in it, measured at batches of "
        f"{spell_number(low)} to {spell_number(high)}; the line misses a measured step by {engine.residual_ratio:.1%} at most"
    )
    if engine.residual_ratio > _CROOKED_RATIO:
        yield "the steps lie on no line: believe the order of the batches, and not the figures"
    if stale:
        yield f"its profile is stale, since {'; '.join(stale)}: measure again"
    yield end
    if found.best is None:
        untold = [name.upper() for name, _ in found.slo.limits if getattr(found.frontier[0], f"{name}_p95_s") is None]
        yield (
            f"whether a batch keeps {found.slo.told} cannot be told: the smallest load tells no mean and P95 of {' and '.join(untold)}"
            if untold
            else f"no batch keeps {found.slo.told}, at however small a load"
        )
    if found.now is None:
        yield "where the engine stands now is not known: say `serving.max_batch` of the pool"
    if all(point.wait_s == 0 for point in found.frontier):
        yield "no batch wait is on the frontier: the engine takes requests in at its next step, so that a wait only adds to P95"

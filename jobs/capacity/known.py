"""The capacity of each pool that asks for one: that of the best source which is known at an instant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forecaster.capacity import HOW_TO_TELL, Capacity
from forecaster.estimate import Lengths, doubts, estimate
from forecaster.ports import Store
from forecaster.profile import Origin, ProfileEntry, Setup
from forecaster.profile_best import Asked, Choice, Follows, Source, choose
from forecaster.profile_carried import Carried, Confidence, carried, confidence
from forecaster.reasons import Code, Reason
from forecaster.series import Window
from forecaster.workload import Pool, Workload
from jobs.capacity.lengths import measured_lengths
from jobs.fleet import Fleet, Member
from jobs.standing import EVER, NEXT

PoolKey = tuple[str, str]
_ORDER = tuple(Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What one profile of a pool comes to: `found`, or the sentence why it proves nothing. stale: what is served otherwise by now."""

    entry: ProfileEntry
    found: Carried | str
    stale: tuple[str, ...]
    confidence: Confidence
    doubts: tuple[str, ...]

    @property
    def capacity(self) -> Capacity | None:
        """The figures, None = it proves none."""
        return self.found.capacity if isinstance(self.found, Carried) else None

    @property
    def source(self) -> Source:
        """The same as one of the sources to choose from."""
        return Source(
            origin=self.entry.profile.origin,
            found=self.found,
            at=self.entry.at,
            confidence=self.confidence,
            stale=self.stale,
            doubts=self.doubts,
            slo=self.entry.slo.told,
        )


def with_capacities(fleet: Fleet, now: datetime) -> Fleet:
    """The fleet with the capacities that are known by `now` to those who ask for one. One read for all profiles. Raises StoreError."""
    wanted = [(member.workload.name, name) for member in fleet.members for name in sorted(_open(member))]
    if not wanted:
        return fleet
    entries = newest_of_each(fleet.store, wanted, now)
    return replace(fleet, members=tuple(_member_with(fleet.store, member, entries, now) for member in fleet.members))


def chosen_into(workload: Workload, choices: Mapping[str, Choice]) -> Workload:
    """The workload with what was chosen, by pool; a pool of which nothing is known, or whose SLO it contradicts, has none."""
    return replace(
        workload, pools=tuple(with_choice(pool, choices[pool.name]) if pool.name in choices else pool for pool in workload.pools)
    )


def newest_of(store: Store, pools: Sequence[PoolKey], now: datetime) -> dict[PoolKey, ProfileEntry]:
    """The newest profile that each pool was given by `now`, of whatever origin. Raises StoreError."""
    return {key: max(entries, key=lambda entry: entry.at) for key, entries in newest_of_each(store, pools, now).items()}


def newest_of_each(store: Store, pools: Sequence[PoolKey], now: datetime) -> dict[PoolKey, tuple[ProfileEntry, ...]]:
    """The newest profile of each origin that each pool was given by `now`, the best origin first. Raises StoreError."""
    found = store.newest_profiles_of(pools, Window(start=EVER, end=now + NEXT)) if pools else {}
    return {key: tuple(sorted(entries, key=lambda entry: _ORDER.index(entry.profile.origin))) for key, entries in found.items()}


def known(entry: ProfileEntry, serving: Setup, now: datetime) -> Known:
    """What a profile comes to for what is served now; what its file did not tell is taken from there."""
    profile = replace(entry.profile, setup=entry.profile.setup.filled(serving))
    found, stale = carried(profile, entry.slo), entry.profile.setup.changed(serving)
    if isinstance(found, str):
        return Known(entry=entry, found=found, stale=stale, confidence=Confidence.LOW, doubts=(*stale, found))
    level, against = confidence(profile, found, stale, now)
    return Known(entry=entry, found=found, stale=stale, confidence=level, doubts=against)


def choice_of(
    asked: Asked, serving: Setup, entries: Sequence[ProfileEntry], lengths: Callable[[], Lengths], now: datetime, *, estimates: bool = False
) -> Choice:
    """What one replica of what is served carries by the best source.

    estimates: say what an estimate comes to also where it is not needed. Lengths are read for one that is made and lacks them, since
    apply asks every few seconds.
    """
    profiles = [known(entry, serving, now).source for entry in entries]
    chosen, terms = choose(profiles, asked), asked.terms
    if terms is None or (chosen.used is not None and not estimates):
        return chosen
    estimated = Source(
        origin=Origin.ESTIMATE,
        found=estimate(terms, serving, terms.lengths if terms.lengths.are_known else lengths()),
        confidence=Confidence.LOW,
        doubts=doubts(terms, serving),
    )
    return choose([*profiles, estimated], asked)


def without_capacity(member: Member, pool: Pool, signals: str) -> str:
    """What is to be said of a pool that has no figure for any load which is forecast."""
    return f"pool {pool.name} has no capacity for {signals}: it is held where it is; {how_to_tell(member, pool)}"


def how_to_tell(member: Member, pool: Pool) -> str:
    """What to do about such a pool: what is missing of what it asks for, else how to ask."""
    asked, choice = member.asked.get(pool.name, Asked()), member.choices.get(pool.name, Choice())
    if pool.capacity.is_known and choice.used is not None:
        return f"{choice.used.name} tells none for that: read the load in another signal, or {HOW_TO_TELL}"
    return what_is_missing(asked, choice, f"--workload {member.workload.name} --pool {pool.name}")


def stale(member: Member, pool: Pool) -> tuple[Reason, ...]:
    """Where what was measured is not what is served: a plan on it is as good as what changed is small."""
    used = member.choices.get(pool.name, Choice()).used
    if used is None or not used.stale:
        return ()
    detail = f"pool {pool.name} rests on what is stale: {used.name}, since {'; '.join(used.stale)}: measure again, or correct `serving`"
    return (Reason(code=Code.CAPACITY_STALE, detail=detail),)


def what_is_missing(asked: Asked, choice: Choice, which: str) -> str:
    """The same for what was chosen. which: the options that name the pool."""
    if not asked.is_open:
        return HOW_TO_TELL
    if choice.used is not None:
        return "what is known contradicts its slo: mend slo.service, or measure again"
    said = [why if source.origin is Origin.ESTIMATE else f"{source.name} {why}" for source, why in choice.beside]
    if asked.follows is not Follows.NONE and not any(source.origin is not Origin.ESTIMATE for source, _ in choice.beside):
        said.insert(0, f"no profile is known: run `forecaster capacity import FILE... {which}`")
    return "; ".join(said)


def _member_with(store: Store, member: Member, entries: Mapping[PoolKey, tuple[ProfileEntry, ...]], now: datetime) -> Member:
    def chosen(name: str, asked: Asked) -> Choice:
        serving, found = member.servings.get(name, Setup()), entries.get((member.workload.name, name), ())
        return choice_of(asked, serving, found, lambda: measured_lengths(store, member.workload.name, member.step_s, now), now)

    choices = {name: chosen(name, asked) for name, asked in _open(member).items()}
    return replace(member, workload=chosen_into(member.workload, choices), choices=choices) if choices else member


def _open(member: Member) -> dict[str, Asked]:
    """The pools without figures of their own that ask for some."""
    return {name: asked for name, asked in member.asked.items() if asked.is_open}


def with_choice(pool: Pool, choice: Choice) -> Pool:
    """The pool with what was chosen; without a capacity where that contradicts its SLO."""
    capacity = None if choice.used is None else choice.used.capacity
    taught = choice.used is not None and choice.used.origin is Origin.PRODUCTION
    pool = replace(pool, caches=replace(pool.caches, taught=taught))
    try:
        return replace(pool, capacity=Capacity() if capacity is None else capacity)
    except ValueError:  # the waits that the configuration promises cannot be kept at it: `check` says so
        return replace(pool, capacity=Capacity())

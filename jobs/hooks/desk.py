"""Where questions are answered: what the store says, read at most once a second however many ask."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock

from forecaster.decision import Ruling
from forecaster.errors import FloorUnknown, ForecasterError, PoolUnknown, WorkloadUnknown
from forecaster.modes import promotion_of
from forecaster.plan import Plan
from forecaster.ports import Clock, Store
from forecaster.series import Window
from forecaster.starts import Start
from forecaster.workload import Mode, Pool, Workload
from jobs.failure import Failure, failure
from jobs.hooks.answer import Answer, Known, answer, is_fresh
from jobs.postings import Postings, postings
from jobs.standing import EVER, NEXT, rulings_of, standing

_SHEET_S = 1.0
"""How long what was read is good: a change is told within about a second, and a thousand questions a second are one read."""
_PLAN_S = 15.0
"""A plan is read where nobody decides any more; it moves by minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Which workloads there are, as configured, and the store that knows of them. fresh_s: how old a posting may be."""

    store: Store
    workloads: Mapping[str, Workload]
    fresh_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """What one look at the store found."""

    read_s: float
    store: Store
    postings: Postings
    starts: Mapping[tuple[str, str], tuple[Start, ...]]
    rulings: Mapping[str, tuple[Ruling, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floored:
    """An answer that has a floor."""

    replicas: int
    answer: Answer


@dataclass(slots=True, eq=False)
class Desk:
    """Answers for every workload of the roster of the moment. Safe for threads.

    Every method raises StoreError, and WorkloadUnknown or PoolUnknown where what is named is not there; `tell` hears of each failure.
    """

    roster: Callable[[], AbstractContextManager[Roster]]
    clock: Clock
    tell: Callable[[Failure], None]
    _lock: Lock = field(default_factory=Lock, init=False)
    _sheet: _Sheet | None = field(default=None, init=False)
    _plans: dict[tuple[str, str], tuple[float, Plan | None]] = field(default_factory=dict, init=False)

    def floor(self, workload: str, pool: str | None) -> Floored:
        """The floor of one pool, which need not be named where it is the only one. Raises FloorUnknown where nothing is known of it."""
        with self._asked() as roster:
            found = _workload(roster, workload)
            answered = self._answer(roster, found, _pool(found, pool))
            if answered.floor is None:
                raise FloorUnknown(answered.why)
            return Floored(replicas=answered.floor, answer=answered)

    def of_workload(self, workload: str) -> tuple[Answer, ...]:
        """The answers for each pool, in the order of the configuration."""
        with self._asked() as roster:
            found = _workload(roster, workload)
            return tuple(self._answer(roster, found, pool) for pool in found.pools)

    def of_all(self) -> tuple[Answer, ...]:
        """The answers for every pool; others are answered in between."""
        with self._asked() as roster:
            names = tuple(roster.workloads)
        return tuple(found for name in names for found in self._of_one(name))

    def postings(self) -> Postings:
        """What the last applies left of every pool of the roster."""
        with self._asked() as roster:
            there = {(name, pool.name) for name, workload in roster.workloads.items() for pool in workload.pools}
            return {key: posting for key, posting in self._read(roster, self.clock.now()).postings.items() if key in there}

    def _of_one(self, name: str) -> tuple[Answer, ...]:
        """Nothing for a workload that left in between."""
        with self._asked() as roster:
            found = roster.workloads.get(name)
            return () if found is None else tuple(self._answer(roster, found, pool) for pool in found.pools)

    @contextmanager
    def _asked(self) -> Iterator[Roster]:
        try:
            with self._lock, self.roster() as roster:
                yield roster
        except ForecasterError as error:
            self.tell(failure("serve", error))
            raise

    def _answer(self, roster: Roster, workload: Workload, pool: Pool) -> Answer:
        now, key = self.clock.now().replace(microsecond=0), (workload.name, pool.name)
        sheet = self._read(roster, now)
        ruled = in_mode(workload, sheet.rulings.get(workload.name, ()), now)
        posting = sheet.postings.get(key)
        stale = ruled.policy.mode is not Mode.OBSERVE and posting is not None and not is_fresh(posting, roster.fresh_s, now)
        known = Known(
            workload=workload.name,
            pool=pool,
            policy=ruled.policy,
            posting=posting,
            fresh_s=roster.fresh_s,
            plan=self._plan(roster, ruled, pool, now) if stale else None,
            starts=sheet.starts.get(key, ()),
        )
        return answer(known, now)

    def _read(self, roster: Roster, now: datetime) -> _Sheet:
        """What the store says, a second old at most; another store is another sheet."""
        at_s, sheet = self.clock.monotonic(), self._sheet
        if sheet is not None and sheet.store is roster.store and 0 <= at_s - sheet.read_s < _SHEET_S:
            return sheet
        asked = [name for name, workload in roster.workloads.items() if workload.policy.mode is not Mode.AUTO]
        self._sheet = _Sheet(
            read_s=at_s,
            store=roster.store,
            postings=postings(roster.store),
            starts=roster.store.open_starts(),
            rulings=roster.store.rulings_of(asked, Window(start=EVER, end=now + NEXT)) if asked else {},
        )
        return self._sheet

    def _plan(self, roster: Roster, workload: Workload, pool: Pool, now: datetime) -> Plan | None:
        """The plan in force, a quarter of a minute old at most."""
        at_s, key = self.clock.monotonic(), (workload.name, pool.name)
        read_s, plan = self._plans.get(key, (None, None))
        if read_s is None or not 0 <= at_s - read_s < _PLAN_S:
            plan = standing(roster.store, workload, pool.name, rulings_of(roster.store, workload.name, now), now)[0].plan
            self._plans[key] = (at_s, plan)
        return plan if plan is not None and plan.valid_until > now else None


def in_mode(workload: Workload, rulings: tuple[Ruling, ...], now: datetime) -> Workload:
    """The workload in the mode that holds: auto where a promotion does."""
    if promotion_of(rulings, workload.policy.mode, now) is None:
        return workload
    return replace(workload, policy=replace(workload.policy, mode=Mode.AUTO))


def _workload(roster: Roster, name: str) -> Workload:
    found = roster.workloads.get(name)
    if found is None:
        raise WorkloadUnknown(f"there is no workload {name!r} here; `forecaster status` lists those there are")
    return found


def _pool(workload: Workload, name: str | None) -> Pool:
    names = ", ".join(pool.name for pool in workload.pools)
    if name is None and len(workload.pools) > 1:
        raise PoolUnknown(f"{workload.name} has several pools: name one of {names}")
    found = next((pool for pool in workload.pools if name in {None, pool.name}), None)
    if found is None:
        raise PoolUnknown(f"{workload.name} has no pool {name!r}; there is: {names}")
    return found

"""What a fleet costs around its models: a forecast run, the runs of the hours after it, and apply passes.

Load and targets are in memory, so that neither is waited for; the store is real, and so is all in between. CPU is of all threads, over
the number of workloads; what a method of the store takes is that of the thread that called it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from threading import Lock
from time import perf_counter, process_time, thread_time
from typing import ParamSpec, TypeVar

import numpy as np
from pytest import skip  # noqa: PT013  only its exception, which says what to install

from benchmarks.accuracy.generated import loads
from benchmarks.cost import peak_mb
from benchmarks.figures import Figure, Table
from benchmarks.store import fresh_postgres
from connectors.executors.serial import SerialExecutor
from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from forecaster.capacity import Capacity
from forecaster.decision import Applied, Decision, Seen
from forecaster.envelope import Envelope
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import DEFAULT_MEMBERS, DEFAULT_MODEL, FALLBACK_MODEL
from forecaster.ports import Executor, Query, Store, Unit
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S, WEEK_S, ceil_to, floor_to
from forecaster.workload import Mode, Policy, Pool, Workload
from jobs.apply import apply_fleet
from jobs.fleet import Fleet, Member, ModelChoice
from jobs.forecast import forecast_fleet

WORKLOADS = 100
HOURS = 6
"""Runs after the first one, an hour apart: a tick reads the plans of six hours."""
_FEW, _MANY = 500, 1_500
"""Whole batches of jobs, so that one is as large as the other."""
_DAYS = 58
_PEAK_REPLICAS = 100
_QUERY = Query(signal=Signal.RPM, expression="load", unit=Unit.PER_MINUTE)
_LEAD_S = 600.0

Asked = ParamSpec("Asked")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU seconds by what they went into, safe for threads."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    lock: Lock = field(default_factory=Lock)

    def timed(self, name: str, work: Callable[Asked, Result]) -> Callable[Asked, Result]:
        """The same work, counted under a name."""

        def counted(*asked: Asked.args, **named: Asked.kwargs) -> Result:
            begun_s = thread_time()
            try:
                return work(*asked, **named)
            finally:
                with self.lock:
                    self.seconds[name] += thread_time() - begun_s

        return counted


class CountedStore:
    """A store whose calls are counted, each under its name."""

    def __init__(self, inner: Store, spent: Spent) -> None:
        self._inner, self._spent = inner, spent

    def __getattr__(self, name: str) -> object:
        return self._spent.timed(name, getattr(self._inner, name))


class CountedExecutor:
    """Everything in this process, counted as what the models take."""

    def __init__(self, spent: Spent) -> None:
        self._spent = spent

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        return SerialExecutor().map(self._spent.timed("models", function), chunks)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InMemory:
    """A source that has all of its load at hand."""

    load: Series

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """The buckets of the window; a finer step repeats those of the load."""
        found = self.load.between(floor_to(window.start, self.load.step_s), ceil_to(window.end, self.load.step_s))
        times = self.load.step_s // step_s
        finer = replace(found, signal=query.signal, step_s=step_s, mean=np.repeat(found.mean, times), peak=np.repeat(found.peak, times))
        return finer.between(window.start, window.end)

    def remarks(self, _query: Query, _window: Window, _now: datetime) -> tuple[()]:
        """None."""
        return ()


class Remembered:
    """A target that remembers its floor."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._floor = 1
        self._valid_until: datetime | None = None

    def observe(self, now: datetime) -> Seen:
        """As it stands."""
        return Seen(
            target=self.name,
            at=now,
            floor=self._floor,
            ceiling=None,
            original=1,
            ready=self._floor,
            pending=0,
            version="",
            valid_until=self._valid_until,
        )

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Remember it."""
        self._floor, self._valid_until = decision.floor, decision.valid_until
        return Applied(target=self.name, before=seen.floor, after=self._floor, written=seen.floor != self._floor)

    def release(self, seen: Seen) -> Applied:
        """Forget it."""
        self._floor, self._valid_until = seen.original, None
        return Applied(target=self.name, before=seen.floor, after=self._floor, written=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one run, a workload: CPU and wall in ms, and CPU by part."""

    cpu_ms: float
    wall_ms: float
    parts_ms: dict[str, float]

    @property
    def models_ms(self) -> float:
        """What models took."""
        return self.parts_ms.get("models", 0.0)


def figures() -> Iterator[Figure | Table]:
    """SQLite and PostgreSQL, then how much memory a workload more takes."""
    with TemporaryDirectory() as directory:
        yield from measured("SQLite", f"sqlite:///{directory}/fleet.db")
    try:
        with fresh_postgres() as url:
            yield from measured("PostgreSQL", url)
    except skip.Exception as missing:
        yield Figure(name="a forecast an hour later, PostgreSQL", value=None, unit="CPU-ms", note=str(missing.msg))
    few_mb, many_mb = map(_peak_mb, (_FEW, _MANY))
    yield Figure(name="memory of a forecast run, a workload more", value=(many_mb - few_mb) / (_MANY - _FEW) * 1_000, unit="kB")


def measured(name: str, url: str) -> Iterator[Figure | Table]:
    """The first run, the last of the later ones, and the second of two apply passes, on one store."""
    migrate(url)
    spent = Spent()
    with closing(open_store(url)) as store:
        counted: Store = CountedStore(store, spent)  # type: ignore[assignment]  # it answers whatever the inner one does
        fleet = fleet_of(WORKLOADS, counted, CountedExecutor(spent))
        first = _cost(spent, lambda: forecast_fleet(fleet, _at(0)))
        hours = [_cost(spent, lambda: forecast_fleet(fleet, _at(hour))) for hour in range(1, HOURS)]  # noqa: B023  called at once
        ticks = [_cost(spent, lambda: apply_fleet(fleet, _at(HOURS - 1, minute))) for minute in (1, 2)]  # noqa: B023  the same
    last, tick = hours[-1], ticks[-1]
    yield Figure(name=f"a fleet's first forecast, a workload, {name}", value=first.cpu_ms, unit="CPU-ms")
    yield Figure(name=f"a forecast an hour later, a workload, {name}", value=last.cpu_ms, unit="CPU-ms")
    yield Figure(name=f"the same without models / models, {name}", value=last.cpu_ms / last.models_ms - 1, unit="x")
    yield Figure(name=f"an apply pass, a workload, {name}", value=tick.cpu_ms, unit="CPU-ms")
    columns = ((f"first forecast, {name}", first), ("an hour later", last), ("apply", tick))
    yield Table(
        title=f"CPU ms a workload, {WORKLOADS} workloads, {name}",
        header=("part", *(title for title, _ in columns)),
        rows=tuple((part, *(f"{cost.parts_ms.get(part, 0.0):.2f}" for _, cost in columns)) for part in _parts(first, last, tick)),
    )


def fleet_of(count: int, store: Store, executor: Executor, model: str = DEFAULT_MODEL) -> Fleet:
    """So many workloads with the generated loads in turn, as the defaults of the configuration have them."""
    found = [series for seed in range(3) for _, series in loads(_DAYS, seed)]
    return Fleet(
        members=tuple(_member(f"workload {i}", found[i % len(found)]) for i in range(count)),
        store=store,
        executor=executor,
        model=ModelChoice(name=model, members=DEFAULT_MEMBERS, watched=()),
        fallback=FALLBACK_MODEL,
        history_s=8 * WEEK_S,
        horizon_s=3 * DAY_S,
        envelope=Envelope(),
        workers=8,
    )


def forecast_naively(count: int) -> float:
    """One forecast run of so many workloads by the naive model; MB of this process at its largest."""
    with TemporaryDirectory() as directory, closing(open_store(f"sqlite:///{directory}/fleet.db")) as store:
        forecast_fleet(fleet_of(count, store, SerialExecutor(), FALLBACK_MODEL), _at(0))
    return peak_mb()


def _member(name: str, load: Series) -> Member:
    target = Remembered(f"memory:{name}")
    pool = Pool(
        name="gpu",
        capacity=Capacity(rpm=max(1.0, float(np.nanmax(load.mean)) / _PEAK_REPLICAS)),
        lead_time=LeadTime(warm_s=_LEAD_S, cold_s=_LEAD_S),
        targets=(target.name,),
    )
    return Member(
        workload=Workload(name=name, pools=(pool,), policy=Policy(mode=Mode.AUTO)),
        step_s=load.step_s,
        queries=(_QUERY,),
        conditions=(),
        source=InMemory(load=load),
        targets={target.name: target},
    )


def _at(hour: int, minute: int = 0) -> datetime:
    """An instant of the last day that the loads have."""
    _, load = next(loads(1))
    return load.start + timedelta(days=_DAYS - 1, hours=6 + hour, minutes=2 + minute)


def _cost(spent: Spent, work: Callable[[], object]) -> Cost:
    spent.seconds.clear()
    begun_s, cpu_s = perf_counter(), process_time()
    work()
    wall_s, cpu_s = perf_counter() - begun_s, process_time() - cpu_s
    each_ms = 1_000 / WORKLOADS
    parts = {name: seconds * each_ms for name, seconds in spent.seconds.items()}
    rest_ms = cpu_s * each_ms - sum(parts.values())
    return Cost(cpu_ms=cpu_s * each_ms, wall_ms=wall_s * each_ms, parts_ms=parts | {"all else": rest_ms, "all": cpu_s * each_ms})


def _parts(*costs: Cost) -> list[str]:
    """Every part that any run had, the largest first."""
    names = {name for cost in costs for name in cost.parts_ms}
    return sorted(names, key=lambda name: -max(cost.parts_ms.get(name, 0.0) for cost in costs))


def _peak_mb(count: int) -> float:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:  # what this process holds is not the fleet's
        return alone.submit(forecast_naively, count).result()

"""What forecasts cost: CPU a series against Prophet in the same run, and ten thousand series on two processors.

Series are generated, 28 days of 5-minute buckets, a day ahead. The first run has nothing kept and learns what all series have in
common; the next day's run is what every later one is like, and is the one with a goal.
"""

import resource
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from benchmarks.accuracy.rivals import prophet_default
from benchmarks.accuracy.rolling import cpu_s
from benchmarks.engine import CHUNK, CORE_MEMBERS, HISTORY_DAYS, Work, chunk, drawn, forecast, fresh, head, learned, on_day
from benchmarks.figures import Figure
from connectors.executors.processes import ProcessesConfig, ProcessesExecutor
from forecaster.forecast import Issued, State
from forecaster.models.catalogue import DEFAULT_MEMBERS
from forecaster.series import Panel, Series

FLEET, _FIRST = 10_000, 2_000
_PROCESSES = 2
_DAYS = 29
_EACH_KIND = 12
_CORE_GOAL, _WHOLE_GOAL, _FLEET_GOAL_S, _WORKER_GOAL_MB = 1 / 300, 1 / 40, 60, 500
_KB_A_MB = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Wall seconds: of learning, of a first run of 2,000 series, and of the next day's run of all, with the CPU seconds of its workers.

    worker_mb: the largest worker.
    """

    learn_s: float
    first_s: float
    next_s: float
    next_cpu_s: float
    worker_mb: float


def figures() -> Iterator[Figure]:
    """CPU of the core and of the whole ensemble a series, as ratios, then the fleet in a process of its own."""
    series = chunk(_DAYS)
    panels = (on_day(series, 0), on_day(series, 1))
    prophet_s = _prophet_s(list(series.values())[:_EACH_KIND])
    yield Figure(name="CPU a series of Prophet default", value=prophet_s, unit="CPU-s")
    yield Figure(name="CPU a series / Prophet default, core", value=_core_s(panels[1]) / prophet_s, unit="x", goal=_CORE_GOAL)
    for what, members, goal in (
        ("batched members alone, calibrated", CORE_MEMBERS, None),
        ("whole ensemble", DEFAULT_MEMBERS, _WHOLE_GOAL),
    ):
        first_s, next_s = _each_s(panels, members)
        yield Figure(name=f"CPU a series / Prophet default, {what}", value=next_s / prophet_s, unit="x", goal=goal)
        yield Figure(name=f"CPU a series / Prophet default, {what}, first run", value=first_s / prophet_s, unit="x")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as thin:  # what this process holds is not the fleet's
        fleet = thin.submit(measured_fleet).result()
    yield Figure(name="10,000 series on 2 cores, whole ensemble", value=fleet.next_s, unit="s", goal=_FLEET_GOAL_S)
    yield Figure(name="10,000 series on 2 cores, whole ensemble, CPU of both workers", value=fleet.next_cpu_s, unit="CPU-s")
    yield Figure(name="2,000 series on 2 cores, whole ensemble, first run", value=fleet.first_s, unit="s")
    yield Figure(name="10,000 series on 2 cores, learning once a week", value=fleet.learn_s, unit="s")
    yield Figure(name="10,000 series on 2 cores, memory of a worker", value=fleet.worker_mb, unit="MB", goal=_WORKER_GOAL_MB)


def measured_fleet() -> Fleet:
    """All series through the executor of the product; workers are started before the clock, histories are in memory.

    Every chunk has the load of the first one under other names: histories of 10,000 series would be the test's own memory. So a
    fifth of the fleet is enough for what is kept of the day before.
    """
    series = chunk(_DAYS)
    first, then = on_day(series, 0), on_day(series, 1)
    with closing(ProcessesExecutor(ProcessesConfig(type="processes", workers=_PROCESSES))) as executor:
        list(executor.map(worked, [fresh(head(first, _EACH_KIND))] * _PROCESSES))
        begun_s = perf_counter()
        common = learned(first)
        learned_s = perf_counter()
        first_run = _run(executor, first, common, [(None,) * CHUNK] * (_FIRST // CHUNK))
        first_s = perf_counter()
        next_run = _run(executor, then, common, first_run.kept * (FLEET // _FIRST))
        next_s = perf_counter()
    return Fleet(
        learn_s=learned_s - begun_s,
        first_s=first_s - learned_s,
        next_s=next_s - first_s,
        next_cpu_s=next_run.cpu_s,
        worker_mb=max(first_run.worker_mb, next_run.worker_mb),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Done:
    """A chunk's forecasts, the CPU seconds that they took, and the most memory in MB that the worker ever held."""

    issued: tuple[Issued, ...]
    cpu_s: float
    worker_mb: float


def worked(work: Work) -> Done:
    """What a worker does with a chunk."""
    begun_s = cpu_s()
    issued = forecast(work)
    return Done(issued=issued, cpu_s=cpu_s() - begun_s, worker_mb=peak_mb())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Run:
    """What to keep of each chunk, CPU seconds of all, and MB of the largest worker."""

    kept: list[tuple[State | None, ...]]
    cpu_s: float
    worker_mb: float


def _run(executor: ProcessesExecutor, panel: Panel, common: bytes, kept: list[tuple[State | None, ...]]) -> _Run:
    """As many chunks as something is kept of; forecasts come back and are dropped."""
    chunks = (
        Work(panel=replace(panel, names=tuple(f"{name}, {i}" for name in panel.names)), states=states, learned=common)
        for i, states in enumerate(kept)
    )
    states: list[tuple[State | None, ...]] = []
    spent_s = largest_mb = 0.0
    for done in executor.map(worked, chunks):
        states.append(tuple(one.state for one in done.issued))
        spent_s, largest_mb = spent_s + done.cpu_s, max(largest_mb, done.worker_mb)
    return _Run(kept=states, cpu_s=spent_s, worker_mb=largest_mb)


def _each_s(panels: tuple[Panel, Panel], members: tuple[str, ...]) -> tuple[float, float]:
    """CPU seconds a series on the first day, its share of the learning included, and on the next; imports are not counted."""
    forecast(fresh(head(panels[0], _EACH_KIND), members))
    begun_s = cpu_s()
    common = learned(panels[0], members)
    learning_s = (cpu_s() - begun_s) / FLEET
    spent: list[float] = []
    states: tuple[State | None, ...] = (None,) * CHUNK
    for panel in panels:
        begun_s = cpu_s()
        issued = forecast(Work(panel=panel, states=states, members=members, learned=common))
        spent.append((cpu_s() - begun_s) / CHUNK)
        states = tuple(one.state for one in issued)
    return spent[0] + learning_s, spent[1]


def _core_s(panel: Panel) -> float:
    """CPU seconds a series of what the batched members draw."""
    drawn(panel)  # a worker's memory is its own after the first chunk
    begun_s = cpu_s()
    drawn(panel)
    return (cpu_s() - begun_s) / len(panel.names)


def _prophet_s(series: list[Series]) -> float:
    """CPU seconds of one fit and forecast."""
    known = [one.between(one.start, one.start + timedelta(days=HISTORY_DAYS)) for one in series]
    prophet_default(known[0])
    begun_s = cpu_s()
    for one in known:
        prophet_default(one)
    return (cpu_s() - begun_s) / len(known)


def peak_mb() -> float:
    """The largest resident size of this process. Where /proc has it, not what it was before this program was loaded into it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return float(line.split()[1]) / _KB_A_MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_A_MB

"""What forecasts cost: CPU a series against Prophet in the same run, and ten thousand series on two processors.

Series are generated, 28 days of 5-minute buckets, a day ahead. The cold figure is that of the first run, when nothing is kept yet; the
steady one that of the next day.
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
from benchmarks.engine import CHUNK, HISTORY_DAYS, Work, chunk, forecasts_of, on_day
from benchmarks.figures import Figure
from connectors.executors.processes import ProcessesConfig, ProcessesExecutor
from forecaster.models.catalogue import DEFAULT_MODEL
from forecaster.series import Panel, Series

FLEET = 10_000
_PROCESSES = 2
_DAYS = 29
_PROPHET_FITS = 12
_CORE_GOAL, _WHOLE_GOAL, _FLEET_GOAL_S, _WORKER_GOAL_MB = 1 / 300, 1 / 40, 60, 500
_CORE = "profile"
_KB_A_MB = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Wall seconds of one forecast of all series on the first day and on the next, and the largest worker in MB."""

    cold_s: float
    steady_s: float
    worker_mb: float


def figures() -> Iterator[Figure]:
    """CPU of the core and of the whole ensemble a series, as ratios, then the fleet in a process of its own."""
    series = chunk(_DAYS)
    panels = (on_day(series, 0), on_day(series, 1))
    prophet_s = _prophet_s(list(series.values())[:_PROPHET_FITS])
    yield Figure(name="CPU a series of Prophet default", value=prophet_s, unit="CPU-s")
    for what, model, goal in (("core", _CORE, _CORE_GOAL), ("whole ensemble", DEFAULT_MODEL, _WHOLE_GOAL)):
        cold_s, steady_s = _each_s(panels, model)
        yield Figure(name=f"CPU a series / Prophet default, {what}", value=steady_s / prophet_s, unit="x", goal=goal)
        yield Figure(name=f"CPU a series / Prophet default, {what}, first run", value=cold_s / prophet_s, unit="x")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as thin:  # workers must not inherit what this process has loaded
        fleet = thin.submit(measured_fleet).result()
    yield Figure(name="10,000 series on 2 cores, whole ensemble", value=fleet.steady_s, unit="s", goal=_FLEET_GOAL_S)
    yield Figure(name="10,000 series on 2 cores, whole ensemble, first run", value=fleet.cold_s, unit="s")
    yield Figure(name="10,000 series on 2 cores, memory of a worker", value=fleet.worker_mb, unit="MB", goal=_WORKER_GOAL_MB)


def measured_fleet() -> Fleet:
    """All series through the executor of the product, twice; workers are started before the clock, histories are in memory."""
    series = chunk(_DAYS)
    with closing(ProcessesExecutor(ProcessesConfig(type="processes", workers=_PROCESSES))) as executor:
        list(executor.map(worked, [Work(panel=_head(on_day(series, 0)))] * _PROCESSES))
        cold_s, cold_mb = _timed(executor, on_day(series, 0))
        steady_s, steady_mb = _timed(executor, on_day(series, 1))
    return Fleet(cold_s=cold_s, steady_s=steady_s, worker_mb=max(cold_mb, steady_mb))


def worked(work: Work) -> tuple[int, float]:
    """How many series a worker has forecast, and the most memory that it ever held, in MB."""
    return len(forecasts_of(work)), _peak_mb()


def _timed(executor: ProcessesExecutor, panel: Panel) -> tuple[float, float]:
    """Seconds for the fleet, and MB of the largest worker. One chunk's load serves for all: only the names differ."""
    chunks = [Work(panel=replace(panel, names=tuple(f"{name}, {i}" for name in panel.names))) for i in range(FLEET // CHUNK)]
    begun = perf_counter()
    done = list(executor.map(worked, chunks))
    seconds = perf_counter() - begun
    if sum(count for count, _ in done) != FLEET:
        msg = f"the fleet has {FLEET} series, {sum(count for count, _ in done)} were forecast"
        raise RuntimeError(msg)
    return seconds, max(mb for _, mb in done)


def _each_s(panels: tuple[Panel, Panel], model: str) -> tuple[float, float]:
    """CPU seconds a series on the first day and on the next; what is imported and compiled once is not counted."""
    forecasts_of(Work(panel=_head(panels[0]), model=model))
    spent = []
    for panel in panels:
        begun_s = cpu_s()
        forecasts_of(Work(panel=panel, model=model))
        spent.append((cpu_s() - begun_s) / len(panel.names))
    return spent[0], spent[1]


def _prophet_s(series: list[Series]) -> float:
    """CPU seconds of one fit and forecast."""
    known = [one.between(one.start, one.start + timedelta(days=HISTORY_DAYS)) for one in series]
    prophet_default(known[0])
    begun_s = cpu_s()
    for one in known:
        prophet_default(one)
    return (cpu_s() - begun_s) / len(known)


def _head(panel: Panel) -> Panel:
    return replace(panel, names=panel.names[:12], mean=panel.mean[:12], peak=panel.peak[:12])


def _peak_mb() -> float:
    """The largest resident size of this process. Where /proc has it, not what it was before this program was loaded into it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return float(line.split()[1]) / _KB_A_MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_A_MB

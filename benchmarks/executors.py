"""The same chunks through each executor on this machine: what handing them to Ray or Dask costs against processes of our own.

Every executor has two workers, which are started and warm before the clock runs; how long that took is given for the record.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter

from benchmarks.engine import HISTORY_DAYS, Work, chunk, forecast, fresh, head, on_day
from benchmarks.figures import Figure
from connectors.executors.dask import DaskConfig
from connectors.executors.processes import ProcessesConfig
from connectors.executors.ray import RayConfig
from connectors.executors.registry import ExecutorConfig, open_executor

WORKERS = 2
CHUNKS = 20
SERIES = 50
"""A chunk: a tenth of a real one, in the work as in what travels, so that all of it ends within two minutes."""
_GOAL = 1.5
_AGAINST: dict[str, ExecutorConfig] = {
    "Ray": RayConfig(type="ray", workers=WORKERS),
    "Dask": DaskConfig(type="dask", workers=WORKERS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Wall seconds until the first small chunks were back, and of all chunks after that."""

    start_s: float
    run_s: float


def figures(series: int = SERIES) -> Iterator[Figure]:
    """Wall time of all chunks through Ray and Dask as ratios to processes, and the seconds that each takes to start."""
    panel = on_day(chunk(HISTORY_DAYS), 0)
    work, warming = fresh(head(panel, series)), fresh(head(panel, 2))
    processes = _timed(ProcessesConfig(type="processes", workers=WORKERS), work, warming)
    yield Figure(name=f"{CHUNKS} chunks of {series} series through processes", value=processes.run_s, unit="s")
    yield Figure(name="start of processes", value=processes.start_s, unit="s")
    for name, config in _AGAINST.items():
        times = _timed(config, work, warming)
        yield Figure(name=f"the same through {name} on one machine / processes", value=times.run_s / processes.run_s, unit="x", goal=_GOAL)
        yield Figure(name=f"start of {name}", value=times.start_s, unit="s")


def _timed(config: ExecutorConfig, work: Work, warming: Work) -> Times:
    with closing(open_executor(config)) as executor:
        begun_s = perf_counter()
        list(executor.map(forecast, [warming] * (2 * WORKERS)))
        started_s = perf_counter()
        for _ in executor.map(forecast, [work] * CHUNKS):
            pass
        return Times(start_s=started_s - begun_s, run_s=perf_counter() - started_s)

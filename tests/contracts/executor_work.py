"""What the contract of executors has done over chunks: functions of a module, since they travel by name."""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from connectors.executors.dask import DaskConfig
from connectors.executors.processes import ProcessesConfig
from connectors.executors.ray import RayConfig
from connectors.executors.registry import OpenedExecutor, open_executor
from connectors.executors.serial import SerialConfig
from forecaster.calendar import Calendar
from forecaster.forecast import STANDARD_LEVELS, Request
from forecaster.models.catalogue import FALLBACK_MODEL
from forecaster.series import Series, panel_of
from jobs.chunks import Chunk
from jobs.fleet import ModelChoice
from jobs.forecast import forecast_panel
from tests.traces import horizon, usual_rpm

WORKERS = 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Unsendable(Exception):
    """An error whose constructor takes more than its message, which no pickle can call again."""

    def __init__(self, code: int, where: str) -> None:
        super().__init__(f"{code} at {where}")


def opened(kind: str, address: str | None = None) -> OpenedExecutor:
    """An executor of two workers, on a cluster of its own unless an address is given."""
    match kind:
        case "serial":
            return open_executor(SerialConfig(type="serial"))
        case "processes":
            return open_executor(ProcessesConfig(type="processes", workers=WORKERS))
        case "ray":
            return open_executor(RayConfig(type="ray", workers=WORKERS, address=address))
        case _:
            return open_executor(DaskConfig(type="dask", workers=WORKERS, address=address))


def doubled(chunk: int) -> int:
    return 2 * chunk


def doubled_soon(chunk: int) -> int:
    """Twice the chunk, the first one last."""
    time.sleep(0.2 if chunk == 0 else 0)
    return 2 * chunk


def nothing(_: int) -> None:
    """No result is a result."""


def odd_only(chunk: int) -> int:
    if chunk % 2 == 0:
        msg = f"chunk {chunk} is even"
        raise ValueError(msg)
    return chunk


def unsendable(chunk: int) -> int:
    if chunk == 1:
        raise Unsendable(7, "the door")
    return chunk


def deadly(chunk: int) -> int:
    """End the process at chunk 2, as the kernel does when memory runs out."""
    if chunk == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


def once_deadly(chunk: Path) -> str:
    """End the process the first time only."""
    if not chunk.exists():
        chunk.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk.name


def thread_limits(_: int) -> tuple[str, ...]:
    return tuple(os.environ.get(name, "none") for name in THREADS)


def wrapped(chunk: Chunk) -> tuple[Chunk]:
    return (chunk,)


def own_pid(_: int) -> int:
    return os.getpid()


def forever(chunk: int) -> int:
    """Chunk 0 at once, every other in ten minutes."""
    time.sleep(600 if chunk else 0)
    return chunk


def address_of_cluster(kind: str) -> str:
    """Where the cluster is reached that a worker belongs to."""
    if kind == "ray":
        import ray  # noqa: PLC0415

        return str(ray.get_runtime_context().gcs_address)
    from distributed import get_worker  # noqa: PLC0415

    return str(get_worker().scheduler.address)


def chunk_of(series: dict[str, Series]) -> Chunk:
    """Series of which nothing is kept, asked for a day in hours."""
    request = Request(horizon=horizon(), levels=STANDARD_LEVELS, calendar=Calendar())
    return Chunk(panel=panel_of(series), states=(None,) * len(series), request=request)


def chunk_named(*names: str) -> Chunk:
    return chunk_of(dict.fromkeys(names, usual_rpm(1)))


def real_chunks(n: int) -> list[Chunk]:
    """Two series of three weeks each."""
    return [chunk_of({"a": usual_rpm(21, seed=seed), "b": usual_rpm(21, seed=100 + seed)}) for seed in range(n)]


REAL = partial(forecast_panel, main=ModelChoice(name="profile", members=(), watched=()), fallback=FALLBACK_MODEL)
"""What the jobs have done over chunks."""


def deadly_for_b(chunk: Chunk) -> tuple[str, ...]:
    """End the process when series b is in the chunk."""
    if "b" in chunk.panel.names:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk.panel.names


def children(of: int) -> set[int]:
    """Processes below a process that still run, Python's own tracker of shared resources aside: it ends with its parent."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (entry / "cmdline").read_bytes()
        except OSError:  # it ended a moment ago
            continue
        if int(parent) == of and state != "Z" and b"resource_tracker" not in command:
            found |= {int(entry.name), *children(int(entry.name))}
    return found


def main(kind: str, address: str | None = None) -> None:
    """Work as a command does, and say what it found and how many processes it left."""
    executor = opened(kind, address)
    total = sum(executor.map(doubled, range(8)))
    at_work = len(children(os.getpid()))
    executor.close()
    left = children(os.getpid())
    for _ in range(100):
        if left:
            time.sleep(0.1)
            left = children(os.getpid())
    print(total, at_work > 0, len(left))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])

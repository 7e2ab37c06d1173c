"""Worker processes on this machine."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from threading import Lock
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from connectors.executors.cpus import usable_cpus
from connectors.executors.in_order import CHUNKS_PER_WORKER, InOrder
from connectors.executors.worker import Outcome, attempt, begin
from forecaster.errors import ExecutorFailed

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_CLOSED = "executor: it was closed before this chunk was done"


class ProcessesConfig(BaseModel):
    """Worker processes on this machine. None is started for a single chunk, or where there is one processor only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["processes"] = Field(description="This kind of executor: worker processes on this machine.")
    workers: int | None = Field(
        default=None,
        ge=1,
        le=1_024,
        description="How many. Default: as many as processors, within the container's limit. Each takes the memory of a chunk's models.",
    )


class ProcessesExecutor:
    """A `forecaster.ports.Executor` on processes that start with the first chunks and end with `close`. Safe for threads.

    A worker that dies takes all chunks under way with it; each is then run once more in a worker of its own, and one that kills that
    one too raises ExecutorFailed. Workers end with this process, however it ends.
    """

    def __init__(self, config: ProcessesConfig) -> None:
        self._workers = config.workers or usable_cpus()
        self._lock = Lock()
        self._pool: _Pool | None = None
        self._closed = False

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        source = iter(chunks)
        first = list(islice(source, 2))
        if self._workers == 1 or len(first) < 2:  # noqa: PLR2004  workers gain nothing on one chunk
            return map(function, chain(first, source))
        return InOrder(partial(self._submit, function), self._result, chain(first, source), CHUNKS_PER_WORKER * self._workers)

    def close(self) -> None:
        """End the workers at once, whatever they are at; results still asked for raise ExecutorFailed."""
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.close()

    def _submit(self, function: Callable[[Chunk], Result], chunk: Chunk) -> "_Task[Chunk, Result]":
        with self._lock:
            if self._closed:
                raise ExecutorFailed(_CLOSED)
            if self._pool is None:
                self._pool = _Pool(self._workers)
            try:
                future = self._pool.submit(function, chunk)
            except BrokenProcessPool:
                self._pool.close()
                self._pool = _Pool(self._workers)
                future = self._pool.submit(function, chunk)
        return _Task(function=function, chunk=chunk, future=future)

    def _result(self, task: "_Task[Chunk, Result]") -> Result:
        try:
            outcome = task.future.result()
        except (BrokenProcessPool, CancelledError) as error:
            if self._closed:
                raise ExecutorFailed(_CLOSED) from error
            outcome = _alone(task)
        return outcome.unwrap()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task(Generic[Chunk, Result]):
    """A chunk under way. It is kept to be run again."""

    function: Callable[[Chunk], Result]
    chunk: Chunk
    future: "Future[Outcome[Result]]"


class _Pool:
    """Processes that live as long as the lifeline, a pipe whose one end is held here only: closed, or gone with us, it ends them."""

    def __init__(self, workers: int) -> None:
        context = get_context("spawn")  # a fork would copy locks that threads of ours hold
        self._theirs, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(workers, mp_context=context, initializer=begin, initargs=(self._theirs,))

    def submit(self, function: Callable[[Chunk], Result], chunk: Chunk) -> "Future[Outcome[Result]]":
        try:
            return self._pool.submit(attempt, function, chunk)
        except BrokenProcessPool:
            raise
        except OSError as error:
            msg = f"executor: a worker process cannot be started ({error}); allow more processes, or set executor.type to serial"
            raise ExecutorFailed(msg) from error

    def close(self) -> None:
        self._lifeline.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._theirs.close()


def _alone(task: _Task[Chunk, Result]) -> Outcome[Result]:
    """The chunk in a worker of its own, twice at most: whose chunk killed the others is not known, so only deaths alone count."""
    try:
        return _in_own_worker(task)
    except BrokenProcessPool:
        pass
    try:
        return _in_own_worker(task)
    except BrokenProcessPool as error:
        msg = (
            "executor: a worker process died twice on the same chunk, most likely since memory ran out; look for an OOM kill in the "
            "kernel's log, then set executor.workers lower or give the machine more memory"
        )
        raise ExecutorFailed(msg) from error


def _in_own_worker(task: _Task[Chunk, Result]) -> Outcome[Result]:
    pool = _Pool(1)
    try:
        return pool.submit(task.function, task.chunk).result()
    finally:
        pool.close()

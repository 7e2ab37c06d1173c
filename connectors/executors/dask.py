"""Tasks on a Dask cluster: the user's, or one of our own on this machine."""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from connectors.executors.cpus import usable_cpus
from connectors.executors.in_order import CHUNKS_PER_WORKER, InOrder
from connectors.executors.worker import Outcome, attempt
from forecaster.errors import ConfigRejected, ExecutorFailed

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_CONNECT_S = 30


class DaskConfig(BaseModel):
    """Tasks on a Dask cluster. Needs the extra `dask`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["dask"] = Field(description="This kind of executor: a Dask cluster, for fleets that outgrow one machine.")
    address: str | None = Field(
        default=None,
        min_length=1,
        description="The scheduler, such as `tcp://10.0.0.5:8786`; its workers need the same Forecaster, and the store must be PostgreSQL "
        "where several machines run Forecaster. Default: a cluster of our own on this machine.",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="How many chunks are at work at once. Default: as many as processors, of this machine or of the cluster.",
    )


class DaskExecutor:
    """A `forecaster.ports.Executor` on Dask, which is started or connected to with the first chunks. Safe for threads.

    A chunk whose worker dies is tried again once, then raises ExecutorFailed. What we started ends with `close`; a cluster of the
    user's goes on. Raises ConfigRejected when Dask is not installed, ExecutorFailed when the cluster cannot be reached.
    """

    def __init__(self, config: DaskConfig) -> None:
        self._config = config
        self._lock = Lock()
        self._client: Client | None = None
        self._closing = ExitStack()

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        client = self._open()
        workers = self._config.workers or max(1, sum(client.nthreads().values()))
        return InOrder(partial(_submit, client, function), partial(_result, client), chunks, CHUNKS_PER_WORKER * workers)

    def close(self) -> None:
        """Leave the cluster, and end the one that we started."""
        with self._lock:
            self._client = None
            self._closing.close()

    def _open(self) -> "Client":
        if find_spec("distributed") is None:
            raise ConfigRejected("executor: Dask is not installed; `pip install forecaster[dask]`, or choose another executor.type")
        with self._lock:
            if self._client is None:
                self._client = _start(self._config, self._closing)
            return self._client


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task(Generic[Chunk, Result]):
    """A chunk under way. It is kept to be sent again: a worker that dies takes what was sent to it along."""

    function: Callable[[Chunk], Result]
    chunk: Chunk
    future: "Future[Outcome[Result]]"


def _start(config: DaskConfig, closing: ExitStack) -> "Client":
    import dask  # noqa: PLC0415  half a second: only those who run on it pay for it
    from distributed import LocalCluster  # noqa: PLC0415

    try:
        if config.address is not None:
            return _connected(config.address, closing)
        with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
            cluster = LocalCluster(
                n_workers=config.workers or usable_cpus(),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        closing.callback(cluster.close)
        return _connected(cluster, closing)
    except (OSError, RuntimeError, ValueError) as error:  # a time-out is an OSError
        where = f"the Dask cluster at {config.address}" if config.address else "a Dask cluster on this machine"
        msg = f"executor: {where} cannot be used ({error}); look at its scheduler, or choose another executor.type"
        raise ExecutorFailed(msg) from error


def _connected(to: "str | LocalCluster", closing: ExitStack) -> "Client":
    from distributed import Client  # noqa: PLC0415

    client = Client(to, set_as_default=False, timeout=_CONNECT_S)
    closing.callback(client.close)
    return client


def _submit(client: "Client", function: Callable[[Chunk], Result], chunk: Chunk) -> _Task[Chunk, Result]:
    (sent,) = client.scatter([chunk], hash=False)  # beside the task graph, in which 60 MB would be carried around twice
    return _Task(function=function, chunk=chunk, future=client.submit(attempt, function, sent, pure=False))


def _result(client: "Client", task: _Task[Chunk, Result]) -> Result:
    from distributed import KilledWorker  # noqa: PLC0415

    lost = (KilledWorker, CancelledError, OSError)
    try:
        outcome = task.future.result()
    except lost:
        try:
            outcome = _submit(client, task.function, task.chunk).future.result()
        except lost as error:
            cause = (str(error).strip().splitlines() or ["no reason was given"])[0]
            ends = "look for memory that ran out, or a cluster that ended"
            msg = f"executor: Dask lost a chunk twice ({type(error).__name__}: {cause}); {ends}"
            raise ExecutorFailed(msg) from error
    return outcome.unwrap()

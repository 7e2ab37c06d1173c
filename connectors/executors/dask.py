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
_CONNECT_S = 10
_PATIENCE_S = 120  # clusters that grow with the work take minutes for their first worker
_OWN_CLUSTER = {
    "distributed.scheduler.allowed-failures": 0,  # what kills a worker that is only just starting would end its supervision
    "distributed.scheduler.worker-saturation": 1.0,  # a worker that dies has one chunk, and takes no blameless one along
}


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

    A chunk whose worker dies is run once more, on a worker of its own, then raises ExecutorFailed; a cluster of the user's has its own
    rule for that (`allowed-failures`), and goes on after `close`. Raises ConfigRejected when Dask is not installed, ExecutorFailed when
    the cluster cannot be reached or is without workers.
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
        return InOrder(partial(_submit, client, function), partial(self._result, client), chunks, CHUNKS_PER_WORKER * workers)

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

    def _result(self, client: "Client", task: "_Task[Chunk, Result]") -> Result:
        try:
            outcome = _outcome(client, task)
        except _Lost as lost:
            if self._config.address is not None:
                raise ExecutorFailed(str(lost)) from lost
            outcome = _alone(task)
        return outcome.unwrap()


class _Lost(Exception):
    """A chunk whose worker died, or whose cluster is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task(Generic[Chunk, Result]):
    """A chunk under way. It is kept to be run again."""

    function: Callable[[Chunk], Result]
    chunk: Chunk
    future: "Future[Outcome[Result]]"


def _submit(client: "Client", function: Callable[[Chunk], Result], chunk: Chunk) -> _Task[Chunk, Result]:
    return _Task(function=function, chunk=chunk, future=client.submit(attempt, function, chunk, pure=False))


def _outcome(client: "Client", task: _Task[Chunk, Result]) -> Outcome[Result]:
    """What became of a chunk. Raises _Lost; a cluster that has no workers counts as lost when it still has none after a while."""
    from distributed import KilledWorker  # noqa: PLC0415

    while True:
        try:
            outcome: Outcome[Result] = task.future.result(timeout=_PATIENCE_S)
        except TimeoutError as error:
            if not client.nthreads():
                raise _Lost(f"executor: the Dask cluster has no worker since {_PATIENCE_S} s; look at its log, and start some") from error
        except (KilledWorker, CancelledError, OSError) as error:
            cause = (str(error).strip().splitlines() or ["no reason was given"])[0]
            ends = "look for memory that ran out, or a cluster that ended"
            raise _Lost(f"executor: Dask lost a chunk ({type(error).__name__}: {cause}); {ends}") from error
        else:
            return outcome


def _alone(task: _Task[Chunk, Result]) -> Outcome[Result]:
    """The chunk on a cluster of its own."""
    with ExitStack() as closing:
        client = _start(DaskConfig(type="dask", workers=1), closing)
        try:
            return _outcome(client, _submit(client, task.function, task.chunk))
        except _Lost as lost:
            raise ExecutorFailed(str(lost)) from lost


def _start(config: DaskConfig, closing: ExitStack) -> "Client":
    import dask  # noqa: PLC0415  half a second: only those who run on it pay for it
    from distributed import LocalCluster  # noqa: PLC0415

    # A chunk of 60 MB in the graph is meant: what is scattered to a worker beforehand would be lost with it.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"})
    try:
        if config.address is not None:
            return _connected(config.address, closing)
        with dask.config.set(_OWN_CLUSTER):
            cluster = LocalCluster(
                n_workers=config.workers or usable_cpus(),
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # none would be port 8787 of every interface
                scheduler_kwargs={"dashboard": False},
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

"""Tasks on a Ray cluster: the user's, or one of our own on this machine."""

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from importlib.util import find_spec
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from connectors.executors.cpus import usable_cpus
from connectors.executors.in_order import CHUNKS_PER_WORKER, InOrder
from connectors.executors.worker import Outcome, attempt
from forecaster.errors import ConfigRejected, ExecutorFailed

if TYPE_CHECKING:
    from ray import ObjectRef

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_CONNECT_S = 10


class RayConfig(BaseModel):
    """Tasks on a Ray cluster. Needs the extra `ray`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["ray"] = Field(description="This kind of executor: a Ray cluster, for fleets that outgrow one machine.")
    address: str | None = Field(
        default=None,
        min_length=1,
        description="The cluster's head, such as `10.0.0.5:6379` or `ray://HEAD:10001`; its nodes need the same Forecaster, and the "
        "store must be PostgreSQL where several machines run Forecaster. Default: a cluster of our own on this machine.",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="How many chunks are at work at once. Default: as many as processors, of this machine or of the cluster.",
    )


class RayExecutor:
    """A `forecaster.ports.Executor` on Ray, which is started or connected to with the first chunks. Safe for threads.

    A chunk whose worker dies is tried again once, then raises ExecutorFailed. What we started ends with `close`; a cluster of the
    user's goes on. Raises ConfigRejected when Ray is not installed, ExecutorFailed when the cluster cannot be reached.
    """

    def __init__(self, config: RayConfig) -> None:
        self._config = config

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        workers = self._open()
        import ray  # noqa: PLC0415  a second: only those who run on it pay for it

        run: Callable[..., ObjectRef[Any]] = ray.remote(num_cpus=1, max_retries=1)(attempt).remote
        return InOrder(partial(run, ray.put(function)), _result, chunks, CHUNKS_PER_WORKER * workers)

    def close(self) -> None:
        """End our part in the session, and the session with its last holder."""
        _SESSION.leave(self)

    def _open(self) -> int:
        """How many workers there are, after the session was started unless it runs."""
        if find_spec("ray") is None:
            raise ConfigRejected("executor: Ray is not installed; `pip install forecaster[ray]`, or choose another executor.type")
        _SESSION.join(self, self._config)
        import ray  # noqa: PLC0415

        return self._config.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


class _Session:
    """Ray has one session a process: the first executor starts it, the last one ends it. One that somebody else began is left alone.

    The kernel ends what Ray starts together with the thread that started it, so that is a thread that lives as long as the session.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: set[RayExecutor] = set()
        self._ended = Event()

    def join(self, holder: RayExecutor, config: RayConfig) -> None:
        import ray  # noqa: PLC0415

        with self._lock:
            if not ray.is_initialized():
                started: Future[None] = Future()
                self._holders, self._ended = {holder}, Event()
                Thread(target=_hold, args=(config, started, self._ended), daemon=True).start()
                started.result()
            elif self._holders:
                self._holders.add(holder)

    def leave(self, holder: RayExecutor) -> None:
        with self._lock:
            if self._holders == {holder}:
                import ray  # noqa: PLC0415

                ray.shutdown()
                self._ended.set()
            self._holders.discard(holder)


_SESSION = _Session()


def _hold(config: RayConfig, started: "Future[None]", ended: Event) -> None:
    """Start the session, say so, and stay until it has ended."""
    try:
        _start(config)
    except Exception as error:  # noqa: BLE001  whoever waits for the start raises it
        started.set_exception(error)
    else:
        started.set_result(None)
        ended.wait()


def _start(config: RayConfig) -> None:
    import ray  # noqa: PLC0415

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the default to come, without the warning about it
    ours = None if config.address else config.workers or usable_cpus()
    start = partial(ray.init, num_cpus=ours, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False if ours else None)
    try:
        if config.address is not None:
            _knock(config.address)
        start(config.address or "local")
    except (OSError, RuntimeError, ValueError) as error:  # ConnectionError is an OSError
        where = f"the Ray cluster at {config.address}" if config.address else "a Ray cluster on this machine"
        msg = f"executor: {where} cannot be used ({error}); look at its log, or choose another executor.type"
        raise ExecutorFailed(msg) from error
    # What Ray has to say of a dead worker it prints on stdout, which is for data; our own error says it. There is no public switch.
    ray._private.worker._worker_logs_enabled = False  # noqa: SLF001


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()


def _result(task: "ObjectRef[Outcome[Result]]") -> Result:
    import ray  # noqa: PLC0415

    try:
        outcome = ray.get(task)
    except ray.exceptions.RayError as error:
        cause = str(error).strip().splitlines()[0]
        msg = f"executor: Ray lost a chunk ({type(error).__name__}: {cause}); look for memory that ran out, or a node that went away"
        raise ExecutorFailed(msg) from error
    return outcome.unwrap()

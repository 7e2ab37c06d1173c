"""What happens in a worker. Loads nothing but the standard library, so that what is set here is set before numpy loads."""

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Thread
from typing import Generic, TypeVar

from forecaster.errors import ExecutorFailed

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Result]):
    """What became of one chunk: its result, or what the function raised."""

    result: Result | None = None
    error: Exception | None = None

    def unwrap(self) -> Result:
        """The result. Raises what the function raised."""
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # without an error there is a result, which may be None itself


def attempt(function: Callable[[Chunk], Result], chunk: Chunk) -> Outcome[Result]:
    """The function on one chunk, in a form that travels: an error keeps its type and message, and where it was raised as a note."""
    try:
        return Outcome(result=function(chunk))
    except Exception as error:  # noqa: BLE001  whatever it raises is raised again where the result is asked for
        return Outcome(error=_portable(error))


def begin(lifeline: Connection) -> None:
    """Make a process of its own a worker: one thread a worker, deaf to Ctrl-C, and gone with the parent's end of the lifeline."""
    os.environ.update(_ONE_THREAD)  # as many threads as CPUs in each of as many workers would only wait for each other
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all of its processes; the parent ends its workers
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """Wait for the other end to be closed, be it by `close` or by the parent's death, and end at once."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(0)


def _portable(error: Exception) -> Exception:
    """The error with its trace as a note, or an ExecutorFailed in its place when it does not survive the way."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        arrived = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes of a moment ago
    except Exception:  # noqa: BLE001  an error of a library may refuse this in any way
        arrived = None
    if type(arrived) is type(error) and str(arrived) == str(error):
        return error
    return ExecutorFailed(f"a worker raised {type(error).__name__}, which cannot be sent: {error}")

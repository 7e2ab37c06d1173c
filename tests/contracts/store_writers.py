"""What other processes do to a store while a test looks on. Imported by those processes: nothing slow in here."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier
from typing import Concatenate, ParamSpec

import numpy as np

from connectors.stores.opening import open_store
from forecaster.decision import Action, CycleRecord, Decision
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Signal
from forecaster.workload import Mode

START = datetime(2026, 5, 4, tzinfo=UTC)
STEP_S = 300

Parameters = ParamSpec("Parameters")


def at_once(function: Callable[Concatenate[Barrier, int, Parameters], None], *args: Parameters.args, **_: Parameters.kwargs) -> list[int]:
    """Run the function in two processes that start together, numbered 0 and 1, and answer their exit codes."""
    context = get_context("spawn")
    barrier = context.Barrier(2)
    processes = [context.Process(target=function, args=(barrier, number, *args)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode if process.exitcode is not None else -1 for process in processes]


def endless_writer(function: Callable[[Connection, str], None], url: str) -> tuple[SpawnProcess, Connection]:
    """Start a process that writes until it is killed, and the pipe on which it says what it has committed."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=function, args=(theirs, url), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def one_bucket(index: int, mean: float) -> Series:
    """A series of one measured bucket."""
    start = START + timedelta(seconds=STEP_S * index)
    return Series(signal=Signal.RPM, start=start, step_s=STEP_S, mean=np.array([mean]), peak=np.array([mean]))


def floor_record(number: int, target: str, floor: int) -> CycleRecord:
    """A record of one target, `number` seconds after the start."""
    at = START + timedelta(seconds=number)
    decision = Decision(
        at=at,
        workload="chat",
        pool="h100",
        target=target,
        action=Action.LEAVE,
        floor=floor,
        wanted=floor,
        last=floor,
        since=at,
        valid_until=at,
        plan_id=None,
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail=""),),
    )
    return CycleRecord(at=at, mode=Mode.OBSERVE, decision=decision, applied=None, error=None, sentence="")


def interleave_buckets(barrier: Barrier, number: int, url: str, count: int) -> None:
    """Every other bucket of a day, one append a bucket."""
    store = open_store(url)
    barrier.wait()
    for index in range(number, count, 2):
        store.append_history("chat", one_bucket(index, index + 1))
    store.close()


def append_same_records(barrier: Barrier, number: int, url: str, count: int) -> None:
    """The same records of targets that nobody has seen before, in opposite orders."""
    store = open_store(url)
    barrier.wait()
    for second in range(count):
        batch = [floor_record(second, f"hpa:prod/{target}", target) for target in range(10)]
        store.append_records(batch if number else batch[::-1])
    store.close()


def open_fresh(barrier: Barrier, number: int, url: str) -> None:
    """Open a store that is not there yet and keep a bucket in it."""
    barrier.wait()
    store = open_store(url)
    store.append_history("chat", one_bucket(number, 1))
    store.close()


def write_batches(said: Connection, url: str) -> None:
    """Batches of three records for ever; each is announced once it is committed."""
    store = open_store(url)
    second = 0
    while True:
        store.append_records([floor_record(second, f"hpa:prod/{target}", target) for target in range(3)])
        store.append_history("chat", one_bucket(second, 1))
        said.send(second)
        second += 1

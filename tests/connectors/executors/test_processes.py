"""Processes of our own: when none is started, and how they end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from connectors.executors.processes import ProcessesConfig, ProcessesExecutor
from forecaster.errors import ExecutorFailed
from tests.contracts.executor_work import children, doubled, forever, own_pid

ROOT = Path(__file__).parents[3]


@pytest.fixture
def two() -> Iterator[ProcessesExecutor]:
    executor = ProcessesExecutor(ProcessesConfig(type="processes", workers=2))
    yield executor
    executor.close()


def soon(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true within ten seconds."""
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_single_chunk_is_run_in_the_process_itself(two: ProcessesExecutor) -> None:
    assert list(two.map(own_pid, [1])) == [os.getpid()]


def test_one_worker_is_the_process_itself() -> None:
    executor = ProcessesExecutor(ProcessesConfig(type="processes", workers=1))
    assert set(executor.map(own_pid, range(5))) == {os.getpid()}


def test_close_is_safe_before_anything_was_started_and_twice(two: ProcessesExecutor) -> None:
    two.map(doubled, [])
    two.close()
    two.close()


def test_close_ends_workers_in_the_middle_of_a_chunk_and_whoever_waits_is_told(two: ProcessesExecutor) -> None:
    workers = set(two.map(own_pid, range(20)))
    results = two.map(forever, range(4))
    assert next(results) == 0
    told: list[ExecutorFailed] = []

    def wait() -> None:
        try:
            next(results)
        except ExecutorFailed as error:
            told.append(error)

    waiting = Thread(target=wait)
    waiting.start()
    two.close()
    waiting.join()
    assert "closed" in str(told[0])
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with pytest.raises(ExecutorFailed, match="closed"):
        list(two.map(doubled, range(3)))


def test_a_parent_that_is_killed_leaves_no_worker_behind() -> None:
    lines = (
        "from tests.contracts.executor_work import forever, opened",
        "results = opened('processes').map(forever, range(6))",
        "print(next(results), flush=True)",
        "next(results)",
    )
    with subprocess.Popen([sys.executable, "-c", "\n".join(lines)], cwd=ROOT, stdout=subprocess.PIPE) as parent:  # noqa: S603  our own code
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"0\n"
        workers = children(parent.pid)
        assert len(workers) == 2
        os.kill(parent.pid, signal.SIGKILL)
    assert soon(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))

"""What every executor promises, wherever it runs: Ray and Dask are started for real, once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from connectors.executors.registry import OpenedExecutor
from forecaster.errors import ExecutorFailed, NotEnoughHistory
from forecaster.forecast import Issued
from forecaster.ports import Executor
from jobs.chunks import through
from tests.contracts import executor_work as work
from tests.traces import MONDAY, usual_rpm

AWAY = ["processes", "ray", "dask"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def started() -> Iterator[dict[str, OpenedExecutor]]:
    """The executors that were asked for, by kind; each starts its workers once."""
    executors: dict[str, OpenedExecutor] = {}
    yield executors
    for executor in executors.values():
        executor.close()


@pytest.fixture(params=["serial", *AWAY])
def executor(request: pytest.FixtureRequest, started: dict[str, OpenedExecutor]) -> Executor:
    return of_kind(request.param, started)


@pytest.fixture(params=AWAY)
def away(request: pytest.FixtureRequest, started: dict[str, OpenedExecutor]) -> Executor:
    """An executor whose workers are processes of their own."""
    return of_kind(request.param, started)


def of_kind(kind: str, started: dict[str, OpenedExecutor]) -> Executor:
    if kind not in started:
        started[kind] = work.opened(kind)
    return started[kind]


def counted(n: int, taken: list[int]) -> Iterator[int]:
    """Chunks that tell when they are taken."""
    for chunk in range(n):
        taken.append(chunk)
        yield chunk


def bytes_of(issued: object) -> bytes:
    """All that a forecast says, to the last bit, and what is kept of it."""
    assert isinstance(issued, Issued)
    forecast = issued.forecast
    arrays = (forecast.values, forecast.window_max, *(peak.values for peak in forecast.daily_peaks))
    said = (forecast.levels, forecast.coverage, forecast.notes, forecast.members, forecast.record, issued.state)
    kept = b"" if issued.state is None else issued.state.payload
    return b"".join(array.tobytes() for array in arrays) + repr(said).encode() + kept


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Python in a process of its own, at the root of the sources."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603  our own code


def test_results_come_in_the_order_of_the_chunks(executor: Executor) -> None:
    assert list(executor.map(work.doubled_soon, range(12))) == [2 * chunk for chunk in range(12)]


def test_no_chunk_is_no_result_and_one_chunk_is_one(executor: Executor) -> None:
    assert list(executor.map(work.doubled, [])) == []
    assert list(executor.map(work.doubled, [4])) == [8]


def test_nothing_is_a_result_too(executor: Executor) -> None:
    assert list(executor.map(work.nothing, range(3))) == [None, None, None]


def test_chunks_are_taken_a_few_ahead_of_the_results_and_never_all(executor: Executor) -> None:
    taken: list[int] = []
    results = executor.map(work.doubled, counted(50, taken))
    assert len(taken) <= 2
    for asked in range(1, 20):
        next(results)
        assert asked <= len(taken) < asked + 2 * work.WORKERS
    list(results)
    assert len(taken) == 50


def test_what_the_function_raises_is_raised_in_its_place_and_the_next_call_goes_on(executor: Executor) -> None:
    results = executor.map(work.odd_only, [1, 2, 3])
    assert next(results) == 1
    with pytest.raises(ValueError, match="chunk 2 is even") as raised:
        next(results)
    assert (type(raised.value), str(raised.value)) == (ValueError, "chunk 2 is even")
    assert next(results) == 3
    assert list(results) == []


def test_where_it_was_raised_travels_along(away: Executor) -> None:
    with pytest.raises(ValueError, match="chunk 0 is even") as raised:
        list(away.map(work.odd_only, [0, 1]))
    assert any("in odd_only" in note for note in raised.value.__notes__)


def test_an_error_that_cannot_travel_is_told_all_the_same(away: Executor) -> None:
    results = away.map(work.unsendable, range(3))
    assert next(results) == 0
    with pytest.raises(ExecutorFailed, match=r"Unsendable, .*7 at the door"):
        next(results)
    assert next(results) == 2


def test_a_chunk_whose_worker_is_killed_is_told_and_no_other_is_lost(away: Executor, capfd: pytest.CaptureFixture[str]) -> None:
    results = away.map(work.deadly, range(8))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ExecutorFailed, match="memory"):
        next(results)
    assert list(results) == [3, 4, 5, 6, 7]
    assert list(away.map(work.doubled, range(3))) == [0, 2, 4]
    assert capfd.readouterr().out == ""  # it is for data


def test_a_worker_that_is_killed_once_costs_nothing_but_time(away: Executor, tmp_path: Path) -> None:
    assert list(away.map(work.once_deadly, [tmp_path / "a", tmp_path / "b"])) == ["a", "b"]


def test_a_worker_uses_one_thread(away: Executor) -> None:
    assert set(away.map(work.thread_limits, range(4))) <= {("1", "1", "1"), ("1", "none", "none")}


def test_a_chunk_of_series_is_forecast_to_the_same_byte_as_in_the_process_itself(executor: Executor) -> None:
    chunks = work.real_chunks(3)
    for found, wanted in zip(executor.map(work.REAL, chunks), map(work.REAL, chunks), strict=True):
        assert [bytes_of(issued) for issued in found] == [bytes_of(issued) for issued in wanted]


def test_arrays_that_travelled_are_read_only_and_equal(executor: Executor) -> None:
    for (chunk,), sent in zip(executor.map(work.wrapped, work.real_chunks(2)), work.real_chunks(2), strict=True):
        assert not chunk.panel.mean.flags.writeable
        assert not chunk.panel.peak.flags.writeable
        np.testing.assert_array_equal(chunk.panel.mean, sent.panel.mean)
    (issued, _), *_ = executor.map(work.REAL, work.real_chunks(2))
    assert isinstance(issued, Issued)
    forecast = issued.forecast
    assert not any(array.flags.writeable for array in (forecast.values, forecast.window_max, forecast.daily_peaks[0].values))


def test_a_series_without_a_forecast_comes_back_with_its_reason(executor: Executor) -> None:
    empty = work.chunk_of({"c": usual_rpm(21).between(MONDAY, MONDAY)})
    ((held, answers),) = through(executor, work.REAL, [("here", (*work.real_chunks(1), empty))])
    assert held == "here"
    assert [name for name, _ in answers] == ["a", "b", "c"]
    assert [type(answer) for answer in answers.values()] == [Issued, Issued, NotEnoughHistory]


def test_a_lost_batch_costs_its_own_series_only(away: Executor) -> None:
    batches = [(str(names), (work.chunk_named(*names),)) for names in ("a", "bc", "d")]
    answers = [(held, [type(answer) for answer in found.values()]) for held, found in through(away, work.deadly_for_b, batches)]
    assert answers == [("a", [str]), ("bc", [ExecutorFailed, ExecutorFailed]), ("d", [str])]


def test_a_batch_of_which_nothing_can_be_asked_comes_back_in_its_place(executor: Executor) -> None:
    batches = [("first", ()), ("second", tuple(work.real_chunks(1))), ("third", ())]
    assert [(held, len(found)) for held, found in through(executor, work.REAL, batches)] == [("first", 0), ("second", 2), ("third", 0)]


def test_it_works_in_a_daemon_thread(executor: Executor) -> None:
    found: list[int] = []
    thread = Thread(target=lambda: found.extend(executor.map(work.doubled, range(5))), daemon=True)
    thread.start()
    thread.join()
    assert found == [0, 2, 4, 6, 8]


def test_two_threads_at_once_get_each_their_own(executor: Executor) -> None:
    found: dict[int, list[int]] = {}
    threads = [Thread(target=lambda i=i: found.update({i: list(executor.map(work.doubled, range(i, i + 6)))})) for i in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [0, 2, 4, 6, 8, 10], 100: [200, 202, 204, 206, 208, 210]}


@pytest.mark.parametrize("kind", AWAY)
def test_no_process_outlives_close(kind: str) -> None:
    ended = run("-m", "tests.contracts.executor_work", kind)
    assert ended.stdout.split() == ["56", "True", "0"], ended.stderr


@pytest.mark.parametrize("kind", ["ray", "dask"])
def test_an_executor_on_a_cluster_of_the_users_leaves_it_as_it_is(kind: str, started: dict[str, OpenedExecutor]) -> None:
    cluster = of_kind(kind, started)
    assert list(cluster.map(work.doubled, range(2))) == [0, 2]
    ended = run("-m", "tests.contracts.executor_work", kind, next(iter(cluster.map(work.address_of_cluster, [kind]))))
    assert ended.stdout.split() == ["56", "False", "0"], ended.stderr
    assert list(cluster.map(work.doubled, range(2))) == [0, 2]


def test_a_cluster_that_is_not_there_is_told_with_its_address() -> None:
    code = "from tests.contracts.executor_work import doubled, opened; opened('ray', '127.0.0.1:1').map(doubled, [1])"
    ended = run("-c", code)
    assert ended.stderr.splitlines()[-1].startswith(
        "forecaster.errors.ExecutorFailed: executor: the Ray cluster at 127.0.0.1:1 cannot be used"
    )


@pytest.mark.parametrize(("kind", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_what_is_not_installed_is_told_with_the_remedy_and_not_before_it_is_needed(kind: str, package: str) -> None:
    lines = (
        "import sys",
        f"sys.modules[{package!r}] = None",  # as if it were not there
        "from tests.contracts.executor_work import doubled, opened",
        f"executor = opened({kind!r})",
        "print('opened')",
        "executor.map(doubled, [1])",
    )
    ended = run("-c", "\n".join(lines))
    assert ended.stdout == "opened\n"
    assert ended.stderr.splitlines()[-1].startswith("forecaster.errors.ConfigRejected: executor: ")
    assert f"`pip install forecaster[{kind}]`" in ended.stderr


def test_the_workers_here_are_not_this_process(away: Executor) -> None:
    assert os.getpid() not in set(away.map(work.own_pid, range(4)))

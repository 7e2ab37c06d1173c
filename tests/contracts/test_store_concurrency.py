"""Processes that use one store at once, and processes that die while they do."""

from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from connectors.stores.memory import MemoryStore
from connectors.stores.opening import open_store
from forecaster.series import Signal, Window
from forecaster.units import from_epoch_s
from tests.contracts.store_writers import (
    START,
    STEP_S,
    append_same_records,
    at_once,
    endless_writer,
    interleave_buckets,
    one_bucket,
    open_fresh,
    write_batches,
)

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

COUNT = 60


def _window(seconds: int) -> Window:
    return Window(start=START, end=from_epoch_s(START.timestamp() + seconds))


def test_two_processes_that_append_to_one_day_at_once_lose_no_bucket(database_url: str) -> None:
    assert at_once(interleave_buckets, database_url, COUNT) == [0, 0]
    store = open_store(database_url)
    read = store.history("chat", Signal.RPM, _window(COUNT * STEP_S), STEP_S)
    store.close()
    assert read.mean.tolist() == [index + 1 for index in range(COUNT)]


def test_two_threads_that_append_to_one_day_at_once_lose_no_bucket() -> None:
    store = MemoryStore()

    def interleave(number: int) -> None:
        for index in range(number, COUNT, 2):
            store.append_history("chat", one_bucket(index, index + 1))

    threads = [Thread(target=interleave, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = store.history("chat", Signal.RPM, _window(COUNT * STEP_S), STEP_S)
    assert read.mean.tolist() == [index + 1 for index in range(COUNT)]


def test_two_processes_that_append_the_same_records_at_once_keep_each_once(database_url: str) -> None:
    assert at_once(append_same_records, database_url, 20) == [0, 0]
    store = open_store(database_url)
    read = store.records("chat", _window(20))
    store.close()
    assert [(record.at, record.decision.target) for record in read] == sorted({(record.at, record.decision.target) for record in read})
    assert len(read) == 20 * 10


def test_two_processes_that_open_a_fresh_file_at_once_both_use_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/forecaster.db"
    assert at_once(open_fresh, url) == [0, 0]
    store = open_store(url)
    read = store.history("chat", Signal.RPM, _window(2 * STEP_S), STEP_S)
    store.close()
    assert not np.isnan(read.mean).any()


@pytest.mark.parametrize("commits", [1, 7, 30])
def test_a_writer_that_is_killed_loses_nothing_that_it_has_committed_and_leaves_no_half_batch(database_url: str, commits: int) -> None:
    process, said = endless_writer(write_batches, database_url)
    committed = [said.recv() for _ in range(commits)]
    process.kill()
    process.join()
    said.close()
    store = open_store(database_url)
    records = store.records("chat", _window(10_000))
    history = store.history("chat", Signal.RPM, _window((commits + 1) * STEP_S), STEP_S)
    store.append_history("chat", one_bucket(0, 2))  # and the next writer finds no lock
    store.close()
    by_instant = {record.at: [r.decision.target for r in records if r.at == record.at] for record in records}
    assert len(by_instant) >= len(committed)
    assert all(len(targets) == 3 for targets in by_instant.values())
    assert not np.isnan(history.mean[: len(committed)]).any()

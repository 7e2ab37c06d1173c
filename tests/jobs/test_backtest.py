"""`backtest` as a job: what goes wrong is said in a sentence, and nothing is half written."""

import json
from pathlib import Path

import numpy as np
import pytest

from forecaster.backtest.run import Backtest
from forecaster.backtest.settings import Settings
from forecaster.errors import ConfigRejected, TraceRejected
from forecaster.workload import Policy
from jobs.backtest import backtest_csv, check_writable, summary, write
from tests.simulation.traces import daily, write_csv


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Backtest:
    path = write_csv(tmp_path_factory.mktemp("trace") / "week.csv.gz", daily(7, 1_800), 1_800)
    return backtest_csv(path)


def test_the_summary_is_what_the_file_holds(found: Backtest, tmp_path: Path) -> None:
    write(found, tmp_path / "new" / "out")
    assert json.loads((tmp_path / "new" / "out" / "summary.json").read_text(encoding="utf-8")) == json.loads(json.dumps(summary(found)))


def test_writing_twice_replaces_and_leaves_nothing_else(found: Backtest, tmp_path: Path) -> None:
    write(found, tmp_path)
    first = (tmp_path / "floors.csv").read_bytes()
    write(found, tmp_path)
    assert (tmp_path / "floors.csv").read_bytes() == first
    assert len(list(tmp_path.iterdir())) == 4


def test_a_directory_that_is_a_file_is_named(found: Backtest, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigRejected, match=r"cannot be written to .*taken: .*; name a writable directory with --out"):
        write(found, taken)
    for directory in (taken, taken / "deeper"):
        with pytest.raises(ConfigRejected, match=r"cannot be written to .*taken.* is a file; name a writable directory with --out"):
            check_writable(directory)
    assert taken.read_text(encoding="utf-8") == "mine"


def test_a_directory_that_can_be_made_is_not_made_before_there_is_something_to_write(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "out")
    assert not list(tmp_path.iterdir())


def test_the_same_trace_gives_the_same_result(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "three.csv.gz", daily(3, 1_800), 1_800)
    assert summary(backtest_csv(path)) == summary(backtest_csv(path))


def test_progress_goes_from_nothing_to_nearly_all(tmp_path: Path) -> None:
    told: list[float] = []

    def hear(done_ratio: float, doing: str) -> None:
        assert doing
        told.append(done_ratio)

    backtest_csv(write_csv(tmp_path / "three.csv.gz", daily(3, 1_800), 1_800), progress=hear)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] < 1


def test_bounds_of_the_configuration_are_replayed(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "three.csv.gz", daily(3, 1_800), 1_800)
    found = backtest_csv(path, Policy(minimum=4, maximum=9, hold_s=0), Settings(levels=(0.5, 0.9), targets=(0.7,)))
    assert set(np.unique(found.floors)) <= set(range(4, 10))
    assert summary(found)["operating_point"] is not None


@pytest.mark.parametrize(
    ("days", "counts", "sentence"),
    [
        (1.0, 1.0, "too short for one forecast"),
        (8.0, 0.0, "no request was counted before the first forecast"),
        (8.0, np.nan, "at least one bucket must be measured"),
    ],
    ids=["too short", "no traffic", "nothing measured"],
)
def test_a_trace_that_cannot_be_replayed_gets_a_sentence(tmp_path: Path, days: float, counts: float, sentence: str) -> None:
    path = write_csv(tmp_path / "bad.csv.gz", np.full(round(days * 48), counts), 1_800)
    with pytest.raises(TraceRejected, match=sentence):
        backtest_csv(path)


def test_a_trace_with_a_request_once_in_a_thousand_minutes_sizes_no_replica(tmp_path: Path) -> None:
    counts = np.zeros(8 * 1_440)
    counts[100] = 5
    with pytest.raises(TraceRejected, match="no replica can be sized"):
        backtest_csv(write_csv(tmp_path / "rare.csv.gz", counts, 60))

"""What is forecast, and when."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.generated import RATES, generated, loads
from benchmarks.accuracy.recordings import Group, fortnights, recorded, recordings
from forecaster.errors import TraceRejected
from forecaster.trace import Trace

START = datetime(2026, 3, 2, tzinfo=UTC)


def hourly(days: int, lost: int = 0) -> Trace:
    """So many days of counts, the first `lost` of them not measured."""
    counts = np.arange(days * 24, dtype=np.float64) + 1
    counts[: lost * 24] = np.nan
    return Trace(start=START, bucket_s=3_600, counts=counts)


def test_origins_are_those_of_the_backtest() -> None:
    assert recorded("a", hourly(30)).origins[0] == START + timedelta(days=14)
    assert len(recorded("a", hourly(30)).origins) == 16
    assert recorded("a", hourly(10)).origins[0] == START + timedelta(days=5)


def test_a_trace_is_long_when_a_midnight_has_28_measured_days_behind_it() -> None:
    assert recorded("a", hourly(29)).group is Group.LONG
    assert recorded("a", hourly(28)).group is Group.SHORT
    assert recorded("a", hourly(30, lost=3)).group is Group.SHORT
    assert recorded("a", hourly(30)).with_28_days.tolist() == [False] * 14 + [True] * 2


def test_what_came_is_the_day_after_each_origin_and_unknown_past_the_end() -> None:
    recording = recorded("a", Trace(start=START, bucket_s=3_600, counts=np.arange(4 * 24 - 6, dtype=np.float64)))
    assert recording.actual.shape == (2, 24)
    assert recording.actual[0, 0] == 2 * 24 / 60
    assert np.isnan(recording.actual[-1, -6:]).all()
    assert not np.isnan(recording.actual[-1, :-6]).any()


def test_only_long_llm_traces_are_cut_into_fortnights() -> None:
    assert [cut.series.start for cut in fortnights(recorded("llm_a", hourly(45)))] == [START + timedelta(days=14 * i) for i in range(3)]
    assert {len(cut.origins) for cut in fortnights(recorded("llm_a", hourly(45)))} == {7}
    assert fortnights(recorded("web_a", hourly(45))) == ()
    assert fortnights(recorded("llm_a", hourly(14))) == ()


def test_generated_loads_are_twelve_and_the_same_each_time() -> None:
    assert len(RATES) == 12
    once, again = dict(loads(3)), dict(loads(3))
    assert once == again
    assert dict(loads(3, seed=1)) != once


def test_generated_loads_are_forecast_with_28_days_behind() -> None:
    assert all(recording.with_28_days.all() and len(recording.origins) == 14 for recording in generated())


def test_traces_are_those_of_the_folder_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORECASTER_TRACES", str(tmp_path))
    with pytest.raises(TraceRejected, match="FORECASTER_TRACES names"):
        recordings()
    rows = [f"2026-03-{day:02}T{hour:02}:00:00Z,{hour}" for day in (1, 2, 3, 4) for hour in range(24)]
    (tmp_path / "llm_mine.csv.gz").write_bytes(gzip.compress("\n".join(("timestamp,value", *rows)).encode()))
    (tmp_path / "requests.csv.gz").write_bytes(gzip.compress(b"timestamp,tokens\n2026-03-01T00:00:00Z,7\n"))
    assert [(one.name, one.group, len(one.origins)) for one in recordings()] == [("llm_mine", Group.SHORT, 2)]

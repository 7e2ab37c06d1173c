"""The files of a backtest, read and replayed by a stranger, say what `summary.json` says."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.backtest import backtest_csv, write
from tests.simulation import judge
from tests.simulation.plain_replay import Books
from tests.simulation.traces import START, daily, write_csv

DEMO = Path(__file__).parents[2] / "jobs" / "demo" / "llm_azure2024_conv_1m.csv.gz"
CLOSE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A backtest's files beside the trace that they came from."""

    directory: Path
    record: judge.Record
    summary: dict[str, Any]


def recorded_week(_folder: Path) -> Path:
    return DEMO


def minutes_with_gaps(folder: Path) -> Path:
    """A week of minutes, 13 seconds off, with a note beside each count, empty cells for three hours and absent rows for five."""
    counts = daily(7, 60, seed=2)
    counts[5 * 1_440 + 600 : 5 * 1_440 + 780] = np.nan

    def absent(row: int) -> bool:
        return 4 * 1_440 + 300 <= row < 4 * 1_440 + 600 or row % 97 == 5

    return write_csv(folder / "minutes.csv.gz", counts, 60, start=START + timedelta(seconds=13), absent=absent, extra_column=True)


def five_minutes_with_an_outage(folder: Path) -> Path:
    """17 days that begin in the morning; the fifteenth was not measured, the last ends at noon."""
    counts = daily(16.5, 300, seed=3)
    counts[14 * 288 : 15 * 288] = np.nan
    return write_csv(folder / "outage.csv.gz", counts, 300, start=START + timedelta(hours=7, minutes=2))


def hours_that_double(folder: Path) -> Path:
    """12 days of hours; from the eighth on there is twice the load."""
    counts = daily(12, 3_600, seed=4)
    counts[7 * 24 :] *= 2
    return write_csv(folder / "hours.csv.gz", counts, 3_600)


def two_days(folder: Path) -> Path:
    """The shortest trace that can be replayed."""
    return write_csv(folder / "two.csv.gz", daily(2, 900, seed=5), 900)


TRACES = (recorded_week, minutes_with_gaps, five_minutes_with_an_outage, hours_that_double, two_days)


@pytest.fixture(scope="module", params=TRACES, ids=lambda make: make.__name__)
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder = tmp_path_factory.mktemp("backtest")
    path: Path = request.param(folder)
    directory = folder / "out"
    write(backtest_csv(path), directory)
    return Judged(directory=directory, record=judge.read_record(path), summary=judge.read_summary(directory))


def assert_same(policy: dict[str, Any], books: Books) -> None:
    assert policy["replica_hours"] == pytest.approx(books.replica_hours, rel=CLOSE)
    assert policy["late_ratio"] == pytest.approx(books.late_ratio, rel=CLOSE, abs=1e-6)
    assert policy["changes"] == pytest.approx(books.changes, rel=CLOSE, abs=1)


def test_there_are_exactly_the_promised_files_and_policies(judged: Judged) -> None:
    assert sorted(path.name for path in judged.directory.iterdir()) == ["floors.csv", "forecasts.csv", "peaks.csv", "summary.json"]
    assert list(judged.summary["policies"]) == [
        "static",
        "hpa_0.7",
        "hpa_best",
        "keda_cron_best",
        "last_week",
        "aws_like",
        "dynamo_like",
        "holt_winters",
        "clairvoyant_cold_start",
        "ours_hpa_0.7",
        "ours",
    ]
    assert all(set(policy) == {"late_ratio", "replica_hours", "changes"} for policy in judged.summary["policies"].values())
    assert set(judged.summary["operating_point"]) >= {"level", "hpa_target_utilisation"}


def test_a_replica_and_the_clairvoyant_are_sized_by_the_contract(judged: Judged) -> None:
    assert judged.summary["mu"] == pytest.approx(judged.record.mu, rel=1e-6)
    assert judged.summary["clairvoyant_replica_hours"] == pytest.approx(judge.clairvoyant_hours(judged.record), rel=1e-4)


def test_our_floors_replay_to_what_is_claimed_for_them(judged: Judged) -> None:
    floors = judge.read_floors(judged.directory, judged.record)
    target = judged.summary["operating_point"]["hpa_target_utilisation"]
    assert 0 < target <= 1
    assert_same(judged.summary["policies"]["ours"], judged.record.replay(floors, target))
    assert_same(judged.summary["policies"]["ours_hpa_0.7"], judged.record.replay(floors, 0.7))


def test_the_policies_of_others_replay_to_what_is_claimed_for_them(judged: Judged) -> None:
    record, policies = judged.record, judged.summary["policies"]
    nothing = [0] * len(record.replayed)
    assert_same(policies["hpa_0.7"], record.replay(nothing, 0.7))
    assert_same(policies["last_week"], record.replay(judge.last_week_floors(record), 0.8))
    static = judge.static_size(record)
    assert_same(policies["static"], record.replay([static] * len(record.replayed), 1e9, start=static))


def test_best_in_hindsight_is_as_good_as_any_plain_autoscaler(judged: Judged) -> None:
    """The best of 19 targets is in time where one of these is, and costs no more."""
    best, nothing = judged.summary["policies"]["hpa_best"], [0] * len(judged.record.replayed)
    for target in (0.5, 0.9):
        books = judged.record.replay(nothing, target)
        if books.late_ratio <= 0.001:
            assert best["late_ratio"] <= 0.001
            assert best["replica_hours"] <= books.replica_hours + 1e-6


def test_there_is_one_finite_forecast_of_24_hours_at_each_origin(judged: Judged) -> None:
    rows = judge.read_rows(judged.directory / "forecasts.csv")
    record = judged.record
    issues: dict[str, list[str]] = {}
    for row in rows:
        issues.setdefault(row["issued_at"], []).append(row["timestamp"])
        quantiles = [float(row[name]) for name in judge.QUANTILES]
        assert np.isfinite(quantiles).all()
        assert quantiles == sorted(quantiles)
    origins = [record.origin + day * judge.DAY for day in range(-(-(record.end - record.origin) // judge.DAY))]
    assert list(issues) == [f"{origin:%Y-%m-%dT%H:%M:%SZ}" for origin in origins]
    for origin, (issued_at, stamps) in zip(origins, issues.items(), strict=True):
        assert stamps[0] == issued_at
        assert stamps == [f"{origin + i * record.step:%Y-%m-%dT%H:%M:%SZ}" for i in range(judge.DAY // record.step)]


def test_the_scores_are_those_of_the_written_forecasts(judged: Judged) -> None:
    rows = judge.read_rows(judged.directory / "forecasts.csv")
    for level in (0.5, 0.9, 0.95, 0.99):
        mine = judge.pinball(judged.record, rows, level)
        assert judged.summary["accuracy"]["pinball"][f"{level:g}"] == pytest.approx(mine, rel=CLOSE)


def test_each_day_has_its_peak_and_what_came(judged: Judged) -> None:
    rows = judge.read_rows(judged.directory / "peaks.csv")
    days = [judged.record.origin + i * judge.DAY for i in range(len(rows))]
    assert [row["day"] for row in rows] == [f"{day:%Y-%m-%d}" for day in days]
    assert [row["issued_at"] for row in rows] == [f"{day:%Y-%m-%dT%H:%M:%SZ}" for day in days]
    covered = []
    for row, day in zip(rows, days, strict=True):
        actual = judge.peak_of(judged.record, day.date())
        assert (float(row["actual"]) if row["actual"] else None) == (None if actual is None else pytest.approx(actual, rel=1e-6))
        if actual is not None:
            covered.append(actual <= float(row["q0.95"]) * (1 + 1e-7))
    assert judged.summary["peaks"]["coverage"]["0.95"] == pytest.approx(sum(covered) / len(covered))
    assert judged.summary["peaks"]["days"] == len(covered)


def test_the_worst_days_are_days_of_the_replay(judged: Judged) -> None:
    days = {row["day"] for row in judge.read_rows(judged.directory / "peaks.csv")}
    worst = judged.summary["worst_days"]
    assert {entry["day"] for entry in worst} <= days
    assert [entry["late"] for entry in worst] == sorted((entry["late"] for entry in worst), reverse=True)

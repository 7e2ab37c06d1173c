"""`forecaster backtest --csv` on traces as people have them, as a sceptic runs it."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forecaster.units import iso
from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_csv
from tests.simulation.judge import QUANTILES, read_rows
from tests.simulation.traces import START, daily, write_csv

POLICIES = {
    "static", "hpa_0.7", "hpa_best", "keda_cron_best", "last_week", "aws_like", "dynamo_like", "holt_winters", "clairvoyant_cold_start",
    "ours_hpa_0.7", "ours",
}  # fmt: skip
FILES = ["floors.csv", "forecasts.csv", "frontier.svg", "peaks.csv", "summary.json"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty folder without a configuration."""
    desk = Desk(folder=tmp_path / "desk", env={"KUBE": "http://127.0.0.1:9"})  # nobody listens, and nobody asks
    desk.folder.mkdir()
    return desk


def minutes_with_holes(folder: Path) -> Path:
    """Five days of minutes, 13 s off, with a note in each row, four hours empty and three absent."""
    counts = daily(5, 60, seed=7)
    counts[3 * 1_440 + 500 : 3 * 1_440 + 740] = np.nan
    path = folder / "minutes.csv.gz"
    return write_csv(path, counts, 60, start=START + timedelta(seconds=13), absent=lambda row: 5_100 <= row < 5_280, extra_column=True)


def hours(folder: Path) -> Path:
    """Eight days of hours that begin in the afternoon."""
    return write_csv(folder / "hours.csv.gz", daily(8, 3_600, seed=8), 3_600, start=START + timedelta(hours=15, minutes=7))


def half_minutes(folder: Path) -> Path:
    """Three days of 30-second buckets."""
    return write_csv(folder / "half.csv.gz", daily(3, 30, seed=9), 30)


def columns_in_any_order(folder: Path) -> Path:
    """Plain text with a byte-order mark, the value first, stamps with an offset, and rows in no order."""
    counts = daily(6, 300, seed=10).tolist()
    rows = [f"{count:g},x,{iso(START + timedelta(seconds=300 * i)).replace('Z', '+00:00')}\n" for i, count in enumerate(counts)]
    path = folder / "columns.csv"
    path.write_text("\ufeffvalue,host,timestamp\n" + "".join(rows[1_000:] + rows[:1_000]), encoding="utf-8")
    return path


@pytest.mark.parametrize("trace", [minutes_with_holes, hours, half_minutes, columns_in_any_order], ids=lambda make: make.__name__)
def test_every_file_is_there_and_says_what_json_says(desk: Desk, trace: Callable[[Path], Path]) -> None:
    path = trace(desk.folder)
    before = path.read_bytes()
    done = desk.done("backtest", "--csv", path.name, "--out", "out/deep", "--json")
    assert done.err == ""  # nobody watches: no progress
    out = desk.folder / "out" / "deep"
    assert sorted(file.name for file in out.iterdir()) == FILES
    assert json.loads((out / "summary.json").read_text()) == done.json
    assert done.json["policies"].keys() == POLICIES
    assert path.read_bytes() == before
    starts_are_issued_at_midnight_and_numbers_are_finite(out, done.json)


def starts_are_issued_at_midnight_and_numbers_are_finite(out: Path, summary: dict[str, Any]) -> None:
    forecasts, peaks, floors = (read_rows(out / name) for name in ("forecasts.csv", "peaks.csv", "floors.csv"))
    issued = sorted({row["issued_at"] for row in forecasts})
    assert issued[0] == summary["first_origin"]
    assert all(each.endswith("T00:00:00Z") for each in issued)
    assert [min(row["timestamp"] for row in forecasts if row["issued_at"] == each) for each in issued] == issued
    assert np.isfinite([[float(row[q]) for q in QUANTILES] for row in (*forecasts, *peaks)]).all()
    stamps = [datetime.fromisoformat(row["timestamp"]) for row in floors]
    assert stamps == sorted(stamps)
    assert stamps[0] == datetime.fromisoformat(summary["first_origin"])
    assert all(int(row["floor"]) >= 1 for row in floors)


def test_people_get_a_table_and_the_recommendation(desk: Desk) -> None:
    hours(desk.folder)
    done = desk.done("backtest", "--csv", "hours.csv.gz")
    assert {line.split()[0] for line in done.out.splitlines() if line.strip()} >= POLICIES
    assert "Recommended: level P" in done.out
    assert "HPA target" in done.out
    assert "The recommendation rests on 4.4 days only, which is weak evidence: give a trace of at least 14 days." in done.out
    assert [path.name for path in desk.folder.iterdir()] == ["hours.csv.gz"]


def test_rows_that_no_load_can_have_are_counted_and_the_assumed_lead_time_is_told(desk: Desk) -> None:
    counts = daily(4, 3_600, seed=11)
    counts[30] = -5
    rows = [f"{iso(START + timedelta(hours=hour))},{count:g}\n" for hour, count in enumerate(counts.tolist())]
    (desk.folder / "load.csv").write_text("timestamp,value\n" + "".join(rows))
    done = desk.done("backtest", "--csv", "load.csv", "--out", "out")
    first, second = done.out.splitlines()[:2]
    assert first.startswith("Load: column 'value' has 96 buckets of 3600 s")
    assert first.endswith("1 row negative or infinite, taken as not measured.")
    assert second.startswith("A new replica was taken to be ready after 10 minutes")
    assert json.loads((desk.folder / "out" / "summary.json").read_text())["notes"] == [first, second]


def test_a_timetable_of_replicas_that_nobody_sized_says_so_and_an_empty_one_is_none(desk: Desk) -> None:
    write_csv(desk.folder / "load.csv", daily(4, 3_600, seed=11), 3_600)
    desk.done("backtest", "--csv", "load.csv", "--out", "out")
    done = desk.done("export", "asg-scheduled", "--from", "out", "--group", "gpu")
    assert "nobody said what a replica serves, it was taken to be" in done.err
    nothing = desk.run("export", "asg-scheduled", "--from", "out", "--group", "gpu", "--min", "500")
    assert (nothing.code, nothing.out) == (1, "")
    assert "nothing to schedule: no hour asks for more than 500 replicas" in nothing.err


def test_where_a_plain_autoscaler_does_as_well_it_is_said(desk: Desk) -> None:
    write_csv(desk.folder / "flat.csv", np.full(15 * 24, 6_000.0), 3_600)
    done = desk.done("backtest", "--csv", "flat.csv")
    assert "the best plain HPA in hindsight (hpa_best) would have done as well: no later and no dearer" in done.out
    assert "weak evidence" not in done.out


def renamed(folder: Path) -> Path:
    """Three days as an exporter writes them: neither column is called as we call it."""
    counts = daily(3, 1_800).tolist()
    rows = [f"{iso(START + timedelta(minutes=30 * i))},{count:g},{2 * count:g}\n" for i, count in enumerate(counts)]
    path = folder / "export.csv"
    path.write_text("time,requests,tokens\n" + "".join(rows))
    return path


def test_columns_are_those_of_the_configuration_unless_one_is_named(desk: Desk) -> None:
    renamed(desk.folder)
    config = on_csv(path="export.csv")
    config["sources"]["trace"]["timestamp"] = "time"
    config["workloads"][0]["signals"]["rpm"]["query"] = "requests"
    desk.configure(config)
    words = ("backtest", "--csv", "export.csv", "--config", "forecaster.yaml", "--json")
    requests, tokens = desk.done(*words).json, desk.done(*words, "--query", "tokens").json
    assert tokens["mu"] == pytest.approx(2 * requests["mu"], rel=1e-4)
    unknown = desk.run(*words, "--query", "tokns")
    assert (unknown.code, "has no column 'tokns'; its columns are 'time', 'requests', 'tokens'" in unknown.err) == (1, True)


def test_without_a_configuration_the_column_can_be_named(desk: Desk) -> None:
    counts = daily(3, 1_800).tolist()
    rows = "".join(f"{iso(START + timedelta(minutes=30 * i))},{count:g}\n" for i, count in enumerate(counts))
    (desk.folder / "load.csv").write_text("timestamp,requests\n" + rows)
    assert desk.run("backtest", "--csv", "load.csv").code == 1
    assert desk.done("backtest", "--csv", "load.csv", "--query", "requests", "--json").json["mu"] > 0


def test_a_configuration_gives_policy_and_lead_time(desk: Desk) -> None:
    hours(desk.folder)
    config = on_csv(max=3)
    config["workloads"][0]["pools"][0]["lead_time"] = {"cold": "20m"}
    desk.configure(config)
    words = ("backtest", "--csv", "hours.csv.gz", "--config", "forecaster.yaml")
    desk.done(*words, "--out", "out")
    assert {int(row["floor"]) for row in read_rows(desk.folder / "out" / "floors.csv")} <= {1, 2, 3}
    unknown = desk.run(*words, "chta")
    assert (unknown.code, "there is no workload 'chta', there is: chat" in unknown.err) == (2, True)


def refused(folder: Path, counts: "np.ndarray[Any, Any]") -> Path:
    return write_csv(folder / "trace.csv.gz", counts, 300)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (daily(1, 300), "too short for one forecast after half of it: give at least two whole days"),
        (np.full(4 * 288, np.nan), "has no number in column 'value'"),
        (np.zeros(4 * 288), "no request was counted before the first forecast"),
        (np.where(np.arange(4 * 288) < 3 * 288, np.nan, 5.0), "no bucket of 300 s was measured before the first forecast"),
    ],
    ids=["short", "empty", "zeros", "late"],
)
def test_a_trace_that_cannot_be_replayed_is_refused_and_nothing_is_written(
    desk: Desk, counts: "np.ndarray[Any, Any]", sentence: str
) -> None:
    refused(desk.folder, counts)
    outcome = desk.run("backtest", "--csv", "trace.csv.gz", "--out", "out")
    assert (outcome.code, outcome.out, len(outcome.sentences)) == (1, "", 1)
    assert sentence in outcome.err
    assert not (desk.folder / "out").exists()


def test_wrong_paths_are_named(desk: Desk) -> None:
    missing = desk.run("backtest", "--csv", "trace.csv.gz")
    assert (missing.code, missing.sentences) == (
        1,
        ["forecaster: trace.csv.gz cannot be read: No such file or directory; give the path of a readable CSV file"],
    )
    hours(desk.folder)
    (desk.folder / "out").write_text("")
    outcome = desk.run("backtest", "--csv", "hours.csv.gz", "--out", "out")
    assert (outcome.code, len(outcome.sentences)) == (2, 1)
    assert "cannot be written to out" in outcome.err
    assert desk.run("backtest").code == 2

"""Peaks and floors of a line that ran: words for people, values for programs."""

import csv
import io
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from forecaster.units import iso
from jobs.cli.options import Output
from jobs.cli.show import Table, show
from jobs.cli.tables import floors_table, hours_table, peaks_table
from jobs.draft import Draft
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World


@pytest.fixture
def drafts(world: World) -> tuple[Draft, ...]:
    """A workload in Paris, forecast for three days from 08:30 of its own time."""
    return forecast_in(world, "Europe/Paris")


def forecast_in(world: World, zone: str, at: datetime = NOW) -> tuple[Draft, ...]:
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["zone"] = zone
    with world.fleet() as fleet:
        return forecast_fleet(fleet, at)


def read_back(table: Table, capsys: pytest.CaptureFixture[str], output: Output) -> list[dict[str, Any]]:
    show(table, output)
    out = capsys.readouterr().out
    return json.loads(out) if output is Output.JSON else list(csv.DictReader(io.StringIO(out)))


def days_for_people(drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str]) -> list[str]:
    show(peaks_table(drafts), Output.MARKDOWN)
    return [line.split("|")[3].strip() for line in capsys.readouterr().out.splitlines()[2:]]


@pytest.mark.parametrize("output", [Output.JSON, Output.CSV])
def test_programs_read_peaks_as_iso_days_instants_and_the_name_of_the_signal(
    drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str], output: Output
) -> None:
    rows = read_back(peaks_table(drafts), capsys, output)
    assert [row["day"] for row in rows] == ["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"]
    assert {row["signal"] for row in rows} == {"rpm"}
    assert [row["peak_at"] for row in rows] == [iso(peak.at) for peak in drafts[0].outlooks[0].daily_peaks]


def test_people_read_peaks_in_local_time_with_the_unit(drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str]) -> None:
    show(peaks_table(drafts), Output.TABLE)
    out = capsys.readouterr().out
    assert "rpm (requests/min)" in out
    assert " CET " in out


def test_a_day_that_is_cut_off_says_where(drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert days_for_people(drafts, capsys) == ["Mon 02 Mar (from 08:30)", "Tue 03 Mar", "Wed 04 Mar", "Thu 05 Mar (until 08:30)"]


def test_a_day_that_is_cut_off_at_both_ends_says_both(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.config["forecast"] = {"horizon": "2h"}
    assert days_for_people(forecast_in(world, "UTC"), capsys) == ["Mon 02 Mar (from 07:30 until 09:30)"]


def test_from_midnight_to_midnight_nothing_is_cut_off(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.config["forecast"] = {"horizon": "24h"}
    assert days_for_people(forecast_in(world, "UTC", NOW.replace(hour=0, minute=0)), capsys) == ["Mon 02 Mar"]


@pytest.mark.parametrize("output", [Output.JSON, Output.CSV])
def test_programs_read_floors_from_instant_to_instant(
    drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str], output: Output
) -> None:
    rows = read_back(floors_table(drafts, NOW), capsys, output)
    first = drafts[0].plans[0].floors[0]
    assert (rows[0]["from"], rows[0]["until"]) == (iso(first.start), iso(first.until))
    hours = read_back(hours_table(drafts, NOW), capsys, output)
    assert [row["hour_from"] for row in hours] == [iso(NOW.replace(minute=0) + timedelta(hours=i)) for i in range(24)]


def test_people_read_floors_in_local_time(drafts: tuple[Draft, ...], capsys: pytest.CaptureFixture[str]) -> None:
    show(floors_table(drafts, NOW), Output.TABLE)
    show(hours_table(drafts, NOW), Output.TABLE)
    out = capsys.readouterr().out
    assert " Mon 08:30 " in out
    assert " Mon 08:00 CET " in out

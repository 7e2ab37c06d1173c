"""A fleet that nobody forecasts, or whose floors nobody applies any more, says so on top of its status."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.cli import views
from jobs.cli.options import Output
from jobs.forecast import forecast_fleet
from jobs.views.status import status_of
from jobs.views.stopped import Stopped, stopped
from tests.jobs.world import NOW, World, daily_rpm, write_trace
from tests.kube_api import KubeApi

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def world_at(folder: Path, api: KubeApi, *, applies: Sequence[timedelta], forecasts: Sequence[timedelta]) -> World:
    """Two workloads whose two halves ran at these distances from NOW."""
    write_trace(folder / "load.csv", daily_rpm())
    world = World(folder=folder, api=api)
    world.workload("chat")
    world.workload("code")
    with world.fleet() as fleet:
        for after in sorted({*applies, *forecasts}):
            if after in forecasts:
                forecast_fleet(fleet, NOW + after)
            if after in applies:
                apply_fleet(fleet, NOW + after)
    return world


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Both halves ran twice, half an hour apart. Only read from."""
    halves = (timedelta(0), 30 * MINUTE)
    with KubeApi() as api:
        return world_at(tmp_path_factory.mktemp("ran"), api, applies=halves, forecasts=halves)


def silences(world: World, after: timedelta, *, forecast_every: timedelta = HOUR) -> dict[str, Stopped]:
    with world.fleet() as fleet:
        found = status_of(fleet.store, fleet.members, NOW + after)
        told = stopped(fleet.store, found, apply_every_s=30, forecast_every_s=forecast_every.total_seconds())
    return {each.verb: each for each in told}


def test_while_both_halves_ran_within_their_last_intervals_nothing_is_said(ran: World) -> None:
    assert silences(ran, 30 * MINUTE + 2 * HOUR) == {}


def test_an_apply_without_a_record_for_two_hours_has_stopped(ran: World) -> None:
    told = silences(ran, 31 * MINUTE + 2 * HOUR)
    assert told == {"apply": Stopped(verb="apply", since=NOW + 30 * MINUTE, now=NOW + 31 * MINUTE + 2 * HOUR)}


def test_a_forecast_without_a_plan_for_three_intervals_has_stopped(ran: World) -> None:
    assert set(silences(ran, 31 * MINUTE + 3 * HOUR)) == {"apply", "forecast"}
    assert set(silences(ran, 31 * MINUTE + 3 * HOUR, forecast_every=6 * HOUR)) == {"apply"}


def test_a_line_that_cron_runs_more_seldom_than_it_is_configured_is_measured_by_its_own_interval(tmp_path: Path) -> None:
    runs = (timedelta(0), 6 * HOUR, 12 * HOUR)
    with KubeApi() as api:
        world = world_at(tmp_path, api, applies=runs, forecasts=runs)
    assert silences(world, 18 * HOUR) == {}
    assert set(silences(world, 31 * HOUR)) == {"apply", "forecast"}


def test_one_workload_that_is_decided_on_shows_that_apply_runs(tmp_path: Path) -> None:
    with KubeApi() as api:
        world = world_at(tmp_path, api, applies=(timedelta(0),), forecasts=(timedelta(0),))
        api.delete_hpa("serving", "code")
        with world.fleet() as fleet:
            apply_fleet(fleet, NOW + 5 * HOUR)
    assert set(silences(world, 5 * HOUR)) == {"forecast"}


def test_what_never_ran_has_not_stopped(tmp_path: Path) -> None:
    with KubeApi() as api:
        world = world_at(tmp_path, api, applies=(), forecasts=(timedelta(0),))
    assert silences(world, 2 * HOUR) == {}


def test_status_says_it_before_all_else_with_since_when_and_the_remedy(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.status(config=ran.path, now=iso(NOW + 5 * HOUR))
    first = " ".join(capsys.readouterr().out.split("Floors in")[0].split())
    assert f"`forecaster apply` left nothing since {iso(NOW + 30 * MINUTE)}" in first
    assert "start the daemon or the cron job again; `forecaster apply` does it once" in first
    assert "`forecaster forecast` left nothing since" in first


def test_a_table_for_programs_has_it_beside_its_rows(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.status(config=ran.path, now=iso(NOW + 5 * HOUR), output=Output.CSV)
    said = capsys.readouterr()
    assert "left nothing since" in said.err
    assert "left nothing since" not in said.out


def test_json_has_it_as_a_list_that_is_empty_while_all_runs(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.status(config=ran.path, now=iso(NOW + HOUR), json=True)
    assert json.loads(capsys.readouterr().out)["stopped"] == []
    views.status(config=ran.path, now=iso(NOW + 5 * HOUR), json=True)
    apply, forecast = json.loads(capsys.readouterr().out)["stopped"]
    assert (apply["verb"], apply["since"], apply["silent_s"]) == ("apply", iso(NOW + 30 * MINUTE), 4.5 * 3_600)
    assert forecast["verb"] == "forecast"

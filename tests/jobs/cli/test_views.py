"""review, status, explain and history after a real line ran: CSV load, HPAs on the loopback API server, a store in a file."""

import csv
import io
import json
import math
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.errors import ConfigRejected, NothingKept
from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.cli import views
from jobs.cli.main import app
from jobs.cli.options import Output
from jobs.cli.status import without_password
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World, daily_rpm, write_trace
from tests.kube_api import KubeApi

DAY_AGO, MINUTE, HOUR = NOW - timedelta(hours=24), timedelta(minutes=1), timedelta(hours=1)
TARGET = "kubernetes-hpa:serving/chat"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The line ran a day ago, at NOW and an hour later; then the cluster went away. Only read from."""
    folder = tmp_path_factory.mktemp("ran")
    write_trace(folder / "load.csv", daily_rpm())
    with KubeApi() as api:
        world = World(folder=folder, api=api)
        world.workload("chat")
        world.workload("reviewed", mode="review")
        with world.fleet() as fleet:
            for at in (DAY_AGO - 8 * HOUR, NOW):
                forecast_fleet(fleet, at)
                apply_fleet(fleet, at)
            apply_fleet(fleet, NOW + HOUR)
    return world


def said_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_review_has_a_row_a_pool(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.review(config=ran.path, now=iso(NOW), output=Output.CSV)
    chat, reviewed = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (chat["workload"], chat["pool"], chat["signal"], chat["model"]) == ("chat", "gpu", "rpm", "ensemble")
    assert chat["peak_at"].startswith("2026-03-03T")
    assert 900 < float(chat["peak_p50"]) < float(chat["peak_p95"]) < 1_300
    assert 1_000 < float(chat["yesterday_peak"]) < 1_200
    assert 0 < float(chat["yesterday_median_error_ratio"]) < 0.1
    assert float(chat["yesterday_above_p95_ratio"]) < 0.2
    assert 10 <= int(chat["floor_at_peak"]) <= 14
    assert (chat["floor_change"], chat["needs"]) == ("0", "")
    assert (reviewed["floor_change"], reviewed["needs"]) == ("", "awaits-approval")


def test_review_names_the_command_to_type_and_that_command_works(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.workload("chat", mode="review")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
    assert world.floor("chat") < 6
    views.review("chat", config=world.path, now=iso(NOW))
    out = capsys.readouterr().out
    typed = next(line.strip() for line in out.splitlines() if line.strip().startswith("forecaster approve"))
    assert typed == f"forecaster approve chat --plan chat/gpu@{iso(NOW)} --config {world.path}"
    app([*shlex.split(typed)[1:], "--now", iso(NOW + MINUTE)], standalone_mode=False)
    capsys.readouterr()
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW + 2 * MINUTE)
    views.review("chat", config=world.path, now=iso(NOW + 2 * MINUTE))
    assert "Nothing needs a decision." in capsys.readouterr().out


def test_the_page_of_a_workload_has_three_charts_in_its_own_time(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["zone"] = "Asia/Tokyo"
    with world.fleet() as fleet:
        for at in (NOW - timedelta(hours=48), NOW):
            forecast_fleet(fleet, at)
        apply_fleet(fleet, NOW)
    views.review("chat", config=world.path, now=iso(NOW))
    out = capsys.readouterr().out
    assert "chat: as of Mon 02 Mar 2026 16:30 JST in Asia/Tokyo, mode auto" in out
    assert out.count("Asia/Tokyo (JST), 20 min/column") == 3
    assert [title in out for title in ("Next 24 hours: rpm", "Next 24 hours: floor of gpu", "Yesterday: forecast against measured rpm")]
    assert "Nothing needs a decision." in out
    assert "\x1b" not in out


def test_review_as_json_has_every_number_and_with_a_workload_the_next_day(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.review("reviewed", config=ran.path, now=iso(NOW), json=True)
    (workload,) = said_json(capsys)["workloads"]
    (signal,), (pool,), (need,) = workload["signals"], workload["pools"], workload["needs"]
    assert (workload["tomorrow"], signal["tomorrow"]["day"], signal["tomorrow_is_covered"]) == ("2026-03-03", "2026-03-03", True)
    assert (signal["yesterday"]["day"], signal["last_week"]["day"]) == ("2026-03-01", "2026-02-24")
    assert len(signal["next_24_h"]) == 288
    assert all(step["p50"] <= step["p95"] for step in signal["next_24_h"])
    assert pool["next_24_h"][0]["until"] == pool["next_24_h"][1]["from"]
    assert (pool["state"], pool["waits"], pool["compared_with"], pool["floor_change"]) == ("awaits-approval", True, None, None)
    assert need["commands"][0] == f"forecaster approve reviewed --plan {pool['plan']}"


@pytest.mark.parametrize("output", list(Output))
@pytest.mark.parametrize(
    "command", [views.review, views.status, lambda **with_: views.explain("chat", **with_), lambda **with_: views.history("chat", **with_)]
)
def test_every_view_speaks_every_format(ran: World, capsys: pytest.CaptureFixture[str], command: Any, output: Output) -> None:
    command(config=ran.path, now=iso(NOW), output=output)
    out = capsys.readouterr().out
    match output:
        case Output.JSON:
            json.loads(out, parse_constant=pytest.fail)
        case Output.CSV:
            assert len({len(row) for row in csv.reader(io.StringIO(out))}) == 1
        case Output.MARKDOWN:
            assert all(line.startswith("| ") and line.endswith(" |") for line in out.splitlines())
        case Output.TABLE:
            assert "chat" in out


def test_status_answers_when_the_cluster_is_down(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.status(config=ran.path, now=iso(NOW + 90 * MINUTE), json=True)
    said = said_json(capsys)
    assert said["store"].startswith("sqlite:///")
    chat, reviewed = said["workloads"]
    (pool,) = chat["pools"]
    (target,) = pool["targets"]
    assert (chat["mode"], pool["state"], pool["plan"]["age_s"]) == ("auto", "fresh", 5_400.0)
    assert (target["name"], target["floor"], target["decided_at"], target["error"]) == (TARGET, ran.floor("chat"), iso(NOW + HOUR), None)
    assert target["sentence"].startswith(f"chat/gpu on {TARGET}: floor ")
    assert reviewed["pools"][0]["waiting"]["id"] == f"reviewed/gpu@{iso(NOW)}"


def test_status_tells_who_ordered_what_until_when(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.workload("chat")
    order = Ruling(
        at=NOW, workload="chat", kind=RulingKind.PAUSE, author="bob", reason="node upgrade", paused=Paused.HOLD, until=NOW + HOUR
    )
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        fleet.store.append_ruling(order)
        apply_fleet(fleet, NOW + MINUTE)
    views.status(config=world.path, now=iso(NOW + MINUTE))
    out = capsys.readouterr().out
    assert "paused by bob since 2026-03-02T07:30:00Z, until 2026-03-02T08:30:00Z: node upgrade" in out
    assert "left alone at 2" in out


@pytest.mark.parametrize(
    ("later", "decided"),
    [
        (timedelta(days=1), " Mon 08:30 "),
        (timedelta(days=6), " Mon 08:30 "),
        (timedelta(days=8), " 02 Mar 08:30 "),
        (timedelta(days=400), " 02 Mar 2026 08:30 "),
    ],
)
def test_status_dates_what_a_weekday_alone_does_not_name(
    ran: World, capsys: pytest.CaptureFixture[str], later: timedelta, decided: str
) -> None:
    views.status(config=ran.path, now=iso(NOW + HOUR + later), output=Output.MARKDOWN)
    assert decided in capsys.readouterr().out


def test_a_stores_password_is_never_shown() -> None:
    assert without_password("postgresql://me:s3cr:t@db/forecaster") == "postgresql://me:***@db/forecaster"
    assert without_password("sqlite:////data/forecaster.db") == "sqlite:////data/forecaster.db"


def explained(ran: World, capsys: pytest.CaptureFixture[str], at: datetime) -> Any:
    views.explain("chat", config=ran.path, now=iso(at), json=True)
    (floor,) = said_json(capsys)["floors"]
    return floor


def test_explain_rebuilds_a_past_floor_from_forecast_level_capacity_and_lead_time(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    floor = explained(ran, capsys, NOW + HOUR)
    (signal,), (forecast,), plan = floor["plan"]["signals"], floor["forecasts"], floor["plan"]
    assert (floor["floor"], plan["level"], plan["lead_time_s"], plan["lead_window_s"]) == (ran.floor("chat"), 0.95, 600.0, 900)
    assert (signal["signal"], signal["capacity_per_replica"], signal["binds"]) == ("rpm", 100.0, True)
    assert math.ceil(signal["load_at_level"] / signal["capacity_per_replica"]) == plan["floor"]
    assert (forecast["model"], forecast["issued_at"], plan["id"]) == ("ensemble", iso(NOW), f"chat/gpu@{iso(NOW)}")
    for part in (f"chat/gpu on {TARGET}: floor", "ensemble expects P95 of rpm", "lead time 10 min", "a replica carries 100"):
        assert part in floor["sentence"]


def test_the_floor_in_force_is_the_last_one_decided_before(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(ran, capsys, NOW + 30 * MINUTE) == explained(ran, capsys, NOW)
    assert explained(ran, capsys, NOW)["decided_at"] == iso(NOW)
    assert explained(ran, capsys, NOW - MINUTE)["decided_at"] == iso(DAY_AGO - 8 * HOUR)


def test_explain_for_people_is_a_page_a_target(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.explain("chat", config=ran.path, now=iso(NOW), target=TARGET)
    out = capsys.readouterr().out
    assert out.startswith(f"chat/gpu on {TARGET} at Mon 02 Mar 2026 07:30:00 UTC\n")
    for name in ("level", "lead time", "rpm forecast", "rpm capacity", "forecast of rpm", "said then"):
        assert f"\n {name} " in out


def test_a_target_that_is_not_there_is_told_with_those_that_are(ran: World) -> None:
    with pytest.raises(ConfigRejected, match=rf"chat has no target 'nope'; there is: {TARGET}"):
        views.explain("chat", config=ran.path, now=iso(NOW), target="nope")


def test_before_the_first_decision_there_is_nothing_to_explain(ran: World) -> None:
    with pytest.raises(NothingKept, match=r"chat: no floor was decided by 2026-02-01T00:00:00Z; run `forecaster run` first"):
        views.explain("chat", config=ran.path, now="2026-02-01T00:00:00Z")


def test_history_tells_every_decision_of_the_span_and_what_stood_before(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.history("chat", config=ran.path, now=iso(NOW + HOUR), since="90m", json=True)
    said = said_json(capsys)
    assert [row["at"] for row in said] == [iso(DAY_AGO - 8 * HOUR), iso(NOW), iso(NOW + HOUR)]
    assert [row["last"] for row in said] == [None, said[0]["floor"], said[1]["floor"]]
    assert said[1]["floor"] < said[2]["floor"] == ran.floor("chat")
    views.history("chat", config=ran.path, now=iso(NOW + HOUR), since=iso(NOW + MINUTE), json=True)
    assert [row["at"] for row in said_json(capsys)] == [iso(NOW), iso(NOW + HOUR)]


def test_history_tells_the_zone_of_its_instants(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.history("chat", config=ran.path, now=iso(NOW + HOUR), since="90m")
    rows = [line for line in capsys.readouterr().out.splitlines() if ":30:00" in line]
    assert rows
    assert all(":30:00 UTC" in line for line in rows)


def test_history_of_load_is_a_row_a_day_with_its_peak_and_what_is_missing(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    views.history("chat", config=ran.path, now=iso(NOW), since="3d", load=True, json=True)
    days = said_json(capsys)
    assert [day["day"] for day in days] == ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]
    whole = days[2]
    assert (whole["signal"], whole["unit"], whole["measured_ratio"], whole["gaps"], whole["longest_gap_s"]) == (
        "rpm",
        "requests/min",
        1.0,
        0,
        None,
    )
    counts = {at: count / 5 for at, count in daily_rpm() if at.date().isoformat() == "2026-03-01"}
    assert whole["peak"] == pytest.approx(max(counts.values()), rel=1e-3)
    assert whole["peak_at"] == iso(max(counts, key=lambda at: counts[at]))
    assert whole["mean"] == pytest.approx(sum(counts.values()) / len(counts), rel=1e-3)


@pytest.mark.parametrize("since", ["2027-01-01T00:00:00Z", "0s"])
def test_a_span_begins_in_the_past(ran: World, since: str) -> None:
    with pytest.raises(ConfigRejected, match=rf"--since {since} is not in the past"):
        views.history("chat", config=ran.path, now=iso(NOW), since=since)


def test_a_span_that_is_neither_instant_nor_duration_is_refused(ran: World) -> None:
    with pytest.raises(ConfigRejected, match=r"'yesterday' is no instant"):
        views.history("chat", config=ran.path, now=iso(NOW), since="yesterday")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (views.review, r"the store holds no forecast of the last two weeks; run `forecaster run` first"),
        (views.status, r"nothing was planned or decided yet; run `forecaster run` first"),
        (lambda **with_: views.explain("chat", **with_), r"chat: no floor was decided by .*; run `forecaster run` first"),
        (lambda **with_: views.history("chat", **with_), r"chat: no floor was decided by .*; run `forecaster run` first"),
        (lambda **with_: views.history("chat", load=True, **with_), r"chat: no load was kept between .*; run `forecaster fetch` first"),
    ],
)
def test_an_empty_store_is_one_sentence(world: World, command: Any, sentence: str) -> None:
    world.workload("chat")
    with pytest.raises(NothingKept, match=sentence):
        command(config=world.path, now=iso(NOW))


def test_reading_needs_neither_the_source_nor_the_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(tmp_path / "load.csv", daily_rpm())
    with KubeApi() as api:
        world = World(folder=tmp_path, api=api)
        world.workload("chat")
        with world.fleet() as fleet:
            forecast_fleet(fleet, NOW)
            apply_fleet(fleet, NOW)
        path = world.path
    (tmp_path / "load.csv").unlink()
    assert yaml.safe_load(path.read_text())["workloads"]
    views.review("chat", config=path, now=iso(NOW))
    views.status(config=path, now=iso(NOW))
    views.explain("chat", config=path, now=iso(NOW))
    views.history("chat", config=path, now=iso(NOW))
    assert "Nothing needs a decision." in capsys.readouterr().out

"""Scenarios that only the whole command shows: what is missing is said, what fails is never silent, and yesterday's plan goes on."""

import math
from datetime import timedelta
from pathlib import Path

import pytest

from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_csv, on_prometheus
from tests.end_to_end.service import CARRY_RPM, DAY, clock, trace_csv, true_rpm
from tests.kube_api import KubeApi
from tests.loopback_prometheus import Asked, Reply, loopback_prometheus, steady
from tests.postgres import Postgres


@pytest.fixture
def csv_desk(tmp_path: Path, kube: KubeApi) -> Desk:
    """A fleet on a CSV file in mode auto."""
    desk = Desk(folder=tmp_path / "desk", env={"KUBE": kube.url})
    desk.folder.mkdir()
    (desk.folder / "load.csv").write_text(trace_csv())
    desk.configure(on_csv())
    return desk


def test_k07_a_server_that_keeps_less_than_is_wanted_is_told_and_used(desk: Desk) -> None:
    desk.configure(on_prometheus(mode="observe") | {"forecast": {"history": "12w", "watched": []}})
    (rpm, *_) = [row for row in desk.done("check", "--json", at=clock("06:30")).json if row["what"] == "history"]
    assert "22 of the 84 days wanted" in rpm["sentence"]
    assert desk.done("run", at=clock("07:30")).sentences == []


def test_k04_three_weeks_of_minutes_are_fetched_in_pieces_and_stitched(desk: Desk) -> None:
    config = on_prometheus(mode="observe")
    config["sources"]["metrics"]["max_points"] = 900
    desk.configure(config)
    desk.done("fetch", at=clock("07:00"))
    days = desk.done("history", "chat", "--load", "--since", "20d", "--json", at=clock("07:00")).json
    assert len(days) == 2 * 21
    assert {day["gaps"] for day in days} == {0}


def test_k12_a_young_service_gets_a_plan_with_its_reason_or_a_sentence(csv_desk: Desk, kube: KubeApi) -> None:
    (csv_desk.folder / "load.csv").write_text(trace_csv(days=2))  # of which a day and a half are past
    csv_desk.done("run", at=clock("08:30"))
    assert kube.min_replicas("serving", "chat") >= math.ceil(true_rpm(clock("08:40")) / CARRY_RPM)
    (floor,) = csv_desk.done("explain", "chat", "--json", at=clock("08:30")).json["floors"]
    codes = [note["code"] for forecast in floor["forecasts"] for note in forecast["notes"]]
    assert "young-history" in codes
    newborn = csv_desk.run("run", at=clock("06:00", DAY - timedelta(days=1)))
    assert newborn.code == 1
    assert "needs 24 h" in newborn.err


def test_l44_without_a_forecaster_the_last_plan_goes_on_and_then_live_load_alone_is_safe(csv_desk: Desk, kube: KubeApi) -> None:
    csv_desk.configure(on_csv(expiry="2h"))
    csv_desk.done("run", at=clock("07:00"))
    csv_desk.done("apply", at=clock("08:00"))
    assert kube.min_replicas("serving", "chat") >= math.ceil(true_rpm(clock("08:10")) / CARRY_RPM)
    stale = csv_desk.done("apply", at=clock("12:00"))
    assert "the last plan has expired" in stale.out
    assert kube.min_replicas("serving", "chat") >= math.floor(true_rpm(clock("12:00")) / CARRY_RPM)


def test_k48_a_store_that_goes_away_in_mid_apply_is_a_failed_command_and_the_next_makes_up_for_it(
    tmp_path: Path, kube: KubeApi, postgres: Postgres
) -> None:
    name = f"leaving_{next(postgres.serial)}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    gone: list[bool] = []

    def answer(asked: Asked) -> Reply:
        if gone:
            postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            postgres.end_sessions(postgres.url(name))
        return steady(900.0)(asked)

    with loopback_prometheus(answer) as metrics:
        desk = Desk(folder=tmp_path, env={"PROMETHEUS": metrics.url, "KUBE": kube.url})
        config = on_prometheus(mode="auto") | {"store": postgres.url(name)}
        config["workloads"][0]["signals"] = {"rpm": {"query": "rpm", "unit": "per_minute"}}
        desk.configure(config)
        desk.done("migrate")
        desk.done("forecast", at=clock("07:00"))
        gone.append(True)
        failed = desk.run("apply", at=clock("07:01"))
        assert (failed.code, failed.out, len(failed.sentences)) == (1, "", 1)
        assert name in failed.err
        assert postgres.url(name) not in failed.err  # which holds the password
        floor = kube.min_replicas("serving", "chat")  # all was read before the store went, so the floor stands; its record is missing
        assert floor >= 9
        gone.clear()
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        desk.done("apply", at=clock("07:02"))
        assert kube.min_replicas("serving", "chat") == floor
        assert f"floor {floor}" in desk.done("explain", "chat", at=clock("07:02")).out


def test_a_renamed_workload_begins_anew_and_says_so(csv_desk: Desk, kube: KubeApi) -> None:
    csv_desk.done("run", at=clock("07:30"))
    floor = kube.min_replicas("serving", "chat")
    csv_desk.configure(on_csv(name="conversation"))
    assert csv_desk.done("apply", at=clock("07:31")).out.count("there is no plan to follow") == 1
    assert kube.min_replicas("serving", "chat") <= floor
    assert "there is no workload 'chat'" in csv_desk.run("review", "chat").err


def test_a_release_says_what_it_could_not_put_back(csv_desk: Desk, kube: KubeApi) -> None:
    csv_desk.done("run", at=clock("07:30"))
    kube.fail_next(403)
    refused = csv_desk.run("release", at=clock("07:31"))
    assert (refused.code, refused.out, len(refused.sentences)) == (1, "", 1)
    assert "kubernetes-hpa:serving/chat was not released" in refused.err
    csv_desk.done("apply", at=clock("07:32"))  # the word was kept: the next run makes up for it
    assert (kube.min_replicas("serving", "chat"), "forecaster/original" in kube.annotations("serving", "chat")) == (2, False)


def test_a_configuration_behind_links_keeps_its_own_folder(csv_desk: Desk) -> None:
    mounted = csv_desk.folder / "..2024"  # as ConfigMaps are mounted, in a folder that goes at the next change
    mounted.mkdir()
    (csv_desk.folder / "forecaster.yaml").rename(mounted / "forecaster.yaml")
    (csv_desk.folder / "forecaster.yaml").symlink_to(mounted / "forecaster.yaml")
    csv_desk.done("run", at=clock("07:30"))
    assert csv_desk.rows("plans") == 1
    assert [path.name for path in mounted.iterdir()] == ["forecaster.yaml"]

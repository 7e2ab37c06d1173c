"""From a real Prometheus to minReplicas of an HPA, command by command, as a platform engineer meets them."""

import math
from collections.abc import Callable
from datetime import timedelta

from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_prometheus
from tests.end_to_end.service import CARRY_RPM, DAY, clock, true_rpm
from tests.kube_api import KubeApi

PLAN = "chat/gpu@2024-03-26T06:30:00Z"


def test_every_connector_is_checked_and_nothing_is_written(desk: Desk, kube: KubeApi) -> None:
    checked = desk.done("check", "--json", at=clock("06:30")).json
    assert {(row["what"], row["state"]) for row in checked} >= {("query", "ok"), ("history", "ok"), ("target", "ok")}
    assert {row["state"] for row in checked} == {"ok"}
    assert kube.writes == ()
    assert [path.name for path in desk.folder.iterdir()] == ["forecaster.yaml"]


def test_in_review_a_run_asks_for_approval_and_leaves_the_floor(desk: Desk, floor: Callable[[], int]) -> None:
    ran = desk.run("run", at=clock("06:30"))
    assert ran.code == 3
    assert ran.sentences == [f"forecaster: chat: {PLAN} awaits approval; `forecaster review chat`, then `forecaster approve chat`"]
    assert "floor stays at 2" in ran.out
    assert floor() == 2


def test_before_approval_only_live_load_raises_the_floor(desk: Desk, floor: Callable[[], int]) -> None:
    assert desk.run("run", at=clock("06:30")).code == 3
    applied = desk.done("apply", at=clock("09:00"))
    assert "live load needs" in applied.out
    assert true_rpm(clock("09:00")) / CARRY_RPM <= floor() <= true_rpm(clock("09:00")) / CARRY_RPM + 2
    for text in ("23:15", "23:30"):  # what was wanted is held for one cold start
        desk.done("apply", at=clock(text))
    assert floor() == 2


def test_what_waits_is_shown_with_tomorrows_peak_and_the_words_that_decide(desk: Desk) -> None:
    desk.run("run", at=clock("06:30"))
    overview = desk.done("review", at=clock("06:35"))
    assert "awaits-approval" in overview.out
    assert f"forecaster approve chat --plan {PLAN}" in overview.out
    page = desk.done("review", "chat", at=clock("06:35"))
    assert "Tomorrow's peak at P50" in page.out
    assert "replicas  █ floor" in page.out


def test_once_approved_enough_replicas_are_ready_when_the_ramp_comes(approved: Desk, floor: Callable[[], int]) -> None:
    instants = [clock(text) for text in ("06:50", "07:05", "07:30", "07:50")]
    floors = []
    for instant in instants:
        approved.done("apply", at=instant)
        floors.append(floor())
    # a replica that was asked for at t serves ten minutes later: what stands at t must carry the load of then
    needed = [math.ceil(true_rpm(instant + timedelta(minutes=10)) / CARRY_RPM) for instant in instants]
    assert all(there >= need for there, need in zip(floors, needed, strict=True)), (floors, needed)
    assert floors[0] == 2  # and not sooner than needed
    assert floors[1] > math.ceil(true_rpm(clock("07:05")) / CARRY_RPM)  # what a reactive autoscaler would see then


def test_the_original_and_the_end_of_the_plan_stand_on_the_object(approved: Desk, kube: KubeApi) -> None:
    approved.done("apply", at=clock("07:30"))
    marks = kube.annotations("serving", "chat")
    assert (marks["forecaster/original"], marks["forecaster/valid-until"]) == ("2", "2024-03-27T06:30:00Z")


def test_a_past_floor_is_explained_by_what_it_rested_on(approved: Desk, floor: Callable[[], int]) -> None:
    for text in ("07:30", "17:10"):
        approved.done("apply", at=clock(text))
    explained = approved.done("explain", "chat", at=clock("07:45"))
    for part in ("ensemble expects P95 of rpm", "lead time 10 min", "a replica carries 100"):
        assert part in explained.out
    (morning,) = approved.done("explain", "chat", "--json", at=clock("07:45")).json["floors"]
    assert morning["plan"]["id"] == PLAN
    assert {s["signal"]: s["binds"] for s in morning["plan"]["signals"]} == {"rpm": True, "concurrency": False}
    (evening,) = approved.done("explain", "chat", "--json", at=clock("17:20")).json["floors"]
    assert evening["floor"] == floor()
    largest = max(evening["plan"]["signals"], key=lambda signal: float(signal["replicas"]))
    assert largest["signal"] == "concurrency"  # answers take longer then


def test_status_and_history_show_what_stands_and_how_it_came(approved: Desk, floor: Callable[[], int]) -> None:
    for text in ("07:20", "07:50"):
        approved.done("apply", at=clock(text))
    (workload,) = approved.done("status", "--json", at=clock("07:51")).json["workloads"]
    (pool,) = workload["pools"]
    assert (workload["mode"], pool["plan"]["id"], pool["targets"][0]["floor"]) == ("review", PLAN, floor())
    decisions = approved.done("history", "chat", "--json", at=clock("07:51")).json
    assert [decision["at"][11:16] for decision in decisions] == ["06:30", "07:20", "07:50"]
    assert decisions[-1]["floor"] == floor()
    days = approved.done("history", "chat", "--load", "--json", at=clock("07:51")).json
    assert {day["signal"] for day in days} == {"rpm", "concurrency"}


def test_a_pause_leaves_the_floor_and_a_resume_goes_on(approved: Desk, floor: Callable[[], int]) -> None:
    approved.done("pause", "chat", "-m", "incident 4711", "--until", "2h", at=clock("06:45"))
    paused = approved.done("apply", at=clock("07:30"))
    assert "paused by a person" in paused.out
    assert floor() == 2
    approved.done("resume", "chat", at=clock("07:31"))
    approved.done("apply", at=clock("07:32"))
    assert floor() > 8


def test_an_override_stands_until_it_is_cleared(approved: Desk, floor: Callable[[], int]) -> None:
    approved.done("override", "set", "chat", "24", "-m", "launch", "--until", "6h", at=clock("06:45"))
    approved.done("apply", at=clock("06:46"))
    assert floor() == 24
    approved.done("override", "clear", "chat", at=clock("06:50"))
    approved.done("apply", at=clock("06:51"))
    assert floor() < 24  # a person's word is taken back at once
    approved.done("apply", at=clock("07:10"))
    assert 3 <= floor() <= 8


def test_a_release_puts_the_original_back_until_a_resume(approved: Desk, kube: KubeApi, floor: Callable[[], int]) -> None:
    approved.done("apply", at=clock("07:30"))
    assert floor() > 2
    released = approved.done("release", "chat", "-m", "handing back", at=clock("07:40"))
    assert "released, floor" in released.out
    assert floor() == 2
    assert not [name for name in kube.annotations("serving", "chat") if name.startswith("forecaster/")]
    approved.done("apply", at=clock("07:50"))
    assert floor() == 2
    approved.done("resume", "chat", at=clock("07:55"))
    approved.done("apply", at=clock("07:56"))
    assert floor() > 10


def test_a_newer_plan_close_to_the_approved_one_inherits_and_another_waits(approved: Desk, floor: Callable[[], int]) -> None:
    inherited = approved.done("forecast", at=clock("07:00"))
    assert inherited.sentences == []
    approved.done("apply", at=clock("07:30"))
    assert floor() >= 9
    grown = on_prometheus(growth=1.6)
    approved.configure(grown)
    waiting = approved.run("forecast", at=clock("08:00"))
    assert waiting.code == 3
    assert "awaits approval" in waiting.err
    before = floor()
    approved.done("apply", at=clock("08:05"))  # the approved plan goes on
    assert before <= floor() <= 16
    approved.done("reject", "chat", "-m", "no launch", at=clock("08:10"))
    assert "no plan awaits approval" in approved.run("approve", "chat", at=clock("08:11")).err


def test_a_dry_run_shows_the_floor_that_it_does_not_write(approved: Desk, kube: KubeApi, floor: Callable[[], int]) -> None:
    rehearsed = approved.done("apply", "--dry-run", "--json", at=clock("07:30")).json
    assert (floor(), kube.writes) == (2, ())
    approved.done("apply", at=clock("07:30"))
    assert rehearsed["workloads"][0]["decision"]["floor"] == floor()


def test_an_expired_floor_is_given_back_by_the_watchdog(approved: Desk, floor: Callable[[], int]) -> None:
    approved.done("apply", at=clock("07:30"))
    assert floor() > 2
    early = approved.done("release", "--expired", at=clock("12:00"))
    assert "nothing to release" in early.err
    assert floor() > 2
    approved.done("release", "--expired", at=clock("07:00", DAY + timedelta(days=1)))
    assert floor() == 2

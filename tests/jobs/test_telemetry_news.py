"""The log tells what changed, once; it does not repeat at every tick what stays as it was."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import structlog
from structlog.testing import LogCapture

from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from jobs.telemetry.news import News
from jobs.telemetry.runs import Half, Outcome, Run
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)


@pytest.fixture
def told() -> Iterator[LogCapture]:
    """The lines, as structlog's own recorder keeps them."""
    capture = LogCapture()
    structlog.configure(processors=[capture])
    yield capture
    structlog.reset_defaults()


def sentences(told: LogCapture, level: str) -> list[str]:
    said = [line["sentence"] for line in told.entries if line["log_level"] == level]
    told.entries.clear()
    return said


def test_one_line_for_a_decision_that_changed_something_and_none_while_it_stays(world: World, told: LogCapture) -> None:
    world.workload("chat")
    news = News()
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (cycle,) = apply_fleet(fleet, NOW)
        news.tell_cycles((cycle,))
        (line,) = [line for line in told.entries if line["log_level"] == "info"]
        assert (line["event"], line["workload"], line["pool"]) == ("apply", "chat", "gpu")
        assert line["sentence"] == cycle.records[0].sentence
        assert line["floor"] == world.floor("chat")
        told.entries.clear()
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE / 6))
    assert told.entries == []


def test_in_mode_observe_the_would_be_change_is_told_once(world: World, told: LogCapture) -> None:
    world.workload("chat", mode="observe")
    news = News()
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        news.tell_cycles(apply_fleet(fleet, NOW))
        (said,) = sentences(told, "info")
        assert "would go" in said
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE / 6))
    assert sentences(told, "info") == []


def test_a_recording_target_that_never_moves_is_not_told_at_every_tick(world: World, told: LogCapture) -> None:
    world.workload("chat")
    news = News()
    with world.fleet(rehearse="all") as fleet:
        forecast_fleet(fleet, NOW)
        news.tell_cycles(apply_fleet(fleet, NOW))
        assert len(sentences(told, "info")) == 1
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE / 6))
    assert sentences(told, "info") == []


def test_an_alert_is_a_warning_once_and_its_end_a_line(world: World, told: LogCapture) -> None:
    world.workload("chat")
    news = News()
    with world.fleet() as fleet:
        news.tell_cycles(apply_fleet(fleet, NOW))
        assert any("there is no plan to follow" in said for said in sentences(told, "warning"))
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE))
        assert sentences(told, "warning") == []
        forecast_fleet(fleet, NOW + MINUTE)
        news.tell_cycles(apply_fleet(fleet, NOW + 2 * MINUTE))
    assert "kubernetes-hpa:serving/chat: plan-missing is over" in sentences(told, "info")


def test_a_failure_is_a_warning_once_under_the_verb_that_failed_and_its_end_a_line(world: World, told: LogCapture) -> None:
    world.workload("chat")
    news = News()
    load = world.folder / "load.csv"
    kept = load.read_text()
    with world.fleet() as fleet:
        load.unlink()
        news.tell_cycles(apply_fleet(fleet, NOW))
        (line,) = [line for line in told.entries if "error" in line]
        assert (line["event"], line["error"], line["workload"]) == ("fetch", "SourceRejected", "chat")
        told.entries.clear()
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE))
        assert [line for line in told.entries if "error" in line] == []
        load.write_text(kept)
        news.tell_cycles(apply_fleet(fleet, NOW + 2 * MINUTE))
    assert "chat: SourceRejected is over" in sentences(told, "info")


def test_a_pause_is_told_though_the_floor_stays(world: World, told: LogCapture) -> None:
    world.workload("chat")
    news = News()
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        news.tell_cycles(apply_fleet(fleet, NOW))
        told.entries.clear()
        world.api.edit("serving", "chat", annotations={"forecaster/paused": "hold"})
        news.tell_cycles(apply_fleet(fleet, NOW + MINUTE))
        (said,) = sentences(told, "info")
        assert "paused by an annotation" in said
        news.tell_cycles(apply_fleet(fleet, NOW + 2 * MINUTE))
    assert sentences(told, "info") == []


def test_a_plan_that_waits_for_a_person_is_a_warning_with_the_command(world: World, told: LogCapture) -> None:
    world.workload("chat", mode="review")
    with world.fleet() as fleet:
        News().tell_drafts(forecast_fleet(fleet, NOW))
    (said,) = sentences(told, "warning")
    assert said.startswith("chat/gpu@2026-03-02T07:30:00Z awaits approval until ")
    assert "`forecaster review chat`" in said


def test_runs_that_do_nothing_are_told_once_and_so_is_their_end(told: LogCapture) -> None:
    news = News()
    steps = (
        (Outcome.DONE, "floors decided: 1, written: 1"),
        (Outcome.DONE, "floors decided: 1, written: 0"),
        (Outcome.SKIPPED, "another apply run is at work"),
        (Outcome.SKIPPED, "another apply run is at work"),
        (Outcome.FAILED, "the store is damaged"),
        (Outcome.FAILED, "the store is damaged"),
        (Outcome.PARTLY, "floors decided: 1, written: 0, failures: 1"),
        (Outcome.PARTLY, "floors decided: 1, written: 0, failures: 2"),
    )
    for seconds, (outcome, sentence) in enumerate(steps):
        at = NOW + timedelta(seconds=seconds)
        news.tell_run(Run(half=Half.APPLY, at=at, ended_at=at, duration_s=0.1, outcome=outcome, sentence=sentence))
    assert [(line["log_level"], line["sentence"]) for line in told.entries] == [
        ("info", "floors decided: 1, written: 1"),
        ("info", "another apply run is at work"),
        ("error", "the store is damaged"),
        ("info", "floors decided: 1, written: 0, failures: 1"),
    ]


def test_every_forecast_is_told_with_how_long_it_took(told: LogCapture) -> None:
    run = Run(half=Half.FORECAST, at=NOW, ended_at=NOW + MINUTE, duration_s=60.04, outcome=Outcome.DONE, sentence="plans made: 3")
    news = News()
    news.tell_run(run)
    news.tell_run(run)
    assert told.entries == 2 * [{"event": "forecast", "log_level": "info", "sentence": "plans made: 3", "duration_s": 60.0}]

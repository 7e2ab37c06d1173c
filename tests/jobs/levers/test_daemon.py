"""Levers in the daemon: they move without a forecast, a deep queue has floors decided at once, and all ends in order."""

import time

import pytest

from jobs.clock import SystemClock
from tests.jobs.daemon_process import daemon, load_to
from tests.jobs.levers.stage import Stage
from tests.jobs.world import write_trace

APPLY = {"verb": "apply", "outcome": "done"}


@pytest.fixture(autouse=True)
def _in_the_present(stage: Stage) -> None:
    write_trace(stage.world.folder / "load.csv", load_to(SystemClock().now().replace(microsecond=0)))
    stage.world.config |= {"daemon": {"port": 0}, "tiers": stage.tiers}
    stage.tiers |= {"every": "1s"}


def test_levers_move_without_any_forecast_and_go_back_once_it_is_calm(stage: Stage) -> None:
    stage.world.config["workloads"] = []
    stage.tiers["rules"] = [{"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": "1s", "calm": "1s"}, "set": {"batch": 8}}]
    stage.engine.waiting = 50
    with daemon(stage.world.path) as running:
        running.eventually(lambda: stage.batch == "8")
        running.until("forecaster_lever_held", 0, lever="batch")
        assert running.metric("forecaster_ladder_steps", ladder="deep") == 1
        assert running.metric("forecaster_lever_moves_total", lever="batch") == 1
        assert "slow" not in running.says("batch stands at 8, was 32")["sentence"]
        stage.engine.waiting = 0
        running.eventually(lambda: stage.batch == "32")
        running.eventually(lambda: running.metric("forecaster_lever_held", lever="batch") is None)
        running.stop()


def test_a_deep_queue_has_floors_decided_at_once_and_not_at_the_next_tick(stage: Stage) -> None:
    stage.world.config["apply"] = {"every": "1h", "workers": 4}
    stage.tiers["rules"] = [{"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": None}, "raise_now": True}]
    with daemon(stage.world.path) as running:
        running.until("forecaster_last_success_timestamp_seconds", 0, verb="forecast")
        running.until("forecaster_lever_last_run_timestamp_seconds", 0)
        _settled(running.metric, "forecaster_runs_total", **APPLY)
        before = running.metric("forecaster_runs_total", **APPLY) or 0
        stage.engine.waiting = 50
        running.until("forecaster_runs_total", before, **APPLY)
        running.stop()


def test_an_engine_that_does_not_answer_leaves_the_daemon_well(stage: Stage) -> None:
    stage.engine.up = False
    with daemon(stage.world.path) as running:
        running.until("forecaster_failures_total", 0, verb="levers", error="SourceUnavailable")
        running.says("the page of metrics")
        assert running.health()[0] == 200
        running.stop()


def _settled(metric: object, name: str, **labels: str) -> None:
    """Wait until a counter has stood for a second."""
    assert callable(metric)
    last, since_s = None, time.monotonic()
    while time.monotonic() - since_s < 1.0:
        value = metric(name, **labels)
        if value != last:
            last, since_s = value, time.monotonic()
        time.sleep(0.1)

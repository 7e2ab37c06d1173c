"""A lever that is moved, and one that cannot be put back, is told wherever people and programs look, until it is back."""

import json
from datetime import timedelta

from forecaster.units import iso
from jobs.telemetry.metrics import Metrics
from tests.jobs.cli.process import forecaster
from tests.jobs.levers.stage import TICK, Stage, planned
from tests.jobs.world import NOW


def moved(stage: Stage, *, plans: bool = True) -> None:
    stage.tiers["rules"] = [{"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}, "set": {"batch": 8}}]
    stage.engine.waiting = 50
    with stage.process() as process:
        process.desk.fleet.store.append_plans([planned(2, 2, change=timedelta(hours=1))] if plans else [])
        process.tick(0)


def test_status_tells_what_is_moved_and_what_cannot_be_put_back_until_it_is(stage: Stage) -> None:
    moved(stage)
    (lever,) = status(stage)["levers"]
    assert lever == {"name": "batch", "value": 8, "original": "32", "since": "2026-03-02T07:30:00Z", "error": None}
    stage.world.api.remove("configmaps", "serving", "engine")
    stage.engine.waiting = 0
    with stage.process() as process:
        process.tick(1)
        process.tick(2)
    assert status(stage)["levers"][0]["error"] == "lever-lost"
    shown = " ".join(forecaster(stage.world.folder, "status", "--now", iso(NOW + TICK)).out.split())
    assert "Levers that are moved" in shown
    assert "batch 8 32 2026-03-02T07:30:00Z is to go back and cannot: `forecaster levers` says why" in shown
    stage.world.api.put("configmaps", "serving", "engine", metadata={}, data={"max_batch": "32", "cache": "false"})
    with stage.process() as process:
        process.tick(3)
    assert status(stage)["levers"] == []
    assert "Levers" not in forecaster(stage.world.folder, "status", "--now", iso(NOW + TICK)).out


def test_status_tells_what_is_moved_before_anything_was_planned(stage: Stage) -> None:
    moved(stage, plans=False)
    assert [lever["name"] for lever in status(stage)["levers"]] == ["batch"]
    assert "Levers that are moved" in forecaster(stage.world.folder, "status", "--now", iso(NOW + TICK)).out


def test_metrics_tell_it_until_it_is_back_or_another_process_looks_after_it(stage: Stage) -> None:
    moved(stage)
    stage.world.api.remove("configmaps", "serving", "engine")
    stage.engine.waiting = 0
    metrics = Metrics()
    with stage.process() as process:
        process.tick(1)
        metrics.record_levers(process.tick(2))
        assert gauge(metrics, "forecaster_lever_lost") == gauge(metrics, "forecaster_lever_held") == 1
        metrics.forget_levers()
        assert gauge(metrics, "forecaster_lever_lost") is None
        metrics.record_levers(process.tick(3))
        assert gauge(metrics, "forecaster_lever_lost") == 1
        stage.world.api.put("configmaps", "serving", "engine", metadata={}, data={"max_batch": "32", "cache": "false"})
        metrics.record_levers(process.tick(4))
    assert gauge(metrics, "forecaster_lever_lost") is gauge(metrics, "forecaster_lever_held") is None


def status(stage: Stage) -> dict[str, list[dict[str, object]]]:
    stage.world.config["tiers"] = stage.tiers
    assert stage.world.path.is_file()
    ended = forecaster(stage.world.folder, "status", "--json", "--now", iso(NOW + TICK))
    assert ended.code == 0, ended.err
    said: dict[str, list[dict[str, object]]] = json.loads(ended.out)
    return said


def gauge(metrics: Metrics, name: str) -> float | None:
    return metrics.registry.get_sample_value(name, {"lever": "batch"})

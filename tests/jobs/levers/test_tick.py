"""A tick on a loopback engine: what it sees, what it moves, what it remembers, and what it cannot put back."""

from typing import Any

from forecaster.reasons import Code
from jobs.levers.once import resumed
from jobs.levers.tick import Tick
from tests.jobs.levers.stage import Stage


def busy(stage: Stage, latency_s: float, *, failed: int = 0) -> None:
    stage.engine.serve(50, latency_s=latency_s, failed=failed)


def sentences(tick: Tick) -> str:
    return "; ".join((*(turn.sentence for turn in tick.turns), *(failed.sentence for failed in tick.failures)))


def test_a_p99_above_its_bound_acts_within_two_ticks_of_five_seconds(stage: Stage) -> None:
    with stage.process() as process:
        assert process.desk.every_s == 5
        busy(stage, 0.3)
        process.tick(0)
        busy(stage, 4.0)  # from here on it is too slow
        process.tick(1)
        busy(stage, 4.0)
        second = process.tick(2)
    assert stage.batch == "8"
    assert second.readings["p99"] > 2
    assert "batch stands at 8, was 32: slow (act) stands at step 1 of 1" in sentences(second)


def test_what_was_moved_goes_back_once_it_was_calm_and_the_other_keys_never_move(stage: Stage) -> None:
    with stage.process() as process:
        for at, latency_s in enumerate([4.0, 4.0, 4.0, 0.3, 0.3, 0.3]):
            busy(stage, latency_s)
            process.tick(at)
            assert stage.cache == "false"
            if at == 4:
                assert stage.batch == "8"
        assert stage.batch == "32"
        assert process.tick(6).memory.held == {}


def test_a_restart_takes_no_step_twice_and_forgets_no_original(stage: Stage) -> None:
    steps = [{"name": f"batch of {size}", "set": {"batch": size}} for size in (16, 8, 4)]
    when = {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}
    stage.tiers |= {"rules": [], "ladders": [{"name": "degrade", "when": when, "hold": "20s", "steps": steps}]}
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
    with stage.process() as process:
        assert process.tick(1).written == 0  # the hold of the first step stands
        assert stage.batch == "16"
        process.tick(4)
        assert stage.batch == "8"
    stage.engine.waiting = 0
    seen = []
    for at in (8, 9, 12, 16):
        with stage.process() as process:
            process.tick(at)
        seen.append(stage.batch)
    assert seen == ["8", "16", "16", "32"]


def test_a_ladder_is_taken_in_order_and_restored_in_reverse(stage: Stage) -> None:
    steps: list[dict[str, Any]] = [
        {"name": "smaller batches", "set": {"batch": 8}},
        {"name": "cached answers", "set": {"cache": True}},
        {"name": "shed the rest", "set": {"rate": 60}},
    ]
    when = {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}
    stage.tiers |= {"rules": [], "ladders": [{"name": "degrade", "when": when, "hold": "5s", "steps": steps}]}
    found = []
    with stage.process() as process:
        for at in range(8):
            stage.engine.waiting = 50 if at < 3 else 0
            process.tick(at)
            found.append((stage.batch, stage.cache, stage.gateway.values["rate"]))
    down = [("8", "false", 900), ("8", "true", 900), ("8", "true", 60)]
    assert found[:3] == down
    assert found[3:] == [down[2], down[1], down[0], ("32", "false", 900), ("32", "false", 900)]


def test_what_somebody_else_set_meanwhile_is_let_go_and_not_said_to_go_back(stage: Stage) -> None:
    when = {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}
    stage.tiers["rules"] = [{"name": "deep-queue", "when": when, "set": {"rate": 60}}]
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
        stage.gateway.values["rate"] = 120
        stage.engine.waiting = 0
        process.tick(1)
        told = sentences(process.tick(2))
    assert "rate is let go: webhook:rate stays at 120, which somebody else set after us" in told
    assert stage.gateway.values["rate"] == 120


def test_errors_limit_the_rate_and_open_the_circuit(stage: Stage) -> None:
    when = {"signal": "errors", "above": 0.2, "lasting": None}
    stage.tiers["rules"] = [{"name": "failing", "tier": "emergency", "when": when, "set": {"rate": 60, "breaker": 0}}]
    with stage.process() as process:
        busy(stage, 0.3)
        process.tick(0)
        busy(stage, 0.3, failed=20)
        process.tick(1)
    assert stage.gateway.values == {"rate": 60, "breaker": 0}


def test_a_deep_queue_asks_for_floors_at_once_and_moves_no_lever(stage: Stage) -> None:
    stage.tiers["rules"] = [{"name": "deep-queue", "when": {"signal": "queue", "above": 10, "lasting": None}, "raise_now": True}]
    stage.engine.waiting = 50
    with stage.process() as process:
        first, second = process.tick(0), process.tick(1)
    assert (first.pulled.raise_now, second.pulled.raise_now) == (True, False)
    assert (first.written, stage.batch) == (0, "32")


def test_an_engine_that_does_not_answer_moves_nothing_and_puts_nothing_back(stage: Stage) -> None:
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
        stage.engine.up = False
        for at in range(3, 10):
            tick = process.tick(at)
    assert stage.batch == "8"
    assert set(tick.pulled.unknown) == {"p99"}
    assert "the page of metrics" in sentences(tick)


def test_expiry_ends_it_without_any_reading(stage: Stage) -> None:
    stage.tiers["rules"][0]["when"]["expires"] = "1m"
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
        stage.engine.up = False
        assert stage.batch == "8"
        expired = process.tick(20)
    assert stage.batch == "32"
    assert Code.LEVER_EXPIRED in {reason.code for reason in expired.pulled.reasons}


def test_in_mode_observe_nothing_is_written_and_the_intention_is_told(stage: Stage) -> None:
    stage.tiers["mode"] = "observe"
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            tick = process.tick(at)
    assert (stage.batch, stage.world.api.writes, stage.gateway.posts) == ("32", (), [])
    assert "batch stands at 8, was 32" in sentences(tick)
    assert not tick.moves


def test_a_lever_whose_object_is_gone_stops_no_other_and_is_told_until_it_is_back(stage: Stage) -> None:
    stage.tiers["rules"][0]["set"] = {"batch": 8, "rate": 60}
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
        stage.world.api.remove("configmaps", "serving", "engine")
        for at in range(3, 6):
            busy(stage, 0.3)
            tick = process.tick(at)
        assert stage.gateway.values["rate"] == 900
        assert tick.lost == ("batch",)
        assert "batch cannot be put back to 32, it was set to 8 at 2026-03-02T07:30:10Z" in sentences(tick)
    with stage.process() as process:
        assert process.tick(7).lost == ("batch",)
        stage.world.api.put("configmaps", "serving", "engine", metadata={}, data={"max_batch": "32", "cache": "false"})
        assert process.tick(8).lost == ()
        assert process.tick(9).memory.held == {}


def test_a_lever_that_left_the_configuration_while_it_was_moved_is_told(stage: Stage) -> None:
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
    stage.tiers["levers"].pop("batch")
    stage.tiers["rules"] = []
    with stage.process() as process:
        tick = process.tick(3)
    assert tick.lost == ("batch",)
    assert "it is no longer in the configuration" in sentences(tick)


def test_a_store_that_forgot_finds_what_we_hold_by_the_marks_on_the_objects(stage: Stage) -> None:
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
    (stage.world.folder / "forecaster.db").unlink()
    with stage.process() as process:
        process.tick(3)
    assert stage.batch == "32"


def test_release_puts_all_back_whatever_the_signals_say(stage: Stage) -> None:
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
        assert process.release(3).written == 1
    assert stage.batch == "32"


def test_a_process_that_runs_on_hears_of_a_release_by_another_and_of_its_end(stage: Stage) -> None:
    with stage.process() as running, stage.process() as person:
        for at in range(3):
            busy(stage, 4.0)
            running.tick(at)
        assert stage.batch == "8"
        person.release(3)
        for at in range(4, 8):
            busy(stage, 4.0)
            running.tick(at)
        assert stage.batch == "32"
        resumed(person.desk.fleet.store)
        for at in range(8, 11):
            busy(stage, 4.0)
            running.tick(at)
    assert stage.batch == "8"


def test_what_mode_auto_left_is_told_in_mode_observe(stage: Stage) -> None:
    with stage.process() as process:
        for at in range(3):
            busy(stage, 4.0)
            process.tick(at)
    stage.tiers["mode"] = "observe"
    with stage.process() as process:
        tick = process.tick(3)
    assert stage.batch == "8"
    assert "batch stands at 8 from mode auto, was 32: run `forecaster levers --release`" in sentences(tick)

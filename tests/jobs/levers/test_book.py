"""The book of levers: every move with its reason, a failure once, and nothing of what was only intended."""

import json

from forecaster.levers import LeverMove, MoveKind
from forecaster.series import Window
from jobs.standing import EVER
from jobs.watchdog.levers import put_back
from tests.jobs.cli.process import forecaster
from tests.jobs.levers.stage import TICK, Process, Stage
from tests.jobs.world import NOW

FOREVER = Window(start=EVER, end=NOW + 10_000 * TICK)


def moves(process: Process) -> list[LeverMove]:
    return list(process.desk.fleet.store.lever_moves(FOREVER))


def deep(stage: Stage, expires: str = "1h") -> None:
    when = {"signal": "queue", "above": 10, "lasting": None, "calm": "1s", "expires": expires}
    stage.tiers["rules"] = [{"name": "deep", "tier": "emergency", "when": when, "set": {"batch": 8}}]


def test_a_move_is_kept_with_from_to_end_and_the_reading_that_asked_for_it(stage: Stage) -> None:
    deep(stage)
    with stage.process() as process:
        for at, waiting in enumerate((50, 50, 50, 0, 0)):
            stage.engine.waiting = waiting
            process.tick(at)
        set_, let_go = moves(process)
    assert (set_.at, set_.lever, set_.kind, set_.before, set_.after) == (NOW, "batch", MoveKind.SET, "32", "8")
    assert set_.why == "deep takes step 1 of 1, deep: queue is 50, above 10"
    assert set_.until == NOW + 720 * TICK
    assert (let_go.kind, let_go.before, let_go.after, let_go.until) == (MoveKind.LET_GO, "8", "32", None)
    assert let_go.why == "deep takes back step 1 of 1, deep: queue is 0, below 8"


def test_an_admission_that_asks_for_longer_is_a_renewal(stage: Stage) -> None:
    one = {"workload": "chat", "pool": "gpu", "slo": "10s", "service": "4s", "breaker": "breaker"}
    stage.tiers |= {"rules": [], "admission": [one]}
    with stage.process() as process:
        process.tick(0)
        process.tick(400)  # half an hour later
        first, renewed = moves(process)
    assert (first.kind, first.before, first.after) == (MoveKind.SET, "64", "16")
    assert (renewed.kind, renewed.before, renewed.after) == (MoveKind.RENEWED, "16", "16")
    assert renewed.why == "admission of chat/gpu: 2 ready replicas count"
    assert first.until is not None
    assert renewed.until is not None
    assert renewed.until > first.until


def test_a_failure_that_goes_on_is_kept_once_also_over_a_restart(stage: Stage) -> None:
    deep(stage)
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
        stage.world.api.remove("configmaps", "serving", "engine")
        stage.engine.waiting = 0
        for at in range(1, 5):
            process.tick(at)
    with stage.process() as process:
        process.tick(5)
        kept = moves(process)
    assert [one.kind for one in kept] == [MoveKind.SET, MoveKind.FAILED, MoveKind.FAILED]
    assert [one.why.split(":")[0] for one in kept[1:]] == [
        "batch is not set to 8",  # it was still asked for
        "batch cannot be put back to 32, it was set to 8 at 2026-03-02T07",
    ]


def test_what_the_watchdog_put_back_while_we_were_away_is_in_the_book_as_well(stage: Stage) -> None:
    deep(stage)
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
        (batch,) = [lever for name, lever in process.desk.levers.items() if name == "batch"]
        put_back({"batch": batch}, NOW + 721 * TICK, rehearsed=False)
    stage.engine.waiting = 0
    with stage.process() as process:
        tick = process.tick(722)
        last = moves(process)[-1]
        assert process.tick(723).turns == ()
    assert (last.kind, last.before, last.after) == (MoveKind.LET_GO, "8", "32")
    assert last.why == "batch is back already, at 32: the watchdog or somebody else let go of what we set, 8"
    assert tick.memory.held == {}


def test_what_a_person_had_put_back_says_so(stage: Stage) -> None:
    deep(stage)
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
        process.release(1)
        assert moves(process)[-1].why == "a person had every lever put back"


def test_mode_observe_moves_nothing_and_keeps_nothing(stage: Stage) -> None:
    deep(stage)
    stage.tiers["mode"] = "observe"
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
        assert moves(process) == []


def test_the_command_shows_it_to_people_and_programs(stage: Stage) -> None:
    deep(stage)
    stage.engine.waiting = 50
    stage.world.config["tiers"] = stage.tiers
    assert stage.world.path.is_file()
    empty = forecaster(stage.world.folder, "levers", "--history", "1")
    assert (empty.code, "no lever was moved in this time" in empty.out) == (0, True)
    forecaster(stage.world.folder, "levers")
    forecaster(stage.world.folder, "levers", "--release")
    said = json.loads(forecaster(stage.world.folder, "levers", "--history", "1", "--json").out)
    assert [(one["lever"], one["what"], one["from"], one["to"]) for one in said["moves"]] == [
        ("batch", "set", "32", "8"),
        ("batch", "let go", "8", "32"),
    ]
    shown = forecaster(stage.world.folder, "levers", "--history", "1").out
    assert "queue is 50, above 10" in shown
    both = forecaster(stage.world.folder, "levers", "--history", "1", "--release")
    assert (both.code, "name one of them" in both.err) == (2, True)

"""Where people and programs read that a workload was promoted, or is in auto without having earned it."""

import json

import pytest

from forecaster.decision import Ruling, RulingKind
from forecaster.units import iso
from forecaster.workload import Mode
from jobs.apply import apply_fleet
from jobs.checking.check import check_all
from jobs.checking.finding import State
from jobs.cli.main import app
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World


@pytest.fixture
def ran(world: World) -> World:
    """Chat was promoted from observe, search is in auto by its configuration."""
    world.workload("chat", mode="observe")
    world.workload("search", mode="auto")
    with world.fleet() as fleet:
        said = Ruling(at=NOW, workload="chat", kind=RulingKind.PROMOTE, author="ada", reason="earned", mode=Mode.OBSERVE)
        fleet.store.append_ruling(said)
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
    return world


def printed(world: World, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    app([*arguments, "--config", str(world.path), "--now", iso(NOW)], standalone_mode=False)
    return capsys.readouterr().out


def test_status_tells_who_promoted_and_what_was_not_earned(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(ran, capsys, "status")
    assert "auto, promoted by ada" in told
    assert "auto, not earned" in told
    chat, search = json.loads(printed(ran, capsys, "status", "--json"))["workloads"]
    assert (chat["mode"], chat["configured_mode"], chat["promotion"]["author"]) == ("auto", "observe", "ada")
    assert (search["mode"], search["configured_mode"], search["promotion"]) == ("auto", "auto", None)


def test_explain_tells_why_it_writes(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"promoted from observe by ada on {iso(NOW)}: earned" in printed(ran, capsys, "explain", "chat")
    (floor,) = json.loads(printed(ran, capsys, "explain", "chat", "--json"))["floors"]
    assert floor["promotion"] == {"author": "ada", "reason": "earned", "since": iso(NOW), "from_mode": "observe"}


def test_check_tells_what_was_not_earned_and_asks_for_the_rights_of_what_was_promoted(ran: World) -> None:
    ran.api.forbid("patch")
    findings = {(one.what, one.where): one for one in check_all(ran.path, NOW)}
    assert findings["policy", "chat"].sentence.startswith("mode auto, promoted by ada: floors follow rpm")
    told = findings["policy", "search"].sentence
    assert told.startswith("mode auto, not earned: ")
    assert told.endswith("; `forecaster promote search` says what is missing")
    states = [one.state for one in check_all(ran.path, NOW) if one.where == "kubernetes-hpa:serving/chat"]
    assert State.FAILED in states


def test_review_tells_it_on_the_page_of_a_workload(ran: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert "mode auto, promoted by ada" in printed(ran, capsys, "review", "chat")
    assert "mode auto, not earned" in printed(ran, capsys, "review", "search")
    (chat,) = json.loads(printed(ran, capsys, "review", "chat", "--json"))["workloads"]
    assert chat["promotion"]["author"] == "ada"

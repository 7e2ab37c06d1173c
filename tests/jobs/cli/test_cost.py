"""cost and advise as people and programs read them."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from forecaster.errors import ConfigRejected, NothingKept
from forecaster.units import iso
from jobs.cli.main import app
from jobs.forecast import fetch_fleet
from tests.jobs.cost.test_account import MIDNIGHT, PRICES, section, with_lengths, write_columns
from tests.jobs.cost.test_advise import QUICK, forecast_days
from tests.jobs.kept_days import seen_ready
from tests.jobs.world import NOW, World
from tests.kube_api import KubeApi


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two workloads of four forecast days, of which two were seen at work; then the cluster went away. Only read from."""
    folder = tmp_path_factory.mktemp("cost")
    write_columns(folder / "load.csv")
    with KubeApi() as api:
        world = World(folder=folder, api=api, config={"prices": PRICES, "forecast": QUICK})
        world.workload("chat", mode="observe")
        world.workload("chat-int8", mode="observe")
        with_lengths(world)
        section(world)["task"] = {"calls": 4, "completion": 0.9, "retries": 0.05, "invalid": 0.02}
        section(world, "chat-int8")["task"] = {"calls": 2, "completion": 0.9, "retries": 0.05, "invalid": 0.02}
        section(world, "chat-int8")["pools"][0]["gpu_hour"] = 3.0
        with world.fleet() as fleet:
            forecast_days(fleet)
            seen_ready(fleet.store, np.full(2 * 288, 10.0), MIDNIGHT)
            seen_ready(fleet.store, np.full(2 * 288, 10.0), MIDNIGHT, name="chat-int8/gpu")
        assert world.path.is_file()
    return world


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def ran(kept: World, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command on what is kept."""

    def run(*arguments: str, world: World = kept) -> Said:
        code = app([*arguments, "--config", str(world.path), "--now", iso(NOW)], standalone_mode=False)
        captured = capsys.readouterr()
        return Said(code=code or 0, out=captured.out, err=captured.err)

    return run


def told_json(said: Said) -> Any:
    assert said.code == 0
    return json.loads(said.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("command", [("cost",), ("cost", "show"), ("cost", "--days", "7")])
def test_cost_alone_shows_every_workload(ran: Run, command: tuple[str, ...]) -> None:
    ended = ran(*command)
    assert ended.code == 0
    assert "Cost in EUR of each" in ended.out
    assert "1,000 requests" in ended.out
    assert [line.split()[0] for line in ended.out.splitlines() if line.strip().startswith("chat")] == ["chat", "chat-int8"]
    assert "chat: 2 of 7 days count, the others lack replicas or load" in ended.err


def test_programs_get_money_and_replica_hours_of_everything(ran: Run) -> None:
    (chat,) = told_json(ran("cost", "chat", "--days", "2", "--json"))
    assert (chat["replica_hours"], chat["spend"], chat["currency"], chat["days"]) == (480, 960, "EUR", 2)
    assert chat["thousand_requests_cost"] == pytest.approx(960_000 / chat["requests"])
    assert chat["million_output_tokens_hours"] == pytest.approx(480e6 / chat["output_tokens"])
    assert chat["task_cost"] == pytest.approx(960 / chat["requests"] * 4 / 0.9)
    parts = (chat["task_retries_cost"], chat["task_invalid_cost"], chat["task_abandoned_cost"])
    assert parts == tuple(pytest.approx(chat["task_cost"] * share) for share in (0.9 * 0.05, 0.9 * 0.95 * 0.02, 0.1))
    assert chat["tokens"] == pytest.approx(chat["requests"] * 1_000)


def test_what_is_not_known_is_null(ran: Run) -> None:
    (row,) = told_json(ran("cost", "chat-int8", "--json"))
    assert (row["input_tokens"], row["million_tokens_cost"]) == (None, None)


def test_compare_says_what_explains_the_difference(ran: Run) -> None:
    ended = ran("cost", "compare", "chat", "chat-int8", "--days", "2")
    assert ended.code == 0
    lines = ended.out.splitlines()
    (price,) = (line.split() for line in lines if "price of a replica-hour" in line)
    (calls,) = (line.split() for line in lines if line.strip().startswith("useful calls a task"))
    assert (price[-2], calls[-2]) == ("1.5x", "0.5x")
    assert lines[-1].startswith("B chat-int8 costs 0.75 times as much as A chat: ")
    assert lines[-1].endswith("; most of it is useful calls a task, 0.5 times")


def test_compare_for_programs_adds_up(ran: Run) -> None:
    found = told_json(ran("cost", "compare", "chat", "chat-int8", "--days", "2", "--json"))
    assert (found["of"], found["unit"]) == ("task", "EUR")
    assert found["ratio"] == pytest.approx(0.75)
    assert sum(factor["explains"] for factor in found["factors"]) == pytest.approx(found["cost_b"] - found["cost_a"])
    assert found["a"]["workload"] == "chat"


def test_one_workload_is_compared_in_two_spans(ran: Run) -> None:
    ended = ran("cost", "compare", "chat@2026-02-28", "chat", "--days", "1")
    assert ended.code == 0
    assert "B chat (2026-03-01 to 2026-03-01) costs as much as A chat (2026-02-28 to 2026-02-28)" in ended.out


def test_what_is_to_be_known_of_two_spans_says_of_which(ran: Run) -> None:
    ended = ran("cost", "compare", "chat@2026-02-28", "chat")
    assert "chat (2026-02-22 to 2026-02-28): 1 of 7 days count" in ended.err
    assert "chat (2026-02-23 to 2026-03-01): 2 of 7 days count" in ended.err


def test_rounding_explains_nothing(ran: Run) -> None:
    ended = ran("cost", "compare", "chat@2026-02-28", "chat", "--days", "1")
    (same,) = [line for line in ended.out.splitlines() if line.strip().startswith("replica-hours 1,000 calls")]
    assert same.split()[-2:] == ["1x", "0"]


@pytest.mark.parametrize(
    ("sides", "error", "said"),
    [
        (("chat", "chat"), ConfigRejected, "chat and chat are the same days of the same workload; say others, such as chat@2024-05-18"),
        (
            ("chat@2026-03-01", "chat"),
            ConfigRejected,
            "chat@2026-03-01 and chat are the same days of the same workload; say others, such as chat@2024-05-18",
        ),
        (("chat", "chat@yesterday"), ConfigRejected, "'chat@yesterday' names no day; write WORKLOAD@DAY, such as chat@2024-05-18"),
        (
            ("chat", "chat@2026-03-02"),
            ConfigRejected,
            "the day of 'chat@2026-03-02' has not ended by 2026-03-02T07:30:00Z; name one before it",
        ),
        (("chat", "chad"), ConfigRejected, "there is no workload 'chad'"),
        (("chat", "chat@2025-03-02"), NothingKept, "chat: no day from 2025-02-24 to 2025-03-02 on which replicas were seen ready"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(ran: Run, sides: tuple[str, str], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(said)}"):
        ran("cost", "compare", *sides)


def test_advise_says_what_to_do_and_why(ran: Run) -> None:
    ended = ran("advise", "chat", "--days", "4")
    assert ended.code == 0
    assert "chat: queue + reactive. The autoscaler alone would serve " in ended.out
    assert "predictable, followed, bursty: shares of the load's variance" in ended.err


def test_advice_for_programs_has_every_figure(ran: Run) -> None:
    found = told_json(ran("advise", "--days", "4", "--json"))
    chat, _ = found["workloads"]
    assert (chat["workload"], chat["verdict"], chat["figures"]["days"]) == ("chat", "queue + reactive", 4)
    assert chat["figures"]["lost_ratio"] == pytest.approx(1 - 0.9 * 0.95 * 0.98)
    assert chat["figures"]["operating_point_saved_ratio"] is None


def test_no_advice_is_a_sentence_and_a_failure(ran: Run) -> None:
    ended = ran("advise", "chat", "--days", "2")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("forecaster: chat: no advice, too little history: ")


def test_without_prices_hours_and_shares_are_told_and_that_no_money_is(world: World, ran: Run) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 10.0), MIDNIGHT)
    ended = ran("cost", "--days", "1", world=world)
    assert "Cost in replica-hours of each" in ended.out
    assert "no money is told: there are no `prices` in the configuration; replica-hours stand in its place" in ended.err
    assert "tasks have no cost" in ended.err

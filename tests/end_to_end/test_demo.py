"""`forecaster demo` in an empty folder: what a newcomer sees in the first minute."""

import re
import shlex
from pathlib import Path

import pytest

from tests.end_to_end.desk import Desk, Outcome


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, Outcome]:
    """A folder after the demo, and what it printed."""
    desk = Desk(folder=tmp_path_factory.mktemp("demo"))
    return desk, desk.done("demo")


def test_it_prints_peaks_floors_a_chart_and_one_sentence_a_decision(tried: tuple[Desk, Outcome]) -> None:
    _, demo = tried
    out = demo.out
    assert out.index("Daily peaks") < out.index("Floors of the next 24 hours") < out.index("replicas  █ floor")
    assert re.search(r"P50\s+P90\s+P95", out)
    assert len(re.findall(r"^ chat +gpu ", out, re.MULTILINE)) == 24
    (sentence,) = [line for line in out.splitlines() if line.startswith("chat/gpu on recording:chat: floor would go 2 -> ")]
    assert sentence.endswith(".")


def test_it_leaves_a_configuration_a_trace_and_a_store(tried: tuple[Desk, Outcome]) -> None:
    desk, _ = tried
    assert {"forecaster.yaml", "demo-trace.csv", "azure-2024-week.csv.gz", "forecaster.db"} <= {path.name for path in desk.folder.iterdir()}
    assert desk.rows("plans") >= 1


def test_every_command_that_it_suggests_works_at_once(tried: tuple[Desk, Outcome]) -> None:
    desk, demo = tried
    suggested = re.findall(r"^  forecaster (.+?)  +\S", demo.err, re.MULTILINE)
    assert [words.split()[0] for words in suggested] == ["review", "explain", "run", "backtest", "init"]
    for words in suggested:
        assert desk.run(*shlex.split(words)).code == 0, words


@pytest.mark.parametrize("words", ["status", "history chat", "history chat --load", "plan", "apply --dry-run", "fetch", "check", "release"])
def test_the_other_commands_work_in_its_folder_as_well(tried: tuple[Desk, Outcome], words: str) -> None:
    desk, _ = tried
    outcome = desk.run(*words.split())
    assert outcome.code == 0, outcome


def test_it_refuses_to_run_twice_and_loses_nothing(tried: tuple[Desk, Outcome]) -> None:
    desk, _ = tried
    before = {path: (path.stat().st_ino, path.stat().st_size) for path in desk.folder.glob("*.[yc]*")}
    rows = {table: desk.rows(table) for table in ("history", "plans", "records")}
    again = desk.run("demo")
    assert (again.code, again.out, len(again.sentences)) == (2, "", 1)
    assert "are there already; run `forecaster demo` in an empty folder, or remove them first" in again.err
    assert {path: (path.stat().st_ino, path.stat().st_size) for path in desk.folder.glob("*.[yc]*")} == before
    assert {table: desk.rows(table) for table in rows} == rows


def test_a_configuration_of_ones_own_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text("sources: mine\n")
    assert Desk(folder=tmp_path).run("demo").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["forecaster.yaml"]
    assert (tmp_path / "forecaster.yaml").read_text() == "sources: mine\n"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "demo-trace.csv").symlink_to(tmp_path / "nowhere" / "trace.csv")
    refused = Desk(folder=tmp_path).run("demo")
    assert (refused.code, len(refused.sentences)) == (2, 1)
    assert f"{tmp_path} cannot be written" in refused.err

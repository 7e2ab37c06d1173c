"""mark, unmark and marks, as people type them, and what review says of marks."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from forecaster.units import iso
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.world import NOW, daily_rpm, write_trace

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
OUTAGE = (NOW - 5 * DAY + 3 * HOUR, NOW - 5 * DAY + 9 * HOUR)  # Wednesday, 10:30 to 16:30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload whose history has an outage, after one forecast at NOW. Each test speaks of an instant of its own after that."""
    folder = tmp_path_factory.mktemp("marks")
    rows = [(at, count * 0.01 if OUTAGE[0] <= at < OUTAGE[1] else count) for at, count in daily_rpm()]
    write_trace(folder / "load.csv", rows)
    pool = {"name": "gpu", "capacity": {"rpm": 100}, "targets": [{"type": "recording", "name": "chat"}]}
    workload = {"name": "chat", "source": "trace", "signals": {"rpm": {"query": "value", "unit": "count"}}, "zone": "Europe/Paris"}
    document = {"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": [workload | {"pools": [pool]}]}
    (folder / "forecaster.yaml").write_text(yaml.safe_dump(document))
    forecaster(folder, "migrate")
    done = forecaster(folder, "forecast", "--now", iso(NOW))
    assert done.code == 0, done.err
    return folder


def says(folder: Path, *arguments: str, hours: float = 0) -> Ended:
    return forecaster(folder, "history", *arguments, "--now", iso(NOW + hours * HOUR))


def marks(folder: Path, *, hours: float) -> list[tuple[str, str, str, str | None]]:
    done = says(folder, "marks", "chat", "--json", hours=hours)
    assert done.code == 0, done.err
    return [(row["kind"], row["from"], row["treatment"], row["author"]) for row in json.loads(done.out)]


FOUND = ("outage", iso(OUTAGE[0]), "left out", None)


def test_what_was_found_is_listed_in_local_time_with_what_becomes_of_it(folder: Path) -> None:
    told = says(folder, "marks", "chat")
    assert (told.code, told.err) == (0, "")
    assert "outage   Wed 25 Feb 11:30   Wed 25 Feb 17:30    6.0 h   rpm      left out            1% of the usual load" in told.out
    assert marks(folder, hours=0) == [FOUND]


def test_review_has_a_line_a_mark_with_the_command_that_overrules_it(folder: Path) -> None:
    page = forecaster(folder, "review", "chat", "--now", iso(NOW))
    command = f"forecaster history unmark chat --from {iso(OUTAGE[0])} --until {iso(OUTAGE[1])}"
    line = f"- rpm, Wed 25 Feb 11:30 to 17:30: outage (1% of the usual load for 6.0 h): left out; `{command}`"
    assert f"Marked history\n{line}\n" in page.out
    (reviewed,) = json.loads(forecaster(folder, "review", "--json", "--now", iso(NOW)).out)["workloads"]
    assert [(mark["kind"], mark["command"]) for mark in reviewed["marks"]] == [("outage", command)]


def test_a_person_overrules_what_was_found_and_is_named(folder: Path) -> None:
    span = ("--from", iso(OUTAGE[0]), "--until", iso(OUTAGE[1]))
    taken_back = says(folder, "unmark", "chat", *span, "--author", "ada", hours=1)
    assert (taken_back.code, taken_back.out) == (0, "")
    assert taken_back.err == f"chat: {span[1]} to {span[3]} is taken as it was measured, from the next forecast on\n"
    assert marks(folder, hours=1) == []
    said = says(folder, "mark", "chat", "censored", *span, "-m", "we were full", "--author", "ada", hours=2)
    assert said.err == f"chat: {span[1]} to {span[3]} is marked censored: a lower bound from the next forecast on\n"
    assert marks(folder, hours=2) == [("censored", span[1], "a lower bound", "ada")]
    forecaster(folder, "forecast", "--now", iso(NOW + 3 * HOUR))  # finds the outage again
    assert marks(folder, hours=3) == [("censored", span[1], "a lower bound", "ada")]
    page = forecaster(folder, "review", "chat", "--now", iso(NOW + 3 * HOUR))
    assert "censored (we were full, said by ada): a lower bound; " in page.out
    assert marks(folder, hours=0) == [FOUND]  # as known then


def test_history_without_a_word_more_shows_it_as_before(folder: Path) -> None:
    short, long = (says(folder, *words, "chat", "--load", "--json") for words in ((), ("show",)))
    assert short.code == 0
    assert short.out == long.out
    assert json.loads(short.out)[0]["signal"] == "rpm"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("mark", "chat", "outrage", "--from", "2d"), "there is no kind 'outrage'; did you mean outage?"),
        (("mark", "chat", "it", "--from", "2d"), "there is no kind 'it'; there is outage, retry-storm"),
        (("mark", "chat", "outage", "--from", "1d", "--until", "2d"), "--from 1d is not before the end of the span"),
        (("unmark", "chat", "--from", "1d", "--until", "2026-03-09T00:00:00Z"), "--until 2026-03-09T00:00:00Z lies ahead"),
        (("unmark", "chat", "--from", "yesterday"), "'yesterday' is no instant"),
        (("marks", "chad"), "there is no workload 'chad'"),
    ],
)
def test_what_means_nothing_is_refused_with_the_remedy(folder: Path, arguments: tuple[str, ...], fault: str) -> None:
    refused = says(folder, *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"forecaster: {fault}")

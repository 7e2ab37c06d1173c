"""What is wrong is said in one sentence that names the place and the remedy; nothing is half written, and nobody sees a traceback."""

import gzip
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.desk import Desk, Outcome
from tests.end_to_end.fleets import HPA, Config, on_csv, on_prometheus
from tests.end_to_end.service import DAY, RPM, clock, trace_csv
from tests.kube_api import KubeApi
from tests.loopback_prometheus import Reply, loopback_prometheus, page

Spoil = Callable[[Path], object]


@pytest.fixture
def csv_desk(tmp_path: Path, kube: KubeApi) -> Desk:
    """A fleet on a CSV file in mode observe, which would run."""
    desk = Desk(folder=tmp_path / "desk", env={"KUBE": kube.url})
    desk.folder.mkdir()
    (desk.folder / "load.csv").write_text(trace_csv())
    desk.configure(on_csv(mode="observe"))
    return desk


def says(outcome: Outcome, *parts: str, code: int, sentences: int = 1) -> None:
    """The exit code, and that many sentences, with all the parts among them."""
    assert outcome.code == code, outcome
    assert len(outcome.sentences) == sentences, outcome.err
    for part in parts:
        assert part in outcome.err, outcome.err


def nothing_was_planned(desk: Desk, kube: KubeApi) -> None:
    assert (desk.rows("plans"), desk.rows("forecasts")) == (0, 0)
    assert (kube.min_replicas("serving", "chat"), kube.writes) == (2, ())
    assert not [path for path in desk.folder.iterdir() if path.suffix in {".part", ".tmp", ".new"}]


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (Path.unlink, ("load.csv cannot be read: No such file", "give the path of a readable CSV file")),
        (lambda path: path.write_text(""), ("load.csv is empty", "it needs a header")),
        (lambda path: path.write_text("timestamp,count\n2024-03-26T06:00:00Z,1\n"), ("load.csv has no column 'value'", "'count'")),
        (
            lambda path: path.write_text("timestamp,value\n2024-03-26T06:00:00Z,1\n2024-03-26T06:05:00,1\n"),
            ("load.csv, line 3: '2024-03-26T06:05:00' has no offset from UTC", "write Z for UTC"),
        ),
        (lambda path: path.write_text("timestamp,value\n2024-03-26T06:00:00Z,many\n"), ("load.csv, line 2: 'many' is not a number",)),
        (lambda path: path.write_bytes(gzip.compress(b"timestamp,value\n")[:-4]), ("load.csv is a broken gzip file",)),
        (lambda path: (path.unlink(), path.mkdir()), ("load.csv cannot be read: Is a directory",)),
    ],
    ids=["missing", "empty", "wrong-column", "mixed-zones", "no-number", "broken-gzip", "directory"],
)
def test_a_bad_file_is_named_with_what_to_do(csv_desk: Desk, kube: KubeApi, spoil: Spoil, parts: tuple[str, ...]) -> None:
    spoil(csv_desk.folder / "load.csv")
    says(csv_desk.run("run", at=clock("07:00")), "forecaster: chat: rpm could not be fetched", *parts, code=1)
    nothing_was_planned(csv_desk, kube)


def test_load_that_ended_long_ago_is_named_with_the_time_that_was_asked_for(csv_desk: Desk, kube: KubeApi) -> None:
    late = csv_desk.run("run", at=DAY + timedelta(days=400))
    says(late, "chat: rpm: 'value' has no number from 2025-03-05", "to 2025-04-30", code=1)
    nothing_was_planned(csv_desk, kube)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("sum(rate(llm_request_total[2m])) * 60", ("has no number from", "correct its name and labels")),
        ("rate(llm_requests_total[2m]) * 60", ("2 series that differ in model ('chat', 'code')", "sum(...)")),
        ("llm_broken", ("has no number from",)),
        ("sum(rate(llm_requests_total[2m])", ("refuses", "parse error", "correct the expression")),
    ],
    ids=["nothing", "two-series", "nan", "no-promql"],
)
def test_a_bad_query_is_named_with_what_to_do(desk: Desk, kube: KubeApi, query: str, parts: tuple[str, ...]) -> None:
    config = on_prometheus(mode="observe")
    config["workloads"][0]["signals"] = {"rpm": {"query": query, "unit": "per_minute"}}
    desk.configure(config)
    says(desk.run("run", at=clock("07:00")), "forecaster: chat: rpm", *parts, code=1)
    nothing_was_planned(desk, kube)


def asked_of(url: str) -> Config:
    """The service on another server."""
    config = on_prometheus(mode="observe")
    config["sources"]["metrics"] |= {"url": url, "timeout_s": 0.3, "attempts": 3, "retry_wait_s": 0.01}  # tries are nobody's news
    return config


def test_a_server_that_does_not_answer_is_named_once_for_all_signals(csv_desk: Desk, kube: KubeApi) -> None:
    with loopback_prometheus(Reply(never=True)) as double:
        csv_desk.configure(asked_of(double.url))
        silent = csv_desk.run("run", at=clock("07:00"))
        says(silent, "chat: rpm and concurrency could not be fetched", double.url, "no answer within 0.3 s", "check that it runs", code=1)
    gone = csv_desk.run("run", at=clock("07:00"))
    says(gone, "chat: rpm and concurrency could not be fetched", double.url, "check that it runs and that url is right", code=1)
    nothing_was_planned(csv_desk, kube)


def test_a_web_page_in_place_of_an_answer_is_named_with_each_query(csv_desk: Desk, kube: KubeApi) -> None:
    with loopback_prometheus(page()) as double:
        csv_desk.configure(asked_of(double.url))
        says(csv_desk.run("run", at=clock("07:00")), double.url, RPM, "with a web page; check url", code=1, sentences=2)
    nothing_was_planned(csv_desk, kube)


def test_a_target_that_is_not_there_is_named_and_without_another_the_run_has_failed(csv_desk: Desk, kube: KubeApi) -> None:
    csv_desk.configure(on_csv(target={**HPA, "name": "chta"}))
    says(csv_desk.run("run", at=clock("07:00")), "serving/chta", "not found", code=1)
    assert (csv_desk.rows("records"), kube.writes) == (0, ())
    kube.forbid("get")
    csv_desk.configure(on_csv())
    says(csv_desk.run("apply", at=clock("07:00")), "serving/chat", "forbidden", code=1)


def two_workloads() -> Config:
    """`chat` as always, and `code` on a file that is not there."""
    config, other = on_csv(), on_csv(path="code.csv", name="code", target={"type": "recording", "name": "code"})
    config["sources"]["code"] = other["sources"]["trace"]
    config["workloads"].append({**other["workloads"][0], "source": "code"})
    return config


def test_of_two_workloads_one_broken_is_partly_done(csv_desk: Desk, kube: KubeApi) -> None:
    csv_desk.configure(two_workloads())
    says(csv_desk.run("run", at=clock("07:30")), "forecaster: code: rpm could not be fetched", code=3)
    assert kube.min_replicas("serving", "chat") > 2


def changed(**workload: Any) -> Config:
    config = on_csv()
    config["workloads"][0] |= workload
    return config


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        (on_csv(mod="auto"), ("workloads[0].policy.mod: is no known key", "did you mean mode")),
        (on_csv(min=9, max=4), ("workloads[0].policy: min must not be above max, got 9 and 4",)),
        (on_csv() | {"forecast": {"model": "oracle"}}, ("forecast.model: must be ensemble", "got 'oracle'")),
        (changed(pools="gpu"), ("workloads[0].pools: must be a list",)),
        (on_csv() | {"store": "mysql://db/forecaster"}, ("store", "sqlite:///")),
    ],
    ids=["typo", "min-above-max", "model", "list-as-string", "store"],
)
def test_k50_a_bad_configuration_is_refused_before_anything_is_opened(csv_desk: Desk, config: Config, parts: tuple[str, ...]) -> None:
    csv_desk.configure(config)
    before = sorted(csv_desk.folder.iterdir())
    says(csv_desk.run("run", at=clock("07:00")), *parts, code=2)
    assert sorted(csv_desk.folder.iterdir()) == before


def test_each_of_several_faults_has_its_own_sentence(csv_desk: Desk) -> None:
    csv_desk.configure(on_csv(mod="auto", level=2) | {"stor": "x"})
    says(csv_desk.run("apply"), "stor:", "policy.mod", "policy.level", code=2, sentences=3)


def test_a_file_that_is_no_yaml_and_one_that_is_not_there_are_named(csv_desk: Desk) -> None:
    (csv_desk.folder / "forecaster.yaml").write_text("sources: {trace: [}\n")
    says(csv_desk.run("run"), "forecaster.yaml", "line 1", code=2)
    (csv_desk.folder / "forecaster.yaml").unlink()
    says(csv_desk.run("run"), "there is no configuration file", "forecaster init", code=2)
    says(csv_desk.run("status", "--config", "other.yaml"), "other.yaml: there is no configuration file", code=2)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["run", "--now", "soon"], ("'soon' is no instant; write ISO 8601",)),
        (["apply", "--now", "2024-03-26T07:00:00"], ("has no zone; end it with Z",)),
        (["approve", "chta"], ("there is no workload 'chta'", "there is: chat")),
        (["review", "chta"], ("there is no workload 'chta'",)),
        (["pause", "chat", "-m", "x", "--until", "2020-01-01T00:00:00Z"], ("has passed",)),
        (["override", "set", "chat", "20", "-m", " "], ("reason",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_words_are_refused_in_one_sentence_and_nothing_is_kept(csv_desk: Desk, words: list[str], parts: tuple[str, ...]) -> None:
    says(csv_desk.run(*words), *parts, code=2)
    assert csv_desk.rows("rulings") == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["override", "set", "chat", "-m", "x", "--", "-3"], "REPLICAS"),
        (["override", "set", "chat", "3"], "--reason"),
        (["runn"], "runn"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_explained_and_points_at_the_help(csv_desk: Desk, words: list[str], part: str) -> None:
    outcome = csv_desk.run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert part in outcome.err
    assert "--help" in outcome.err
    assert not (csv_desk.folder / "forecaster.db").exists()


def test_without_a_plan_there_is_nothing_to_judge(csv_desk: Desk) -> None:
    says(csv_desk.run("approve", "chat"), "chat: no plan awaits approval", "forecaster review chat", code=1)
    says(csv_desk.run("reject", "chat", "--plan", "chat/gpu@x"), "there is no plan 'chat/gpu@x'", code=1)
    says(csv_desk.run("plan", at=clock("07:00")), "there is no forecast to plan from", "forecaster forecast", code=1)


def test_k48_a_store_that_is_none_is_named(csv_desk: Desk, kube: KubeApi) -> None:
    path = csv_desk.folder / "forecaster.db"
    path.write_bytes(b"this is no database" * 100)
    for words in (["run"], ["status"]):
        says(csv_desk.run(*words), str(path), "is not a SQLite database", code=1)
    path.unlink()
    path.mkdir()
    says(csv_desk.run("run"), str(path), "is a directory", code=1)
    csv_desk.configure(on_csv() | {"store": "sqlite:///nowhere/forecaster.db"})
    says(csv_desk.run("run"), "nowhere", "does not exist", code=1)
    assert kube.writes == ()


def test_a_damaged_store_is_named(csv_desk: Desk) -> None:
    csv_desk.done("run", at=clock("07:00"))
    path = csv_desk.folder / "forecaster.db"
    for journal in csv_desk.folder.glob("forecaster.db-*"):
        journal.unlink()
    path.write_bytes(path.read_bytes()[:20_000] + b"\0" * 20_000)
    damaged = csv_desk.run("run", at=clock("07:05"))
    assert damaged.code == 1
    assert re.search("damaged|failed", damaged.err)


def test_a_broken_pipe_is_no_traceback(csv_desk: Desk) -> None:
    process = csv_desk.start("run", "--json", at=clock("07:00"))
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=120)
    assert "Traceback" not in err

"""What a task takes: numbers or questions, or one clear sentence."""

from pathlib import Path

import pytest

from forecaster.ports import Query
from jobs.config.reading import read_config
from jobs.cost.asked import TaskAsked
from tests.jobs.config.samples import SAMPLE, faults_of


def with_task(written: str) -> str:
    """The sample with a task."""
    return f"{SAMPLE}    task: {written}\n"


def asked(path: Path, written: str) -> TaskAsked | None:
    path.write_text(with_task(written))
    (section,) = read_config(path).workloads
    return None if section.task is None else section.task.to_core()


def test_numbers_are_taken_as_they_are_and_queries_as_questions(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(SAMPLE)
    assert read_config(path).workloads[0].task is None
    assert asked(path, "{calls: 3}") == TaskAsked(calls=3)
    found = asked(path, "{calls: {query: calls / tasks}, rounds: 2, completion: 0.9, retries: {query: retried}, invalid: 0}")
    assert found is not None
    assert isinstance(found.calls, Query)
    assert found.calls.expression == "calls / tasks"
    assert isinstance(found.retries, Query)
    assert (found.rounds, found.completion, found.invalid) == (2, 0.9, 0)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{rounds: 2}", "workloads[0].task.calls: is missing: calls of the model a round, repeated ones included"),
        ("{calls: 0}", "workloads[0].task: task.calls must be above 0 calls a round, got 0"),
        ("{calls: many}", "workloads[0].task.calls: must be a number, got 'many'"),
        ("{calls: true}", "workloads[0].task.calls: must be a number, got true"),
        ("{calls: 1, completion: 90}", "workloads[0].task: task.completion must be above 0 and at most 1, got 90"),
        ("{calls: 1, retries: 1}", "workloads[0].task: task.retries must be at least 0 and below 1, got 1"),
        ("{calls: 1, retry: 0.1}", "workloads[0].task.retry: is no known key; did you mean retries?"),
        ("{calls: {quary: a}}", "workloads[0].task.calls.query: is missing"),
        ("{calls: {query: ''}}", "workloads[0].task.calls.query: must not be empty"),
        ("4", "workloads[0].task: must be a section with keys of its own"),
    ],
)
def test_a_task_that_cannot_be_is_refused_with_its_path(tmp_path: Path, written: str, sentence: str) -> None:
    assert any(sentence in fault for fault in faults_of(tmp_path, with_task(written)))

"""What a task takes: numbers as they are configured, and questions that are asked of the workload's source for a span."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from forecaster.errors import SourceError
from forecaster.ports import MetricSource, Query
from forecaster.series import Floats, Series, Window
from forecaster.unit_cost import Task
from forecaster.units import spell_number

_PLAUSIBLE = 0.5
"""In the place of an answer that is not there yet, while numbers are checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAsked:
    """A task as it is configured: each a number or a question. None = nobody says."""

    calls: float | Query
    rounds: float | Query = 1.0
    completion: float | Query = 1.0
    retries: float | Query | None = None
    invalid: float | Query | None = None

    def __post_init__(self) -> None:
        _task({name: _PLAUSIBLE if isinstance(told, Query) else told for name, told in self.told().items()})

    def told(self) -> dict[str, float | Query | None]:
        """Each by the name that it has in the configuration."""
        return {
            "calls": self.calls,
            "rounds": self.rounds,
            "completion": self.completion,
            "retries": self.retries,
            "invalid": self.invalid,
        }

    def questions(self) -> dict[str, Query]:
        """Those of them that the source is asked."""
        return {name: told for name, told in self.told().items() if isinstance(told, Query)}


def task_of(asked: TaskAsked, source: MetricSource, load: Series) -> Task | str:
    """What a task took over the span of a load, or a sentence that says why nobody knows.

    load: requests by bucket, by which answers are weighed; where none was measured each bucket counts alike.
    """
    found: dict[str, float | None] = {}
    for name, told in asked.told().items():
        answer = _answer(name, told, source, load) if isinstance(told, Query) else told
        if isinstance(answer, str):
            return answer
        found[name] = answer
    try:
        return _task(found)
    except ValueError as error:
        return f"what a task takes is not known: {error}"


def weighed(answers: Floats, load: Floats, *, over_calls: bool) -> float | None:
    """One number of answers by bucket; None where none was measured.

    Shares of calls are means by requests. Calls over tasks are means by tasks, which is the harmonic mean by requests: all calls over
    all tasks. Of those only answers above zero say something.
    """
    weights = load if np.nansum(load) > 0 else np.ones_like(load)
    known = ~np.isnan(answers) & ~np.isnan(weights) & (answers > 0 if over_calls else True)
    if not weights[known].sum() > 0:
        return None
    if over_calls:
        return float(weights[known].sum() / (weights[known] / answers[known]).sum())
    return float(np.average(answers[known], weights=weights[known]))


def _answer(name: str, query: Query, source: MetricSource, load: Series) -> float | str:
    window = Window(start=load.start, end=load.end)
    try:
        answers = source.fetch(query, window, load.step_s)
    except SourceError as error:
        return f"what a task takes is not known, its {name} could not be read: {error}"
    value = weighed(answers.mean, load.mean, over_calls=name in {"calls", "rounds"})
    if value is None:
        span = f"{load.start:%Y-%m-%d} to {load.end - timedelta(days=1):%Y-%m-%d}"
        return f"what a task takes is not known: {query.expression!r} for {name} has no number from {span}; correct its name and labels"
    return value


def _task(numbers: dict[str, float | None]) -> Task:
    """Raises ValueError for a number out of its range, or one that is missing."""
    calls, rounds, completion = (numbers[name] for name in ("calls", "rounds", "completion"))
    if calls is None or rounds is None or completion is None:
        msg = "task needs calls, rounds and completion"
        raise ValueError(msg)
    return Task(
        calls=calls,
        rounds=rounds,
        completion_ratio=completion,
        retry_ratio=numbers["retries"],
        invalid_ratio=numbers["invalid"],
    )


def task_words(task: Task) -> str:
    """A task as a person reads it."""
    rounds = f" x {spell_number(task.rounds)} rounds" if task.rounds != 1 else ""
    completed = f" / {task.completion_ratio:.0%} completed" if task.completion_ratio != 1 else ""
    return f"{spell_number(task.calls)} calls{rounds}{completed}"

"""What is marked in a workload's history, what a model does with it, and how a person overrules it."""

from dataclasses import dataclass
from datetime import datetime

from forecaster.marks import Mark
from forecaster.series import Signal
from forecaster.units import iso
from jobs.views.kept import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One mark in force, and the command that takes it back, as arguments of `forecaster`."""

    mark: Mark
    command: str


def marked_spans(kept: Kept, signals: tuple[Signal, ...], since: datetime) -> tuple[Marked, ...]:
    """The marks in force of some signals from `since` on, by signal and start."""
    return tuple(Marked(mark=mark, command=_unmark(kept.workload.name, mark)) for signal in signals for mark in kept.marks(signal, since))


def _unmark(workload: str, mark: Mark) -> str:
    return f"history unmark {workload} --from {iso(mark.span.start)} --until {iso(mark.span.end)}"

"""Every model that can be named, on a sample of the midnights: why the default is what it is. For the record, without goals."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.accuracy.judged import geometric_mean, pinball
from benchmarks.accuracy.recordings import Group, Recording
from benchmarks.accuracy.rolling import LAST_WEEK, PROPHET, Issued, Way, issue, processes
from benchmarks.accuracy.verdicts import Verdict
from benchmarks.figures import Table
from forecaster.models.catalogue import MODEL_NAMES

_SAMPLE = 6
"""Midnights a recording, evenly spread: some models take a minute for one."""
_BOX_S = 300
_GROUPS = (Group.LONG, Group.SHORT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """One model at one midnight of a recording, and where it stands among the verdict's origins."""

    way: Way
    verdict: Verdict = field(repr=False)
    row: int

    @property
    def recording(self) -> Recording:
        """With that midnight alone."""
        whole = self.verdict.recording
        return replace(whole, origins=whole.origins[self.row : self.row + 1], warm_up=())


def members(found: Sequence[Verdict]) -> Table:
    """A line a model: pinball over both rivals' at the very same midnights, and CPU.

    Left out: what five minutes are too short for, and what the fallback had to answer.
    """
    asked = [
        _Asked(way=way, verdict=verdict, row=row)
        for way in MODEL_NAMES
        for verdict in found
        if verdict.recording.group in _GROUPS
        for row in _sample(len(verdict.recording.origins))
    ]
    with processes() as pool:
        answers = _answers(pool, asked)
    header = ("model", "forecasts", *(f"x {rival}, {group}" for group in _GROUPS for rival in (PROPHET, LAST_WEEK)), "CPU / Prophet")
    rows = tuple(_row(way, [(one, said) for one, said in answers if one.way == way]) for way in MODEL_NAMES)
    return Table(title=f"Every model, at {_SAMPLE} midnights a trace", header=header, rows=rows)


def _answers(pool: ProcessPoolExecutor, asked: Sequence[_Asked]) -> list[tuple[_Asked, Issued]]:
    waiting: list[tuple[_Asked, Future[Issued]]] = [(one, pool.submit(issue, one.recording, one.way)) for one in asked]
    wait([future for _, future in waiting], timeout=_BOX_S)
    answers = [(one, future.result()) for one, future in waiting if future.done()]
    return [(one, said) for one, said in answers if said.own]


def _row(way: Way, answers: Sequence[tuple[_Asked, Issued]]) -> tuple[str, ...]:
    ratios = (geometric_mean(_ratios(answers, group, rival)) for group in _GROUPS for rival in (PROPHET, LAST_WEEK))
    costs = [said.cpu_s / one.verdict.cpu_s[PROPHET] for one, said in answers]
    cost = f"{np.mean(costs):.3g}" if costs else ""
    return (way, f"{len(answers)}", *("" if ratio is None else f"{ratio:.3f}" for ratio in ratios), cost)


def _ratios(answers: Sequence[tuple[_Asked, Issued]], group: Group, rival: Way) -> Iterator[float]:
    """One a recording, over the midnights that were answered."""
    names = dict.fromkeys(one.verdict.recording.name for one, _ in answers if one.verdict.recording.group is group)
    for name in names:
        mine = [(one, said) for one, said in answers if one.verdict.recording.name == name]
        verdict, rows = mine[0][0].verdict, [one.row for one, _ in mine]
        actual = verdict.recording.actual[rows]
        ours = np.concatenate([said.quantiles for _, said in mine])
        yield pinball(actual, ours) / pinball(actual, verdict.issued[rival].quantiles[rows])


def _sample(origins: int) -> list[int]:
    return sorted({round(row) for row in np.linspace(0, origins - 1, _SAMPLE).tolist()})

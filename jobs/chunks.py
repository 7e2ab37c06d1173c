"""Series in chunks, on their way through the executor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

from forecaster.errors import ExecutorFailed
from forecaster.forecast import Request, State
from forecaster.ports import Executor
from forecaster.series import Panel, Signal

Held = TypeVar("Held")
Result = TypeVar("Result")
Key: TypeAlias = tuple[str, Signal]
"""A series: the workload's name, and what was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Series of one signal and grid, with what was kept of each and what is asked of all. learned: what all of a fleet have in common."""

    panel: Panel
    states: tuple[State | None, ...]
    request: Request
    learned: bytes = field(default=b"", repr=False)


def through(
    executor: Executor, function: Callable[[Chunk], tuple[Result, ...]], batches: Iterable[tuple[Held, tuple[Chunk, ...]]]
) -> Iterator[tuple[Held, dict[Key, Result | ExecutorFailed]]]:
    """The answers of each batch by series, beside what was held here meanwhile. A batch that is lost has its failure for answers.

    The chunks of a batch travel together, so that no worker is started for a few series of many kinds. Raises what the function raises.
    """
    under_way: deque[tuple[Held, list[Key]]] = deque()
    results = executor.map(partial(_each, function), _sent(batches, under_way))
    while True:
        try:
            answers: Iterable[Result | ExecutorFailed] = next(results)
        except StopIteration:
            return
        except ExecutorFailed as error:
            answers = [error] * len(under_way[0][1])
        held, keys = under_way.popleft()
        yield held, dict(zip(keys, answers, strict=True))


def _sent(batches: Iterable[tuple[Held, tuple[Chunk, ...]]], under_way: deque[tuple[Held, list[Key]]]) -> Iterator[tuple[Chunk, ...]]:
    """The chunks as they are taken; what is held of them waits here, and need not travel."""
    for held, chunks in batches:
        under_way.append((held, [(name, chunk.panel.signal) for chunk in chunks for name in chunk.panel.names]))
        yield chunks


def _each(function: Callable[[Chunk], tuple[Result, ...]], chunks: tuple[Chunk, ...]) -> tuple[Result, ...]:
    return tuple(answer for chunk in chunks for answer in function(chunk))

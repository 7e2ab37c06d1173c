"""Series in chunks, on their way through the executor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from forecaster.calendar import Calendar
from forecaster.errors import ExecutorFailed
from forecaster.forecast import Horizon
from forecaster.ports import Executor
from forecaster.series import Panel

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Series of one signal and grid, with what is asked of all of them."""

    panel: Panel
    horizon: Horizon
    calendar: Calendar


def through(
    executor: Executor, function: Callable[[Chunk], tuple[Result, ...]], chunks: Iterable[Chunk]
) -> Iterator[tuple[str, Result | ExecutorFailed]]:
    """Each series by name with its result, or with the failure of its chunk, which stops no other. Raises what the function raises."""
    under_way: deque[Chunk] = deque()
    results = executor.map(function, _kept(chunks, under_way))
    while True:
        try:
            answers: tuple[Result | ExecutorFailed, ...] = next(results)
            names = under_way.popleft().panel.names
        except StopIteration:
            return
        except ExecutorFailed as error:
            names = under_way.popleft().panel.names
            answers = (error,) * len(names)
        yield from zip(names, answers, strict=True)


def _kept(chunks: Iterable[Chunk], under_way: deque[Chunk]) -> Iterator[Chunk]:
    """The chunks as they are taken, kept until their results are there: they need not travel back."""
    for chunk in chunks:
        under_way.append(chunk)
        yield chunk

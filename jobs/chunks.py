"""Series in chunks, on their way through the executor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from forecaster.errors import ExecutorFailed
from forecaster.forecast import Request, State
from forecaster.ports import Executor
from forecaster.series import Panel, Signal

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Series of one signal and grid, with what was kept of each and what is asked of all."""

    panel: Panel
    states: tuple[State | None, ...]
    request: Request


def through(
    executor: Executor, function: Callable[[Chunk], tuple[Result, ...]], chunks: Iterable[Chunk]
) -> Iterator[tuple[tuple[str, Signal], Result | ExecutorFailed]]:
    """Each series by name and signal with its result, or with the failure of its chunk, which stops no other.

    Raises what the function raises.
    """
    under_way: deque[Chunk] = deque()
    results = executor.map(function, _kept(chunks, under_way))
    while True:
        try:
            answers: tuple[Result | ExecutorFailed, ...] = next(results)
            panel = under_way.popleft().panel
        except StopIteration:
            return
        except ExecutorFailed as error:
            panel = under_way.popleft().panel
            answers = (error,) * len(panel.names)
        yield from (((name, panel.signal), answer) for name, answer in zip(panel.names, answers, strict=True))


def _kept(chunks: Iterable[Chunk], under_way: deque[Chunk]) -> Iterator[Chunk]:
    """The chunks as they are taken, kept until their results are there: they need not travel back."""
    for chunk in chunks:
        under_way.append(chunk)
        yield chunk

"""One chunk after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class SerialExecutor:
    """A `forecaster.ports.Executor` without any machinery. A chunk is taken when its result is asked for, not before."""

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        return map(function, chunks)

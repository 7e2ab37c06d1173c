"""Results in the order of their chunks, with a bounded number of chunks under way."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Chunk = TypeVar("Chunk")
Task = TypeVar("Task")
Result = TypeVar("Result")
CHUNKS_PER_WORKER = 2
"""Chunks under way a worker: one at work and one that waits for it. A chunk is some 60 MB, so more would only cost memory."""


class InOrder(Iterator[Result], Generic[Chunk, Task, Result]):
    """Submits chunks as their turn comes, at most `most` of them before their results are asked for.

    What `result` raises is raised in its place; the next call goes on with the next chunk, as with the built-in `map`.
    """

    def __init__(self, submit: Callable[[Chunk], Task], result: Callable[[Task], Result], chunks: Iterable[Chunk], most: int) -> None:
        self._submit = submit
        self._result = result
        self._chunks = iter(chunks)
        self._most = most
        self._under_way: deque[Task] = deque()

    def __next__(self) -> Result:
        """The result of the next chunk."""
        while len(self._under_way) < self._most:
            try:
                chunk = next(self._chunks)
            except StopIteration:
                break
            self._under_way.append(self._submit(chunk))
        if not self._under_way:
            raise StopIteration
        return self._result(self._under_way.popleft())

"""Dynamic batching: which requests a server that is always free would serve together.

A batch opens with its oldest request. It closes when it is full, or when the oldest has waited `max_wait_ms`, whichever is first:

| arrivals in ms      | max_batch_size | max_wait_ms | batches               | closed at   |
|---------------------|----------------|-------------|-----------------------|-------------|
| 0, 4, 10, 11        | 8              | 10          | (0, 4, 10), (11,)     | 10, 21      |
| 0, 1, 2, 3, 4       | 2              | 10          | (0, 1), (2, 3), (4,)  | 1, 3, 14    |
| 0, 0, 5             | 8              | 0           | (0, 0), (5,)          | 0, 5        |
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Arriving(Protocol):
    """Anything that says when it arrived."""

    @property
    def arrival_ms(self) -> float:
        """Milliseconds since any fixed instant."""


Arrival = TypeVar("Arrival", bound=float | Arriving)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Generic[Arrival]):
    """Requests that are served together, in arrival order, and the instant from which they can be."""

    requests: tuple[Arrival, ...]
    closed_ms: float

    def __len__(self) -> int:
        return len(self.requests)

    def __iter__(self) -> Iterator[Arrival]:
        return iter(self.requests)


def schedule(requests: Iterable[Arrival], max_batch_size: int, max_wait_ms: float) -> tuple[Batch[Arrival], ...]:
    """The batches of requests in arrival order; a request is its arrival in milliseconds, or an object with `arrival_ms`.

    Every request is in exactly one batch, no batch is larger than `max_batch_size`, and none of its requests waits longer than
    `max_wait_ms` for it to close. Requests of the same instant keep the order in which they were given; others are put in order of
    arrival. One that arrives at the very instant at which the oldest has waited `max_wait_ms` still joins, so without a wait those of one
    instant are served together. A batch closed by being full closes at its last arrival; the last batch waits like any other, since
    nobody knows that nothing follows. No requests make no batches. Raises ValueError on a size below 1, a wait below 0 or not finite, or
    an arrival that is not finite.
    """
    check_batching(max_batch_size, max_wait_ms)
    closed: list[Batch[Arrival]] = []
    waiting: list[Arrival] = []
    due_ms = math.inf
    for at_ms, request in _in_order(requests):
        if waiting and at_ms > due_ms:
            closed.append(Batch(requests=tuple(waiting), closed_ms=due_ms))
            waiting = []
        if not waiting:
            due_ms = closes_at(at_ms, max_wait_ms)
        waiting.append(request)
        if len(waiting) == max_batch_size:
            closed.append(Batch(requests=tuple(waiting), closed_ms=at_ms))
            waiting = []
    if waiting:
        closed.append(Batch(requests=tuple(waiting), closed_ms=due_ms))
    return tuple(closed)


def closes_at(oldest: float, max_wait: float) -> float:
    """When a batch with this oldest arrival closes unless it is full before; both in one unit.

    The sum, and where rounding made it longer than the wait, the next smaller float: nobody waits longer, not by one bit.
    """
    closes = oldest + max_wait
    return closes if closes - oldest <= max_wait else math.nextafter(closes, -math.inf)


def check_batching(max_batch_size: int, max_wait_ms: float) -> None:
    """Refuse a size below 1 and a wait that is below 0 or endless."""
    if max_batch_size < 1:
        msg = f"max_batch_size must be at least 1 request, got {max_batch_size}"
        raise ValueError(msg)
    if not (math.isfinite(max_wait_ms) and max_wait_ms >= 0):
        msg = f"max_wait_ms must be at least 0 ms and finite, got {max_wait_ms:g}"
        raise ValueError(msg)


def _in_order(requests: Iterable[Arrival]) -> list[tuple[float, Arrival]]:
    found = [(_arrival_ms(request), request) for request in requests]
    for at_ms, _ in found:
        if not math.isfinite(at_ms):
            msg = f"a request's arrival must be a finite number of milliseconds, got {at_ms:g}"
            raise ValueError(msg)
    return sorted(found, key=lambda pair: pair[0])


def _arrival_ms(request: float | Arriving) -> float:
    return float(request) if isinstance(request, int | float) else float(request.arrival_ms)

"""The replay as a sceptic would write it from the contract's words: a queue of requests, a list of replicas, no formula of ours."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Books:
    """What one replay came to, and each minute's late requests and fleet."""

    late: list[float] = field(default_factory=list)
    fleet: list[int] = field(default_factory=list)
    changes: int = 0
    arrived: float = 0.0
    served: float = 0.0
    waiting: float = 0.0

    @property
    def late_ratio(self) -> float:
        return sum(self.late) / self.arrived if self.arrived else 0.0

    @property
    def replica_hours(self) -> float:
        return sum(self.fleet) / 60


def plain_replay(
    load: Sequence[float],
    floors: Sequence[int],
    *,
    before: Sequence[float],
    mu: float,
    target: float,
    lead: int = 10,
    memory: int = 5,
    start: int | None = None,
) -> Books:
    """Replay `load` minute by minute. `before` are the minutes that the autoscaler saw before the first one; `start` overrules its wish."""
    books = Books()
    wishes = deque((_ceil(a / (mu * target)) for a in before), maxlen=memory)
    replicas = [0] * max(1, max(wishes) if start is None else start)  # the minute from which each serves, oldest first
    before_count = len(replicas)
    queue: deque[list[float]] = deque()  # [minute of arrival, requests]
    for minute, arrivals in enumerate(load):
        wanted = max(1, *wishes, floors[minute])
        while len(replicas) > wanted:
            replicas.pop()
        while len(replicas) < wanted:
            replicas.append(minute + lead)
        books.changes += wanted != before_count
        before_count = wanted
        books.fleet.append(wanted)
        books.arrived += arrivals
        queue.append([minute, arrivals])
        books.served += _serve(queue, mu * sum(ready <= minute for ready in replicas))
        books.late.append(sum(requests for arrived, requests in queue if arrived == minute))
        wishes.append(_ceil((arrivals + sum(requests for _, requests in queue)) / (mu * target)))
    books.waiting = sum(requests for _, requests in queue)
    return books


def _serve(queue: deque[list[float]], capacity: float) -> float:
    left = capacity
    while queue and left > 0:
        taken = min(left, queue[0][1])
        queue[0][1] -= taken
        left -= taken
        if queue[0][1] > 0:
            break
        queue.popleft()
    return capacity - left


def _ceil(ratio: float) -> int:
    return math.ceil(round(ratio, 6))

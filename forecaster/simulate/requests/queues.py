"""Who waits, and whose turn it is: one lane a priority class, a time after which a sender gives up, and no starvation.

Interactive requests go first. A bulk request that has waited `promote_after_s` is from then on served in its order of arrival among the
interactive ones, so nobody who arrives later than `promote_after_s` after it is served before it: it waits at most that long, plus the
time to serve who came before.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from forecaster.simulate.requests.arrivals import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a request waits for its service to begin before its sender gives up, by class; infinite = for ever.

    promote_after_s: how long interactive requests may overtake a bulk one.
    """

    interactive_s: float = math.inf
    bulk_s: float = math.inf
    promote_after_s: float = 60.0

    def __post_init__(self) -> None:
        for name in ("interactive_s", "bulk_s"):
            if not getattr(self, name) > 0:
                msg = f"patience.{name} must be above 0 seconds, got {getattr(self, name):g}"
                raise ValueError(msg)
        if not (math.isfinite(self.promote_after_s) and self.promote_after_s >= 0):
            msg = f"patience.promote_after_s must be at least 0 seconds and finite, got {self.promote_after_s:g}: bulk would starve"
            raise ValueError(msg)

    def of(self, priority: int) -> float:
        """Seconds that a request of this class waits."""
        return self.interactive_s if priority == Priority.INTERACTIVE else self.bulk_s


class Lanes:
    """Waiting requests (their numbers), each lane in order of arrival. `gave_up` hears of each that left, when that is noticed."""

    __slots__ = ("_at_s", "_bulk", "_finite", "_gave_up", "_interactive", "_patience", "_priority")

    def __init__(self, at_s: Sequence[float], priority: Sequence[int], patience: Patience, gave_up: Callable[[int], None]) -> None:
        self._at_s, self._priority, self._patience, self._gave_up = at_s, priority, patience, gave_up
        self._interactive: deque[int] = deque()
        self._bulk: deque[int] = deque()
        self._finite = math.isfinite(min(patience.interactive_s, patience.bulk_s))

    def __len__(self) -> int:
        return len(self._interactive) + len(self._bulk)

    def push(self, request: int) -> None:
        """Wait behind everyone of the same class who arrived before."""
        lane = self._bulk if self._priority[request] else self._interactive
        if lane and request < lane[-1]:
            self.restore((request,))
        else:
            lane.append(request)

    def restore(self, requests: Iterable[int]) -> None:
        """Wait again, at the place that the arrival gives."""
        back: tuple[list[int], list[int]] = ([], [])
        for request in requests:
            back[1 if self._priority[request] else 0].append(request)
        self._interactive = deque(heapq.merge(self._interactive, sorted(back[0])))
        self._bulk = deque(heapq.merge(self._bulk, sorted(back[1])))

    def oldest_s(self) -> float:
        """The arrival of who has waited longest; infinite where nobody waits."""
        return min(self._at_s[lane[0]] if lane else math.inf for lane in (self._interactive, self._bulk))

    def expire(self, now_s: float) -> None:
        """Let those leave whose patience has ended."""
        if not self._finite:
            return
        for lane, patience_s in ((self._interactive, self._patience.interactive_s), (self._bulk, self._patience.bulk_s)):
            while lane and now_s - self._at_s[lane[0]] > patience_s:
                self._gave_up(lane.popleft())

    def take(self, now_s: float, most: int) -> list[int]:
        """Up to so many of those whose turn it is, in the order of their turns."""
        self.expire(now_s)
        if not self._bulk:
            lane = self._interactive
            return [lane.popleft() for _ in range(min(most, len(lane)))]
        return [self._next(now_s) for _ in range(min(most, len(self)))]

    def take_all(self) -> list[int]:
        """Everyone, in no particular order."""
        everyone = [*self._interactive, *self._bulk]
        self._interactive.clear()
        self._bulk.clear()
        return everyone

    def _next(self, now_s: float) -> int:
        if not self._bulk:
            return self._interactive.popleft()
        if not self._interactive:
            return self._bulk.popleft()
        promoted = now_s - self._at_s[self._bulk[0]] >= self._patience.promote_after_s
        return self._bulk.popleft() if promoted and self._bulk[0] < self._interactive[0] else self._interactive.popleft()

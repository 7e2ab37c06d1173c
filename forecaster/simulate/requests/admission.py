"""Who is let in at all: a token bucket for each tenant (429), and a circuit breaker before the fleet (503)."""

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum, auto

from forecaster.units import MINUTE_S, check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A tenant's limit: `rate_rpm` requests a minute in the long run, `burst` at once."""

    rate_rpm: float
    burst: float

    def __post_init__(self) -> None:
        check_positive("quota.rate_rpm", self.rate_rpm, "requests/min")
        if not (math.isfinite(self.burst) and self.burst >= 1):
            msg = f"quota.burst must be at least 1 request, got {self.burst:g}: nothing would ever pass"
            raise ValueError(msg)


class TokenBucket:
    """A bucket that is full at first, gains rate / 60 tokens a second up to `burst`, and pays one for each request that it lets in."""

    __slots__ = ("_quota", "_seen_s", "_tokens")

    def __init__(self, quota: Quota) -> None:
        self._quota, self._tokens, self._seen_s = quota, quota.burst, 0.0

    def admits(self, now_s: float) -> bool:
        """Whether a request passes now; if so it is paid for. Instants never fall."""
        self._tokens = min(self._quota.burst, self._tokens + (now_s - self._seen_s) * self._quota.rate_rpm / MINUTE_S)
        self._seen_s = now_s
        if self._tokens < 1 - 1e-9:  # a token that was refilled in many small steps is a whole one
            return False
        self._tokens -= 1
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When the way to the fleet is cut, and how it is tried again.

    Opens when, of at least `least` requests that ended within the last `span_s` seconds, a share of `failure_ratio` or more failed (gave up
    waiting, or were broken off), or when at least `queue_limit` requests have waited at every look for `span_s` seconds. After `open_s`
    seconds it lets `probes` requests through: it closes when all of them were served, and opens again at the first that was not.
    """

    failure_ratio: float = 0.5
    queue_limit: float = math.inf
    span_s: float = 30.0
    least: int = 20
    open_s: float = 15.0
    probes: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.failure_ratio <= 1:
            msg = f"breaker.failure_ratio must be above 0 and at most 1, got {self.failure_ratio:g}"
            raise ValueError(msg)
        if not self.queue_limit >= 1:
            msg = f"breaker.queue_limit must be at least 1 request, got {self.queue_limit:g}"
            raise ValueError(msg)
        check_not_negative("breaker.span_s", self.span_s, "seconds")
        check_positive("breaker.open_s", self.open_s, "seconds")
        check_positive("breaker.least", self.least, "requests")
        check_positive("breaker.probes", self.probes, "requests")


class State(Enum):
    """Where a breaker stands."""

    CLOSED = auto()
    OPEN = auto()
    HALF_OPEN = auto()


class Breaker:
    """One breaker; `admits` is asked before each request, `ended` hears of each that was admitted, in the order of time."""

    __slots__ = ("_ended", "_failed", "_full_since_s", "_opened_s", "_probing", "_rule", "_to_probe", "opened", "state")

    def __init__(self, rule: BreakerRule) -> None:
        self._rule = rule
        self.state = State.CLOSED
        self.opened = 0
        self._opened_s = 0.0
        self._to_probe = 0
        self._probing: set[int] = set()
        self._forget()

    def admits(self, request: int, now_s: float, waiting: int) -> bool:
        """Whether this request passes, while so many others wait."""
        if self.state is State.CLOSED:
            self._look(now_s, waiting)
        if self.state is State.OPEN and now_s - self._opened_s >= self._rule.open_s:
            self.state, self._to_probe, self._probing = State.HALF_OPEN, self._rule.probes, set()
        if self.state is not State.HALF_OPEN:
            return self.state is State.CLOSED
        if not self._to_probe:
            return False
        self._to_probe -= 1
        self._probing.add(request)
        return True

    def ended(self, request: int, now_s: float, *, served: bool) -> None:
        """What became of a request that was let in."""
        if self.state is State.HALF_OPEN:
            self._probed(request, now_s, served=served)
        elif self.state is State.CLOSED:
            self._ended.append((now_s, not served))
            self._failed += not served
            self._forget_before(now_s - self._rule.span_s)
            if len(self._ended) >= self._rule.least and self._failed >= self._rule.failure_ratio * len(self._ended):
                self._open(now_s)

    def _probed(self, request: int, now_s: float, *, served: bool) -> None:
        """Requests from before it opened say nothing of how the fleet is now."""
        if request not in self._probing:
            return
        if not served:
            self._open(now_s)
            return
        self._probing.discard(request)
        if not self._probing and not self._to_probe:
            self.state = State.CLOSED
            self._forget()

    def _look(self, now_s: float, waiting: int) -> None:
        if waiting < self._rule.queue_limit:
            self._full_since_s = math.inf
            return
        self._full_since_s = min(self._full_since_s, now_s)
        if now_s - self._full_since_s >= self._rule.span_s:
            self._open(now_s)

    def _open(self, now_s: float) -> None:
        self.state, self._opened_s = State.OPEN, now_s
        self.opened += 1
        self._forget()

    def _forget(self) -> None:
        self._ended: deque[tuple[float, bool]] = deque()
        self._failed = 0
        self._full_since_s = math.inf

    def _forget_before(self, since_s: float) -> None:
        while self._ended and self._ended[0][0] < since_s:
            self._failed -= self._ended.popleft()[1]

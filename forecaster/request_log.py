"""A log of single requests, and the schedule that replays a stretch of it at a load of one's choice."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from forecaster.series import Floats, frozen_floats
from forecaster.units import MINUTE_S, check_positive

LEAST_REQUESTS = 20
"""Of a log or a step: fewer have no P95."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestLog:
    """Requests in the order of their arrival, each array of shape (n,).

    arrived_s: seconds since any instant, not falling. input_tokens and output_tokens: whole numbers of at least 1. Raises ValueError for
    anything else, for fewer than 20 requests, and for such that all arrived at once.
    """

    arrived_s: Floats = field(repr=False)
    input_tokens: Floats = field(repr=False)
    output_tokens: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("arrived_s", "input_tokens", "output_tokens"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=1, name=name))
        if not self.arrived_s.size == self.input_tokens.size == self.output_tokens.size >= LEAST_REQUESTS:
            msg = f"a request log needs at least {LEAST_REQUESTS} requests, each with both token lengths, got {self.arrived_s.size}"
            raise ValueError(msg)
        if not np.isfinite(self.arrived_s).all() or (np.diff(self.arrived_s) < 0).any():
            msg = "arrivals must be finite and in order"
            raise ValueError(msg)
        for name in ("input_tokens", "output_tokens"):
            if not (np.isfinite(lengths := getattr(self, name)).all() and (lengths >= 1).all()):
                msg = f"{name} must be finite and at least 1"
                raise ValueError(msg)
        if self.arrived_s[0] == self.arrived_s[-1]:
            msg = "all requests arrived at the same instant, so there is no pattern to replay"
            raise ValueError(msg)

    @property
    def rpm(self) -> float:
        """The log's own load: requests per minute."""
        return float((self.arrived_s.size - 1) * MINUTE_S / (self.arrived_s[-1] - self.arrived_s[0]))

    def evened(self, over_s: float) -> Self:
        """The log with the same load in all stretches of about `over_s` seconds; arrivals within one stay, and silent ones fall out.

        Slow changes are the load itself, which a step must hold steady to be called by one rate, and which floors follow; what is left is
        the pattern of arrivals. Raises ValueError unless over_s is above 0.
        """
        check_positive("over_s", over_s, "seconds")
        since = self.arrived_s - self.arrived_s[0]
        windows = max(1, round(since[-1] / over_s))  # as wide as divides the log, so that none is cut short
        place = since * (windows / since[-1])
        window = np.minimum(place.astype(np.int64), windows - 1)
        counts = np.bincount(window, minlength=windows)
        before = np.cumsum(counts) - counts
        in_turn = before[window] + (place - window) * counts[window]  # a window takes as long as its share of the requests
        return type(self)(arrived_s=in_turn * (since[-1] / since.size), input_tokens=self.input_tokens, output_tokens=self.output_tokens)

    def typical_start(self, least: int) -> int:
        """Where a stretch begins whose mean token lengths are the nearest to the log's, for `least` requests and every doubling of them.

        The same start for every step of a search: the larger ones replay the smaller ones' requests and go on, and every one has the mix.
        """
        size = self.arrived_s.size
        total = np.zeros(size)
        for lengths in (self.input_tokens, self.output_tokens):
            sums = np.concatenate([[0.0], np.cumsum(np.concatenate([lengths, lengths]))])  # the log is a ring
            count = least
            while count < size:
                total += np.abs((sums[count : count + size] - sums[:size]) / (count * lengths.mean()) - 1)
                count *= 2
        return int(np.argmin(total))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """One step: requests to be sent at `at_s` seconds from its start, each array of shape (n,).

    rate_rpm: the load after the first `warm_up` requests, which are sent to fill the replica and measured by nobody.
    """

    rate_rpm: float
    warm_up: int
    at_s: Floats = field(repr=False)
    input_tokens: Floats = field(repr=False)
    output_tokens: Floats = field(repr=False)

    @property
    def span_s(self) -> float:
        """Seconds until the last is sent."""
        return float(self.at_s[-1])


WARM_UP_RATIO = 0.2


def scheduled(log: RequestLog, rate_rpm: float, *, start: int, seconds: float, least: int) -> Schedule:
    """The log from request `start` on, at another rate: time is stretched, and the pattern of arrivals and the lengths stay.

    As many requests as the rate brings in `seconds`, at least `least`, at most all: the log is a ring, and no request is sent twice. After
    a fifth of them, the warm-up, the rate is exactly `rate_rpm`.
    """
    check_positive("rate_rpm", rate_rpm, "rpm")
    size = log.arrived_s.size
    count = min(size, max(least, round(rate_rpm * seconds / MINUTE_S)))
    chosen = (start + np.arange(count)) % size
    once_around_s = log.arrived_s[-1] - log.arrived_s[0] + MINUTE_S / log.rpm
    arrived_s = log.arrived_s[chosen] + np.where(chosen < start, once_around_s, 0.0)
    warm_up = int(count * WARM_UP_RATIO)
    measured_s = arrived_s[-1] - arrived_s[warm_up]
    if measured_s <= 0:
        msg = f"requests {start} to {start + count} of the log arrived at once: no rate can be kept over them"
        raise ValueError(msg)
    stretch = (count - 1 - warm_up) * MINUTE_S / rate_rpm / measured_s
    return Schedule(
        rate_rpm=rate_rpm,
        warm_up=warm_up,
        at_s=(arrived_s - arrived_s[0]) * stretch,
        input_tokens=log.input_tokens[chosen],
        output_tokens=log.output_tokens[chosen],
    )

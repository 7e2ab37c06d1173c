"""The largest load until a replica that is asked for now could serve, as quantiles, given what the last minutes brought.

With E the largest median over the lead window from now, and d5, d15, d120 the logarithms of live load over median in the last 5, 15 and
120 minutes, at a level and an hour of the day

    log(largest + offset) = log(E + offset) + base + w5 d5 + w15 d15 + w120 d120 + sigma(E) x tail(level, hour)

| the workload                            | what was learned of it                                                         |
|-----------------------------------------|--------------------------------------------------------------------------------|
| deviations last                         | weights near 1: the quantile moves with live load and is narrow                |
| deviations are noise                    | weights near 0: the quantile stays with the forecast                           |
| surges come at certain hours            | long tails there: the quantile is high before them and low for the rest of the day |
| jumps do not grow with the load         | sigma falls with E: much room by night, little by day                          |

The largest minute of a bucket counts, not its mean: bursts inside of a bucket are part of the tails. A quantile stops at 1.2 times the
largest minute of the last week, 1.2 times the median or 1.5 times live load, whichever is most: beyond, a tail is arithmetic and not
experience.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Self

import numpy as np

from forecaster.series import Floats, frozen_floats, reduce_frozen
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_instant, check_level, check_not_negative, check_positive

SPANS_S = (5 * MINUTE_S, 15 * MINUTE_S, 120 * MINUTE_S)
"""The spans over which live load is compared with the median."""
FINEST_S = 5 * MINUTE_S
"""Within longer buckets the median is taken to run straight from one stamp to the next, and looked at this often."""
HOURS = DAY_S // HOUR_S


def steps_ahead(window_steps: int, step_s: int) -> float:
    """How far a nowcast looks ahead, in buckets: over the lead window, of whose last one no more than FINEST_S where they are longer.

    Floors are decided that often, so none of them has to carry the rest of it.
    """
    return window_steps if step_s <= FINEST_S else window_steps - 1 + FINEST_S / step_s


_MOST_RATIO, _MOST_LIVE_RATIO = 1.2, 1.5
_LEAST_LOG = -7.0  # a load that vanished has a logarithm, too


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nowcast:
    """What was learned of a workload's deviations; the formula is above.

    weights: of d5, d15, d120, each at least 0. lulls: the lowest of each that is believed: live load that falls further than it did on
    99 of 100 quarters of an hour is a broken gauge as likely as a lull, and a lull has its own rule. spread: log sigma at E = 1 - offset,
    and what it gains as log(E + offset) grows by 1.
    tails: in sigmas, one row an hour from `day_start` (a local midnight) on, rising along `levels`, shape (24, levels). most: the largest
    minute of the last week. offset, most: in the signal's unit. days: measured days that it was learned from.
    """

    weights: tuple[float, ...]
    lulls: tuple[float, ...]
    base: float
    spread: tuple[float, ...]
    levels: tuple[float, ...]
    tails: Floats = field(repr=False)
    offset: float
    most: float
    day_start: datetime
    days: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "tails", frozen_floats(self.tails, ndim=2, name="nowcast.tails"))
        if len(self.weights) != len(SPANS_S) or not all(0 <= weight < math.inf for weight in self.weights):
            msg = f"nowcast.weights must be {len(SPANS_S)}, finite and at least 0, got {self.weights}"
            raise ValueError(msg)
        if len(self.lulls) != len(SPANS_S) or not all(-math.inf < lull <= 0 for lull in self.lulls):
            msg = f"nowcast.lulls must be {len(SPANS_S)}, finite and at most 0, got {self.lulls}"
            raise ValueError(msg)
        if len(self.spread) != 2 or not all(map(math.isfinite, (self.base, *self.spread))):  # noqa: PLR2004  a line has two numbers
            msg = f"nowcast.base and the two numbers of nowcast.spread must be finite, got {self.base}, {self.spread}"
            raise ValueError(msg)
        if not self.levels or self.tails.shape != (HOURS, len(self.levels)) or not (np.diff(self.tails, axis=1) >= 0).all():
            msg = f"nowcast.tails must rise along {len(self.levels)} levels in each of {HOURS} hours, got {self.tails.shape}"
            raise ValueError(msg)
        for level in self.levels:
            check_level("nowcast.levels", level)
        if any(a >= b for a, b in pairwise(self.levels)):
            msg = f"nowcast.levels must increase, got {self.levels}"
            raise ValueError(msg)
        check_positive("nowcast.offset", self.offset, "")
        check_not_negative("nowcast.most", self.most, "")
        check_instant("nowcast.day_start", self.day_start)
        check_not_negative("nowcast.days", self.days, "days")

    __reduce__ = reduce_frozen

    def times(self, ratio: float) -> Self:
        """The same of a load that is so many times as high."""
        check_positive("ratio", ratio, "")
        log_sigma = self.spread[0] - self.spread[1] * math.log(ratio)
        return replace(self, spread=(log_sigma, self.spread[1]), offset=self.offset * ratio, most=self.most * ratio)

    def deviation(self, load: float, median: float) -> float:
        """The logarithm of a live load over its median."""
        return max(_LEAST_LOG, math.log((load + self.offset) / (median + self.offset)))

    def largest_at(self, level: float, now: datetime, expected: float, seen: "Seen") -> float:
        """The quantile at a level of the largest load ahead, where `expected` is the largest median; never below 0.

        It does not fall when the level, the median or a deviation rises, as long as sigma does not shrink faster than the load grows.
        """
        log_expected = math.log(expected + self.offset)
        sigma = math.exp(self.spread[0] + self.spread[1] * log_expected)
        moved = self.base + math.fsum(w * max(d, lull) for w, d, lull in zip(self.weights, seen.deviations, self.lulls, strict=True))
        hour = int((now - self.day_start).total_seconds() // HOUR_S) % HOURS
        log_largest = log_expected + moved + sigma * self._tail(hour, level)
        most = max(_MOST_RATIO * max(self.most, expected), _MOST_LIVE_RATIO * seen.load)
        return max(0.0, min(most, math.exp(min(log_largest, 700.0)) - self.offset))

    def _tail(self, hour: int, level: float) -> float:
        """Between the levels that were learned a straight line, beyond them the outermost."""
        last = len(self.levels) - 1
        i = min(max(bisect_right(self.levels, level) - 1, 0), last - 1) if last else 0
        if not last:
            return float(self.tails[hour, 0])
        low, high = self.levels[i], self.levels[i + 1]
        share = min(1.0, max(0.0, (level - low) / (high - low)))
        return float(self.tails[hour, i] + share * (self.tails[hour, i + 1] - self.tails[hour, i]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Live load now: its deviations over SPANS_S as logarithms, and its mean over the last 15 minutes in the signal's unit."""

    deviations: tuple[float, ...]
    load: float

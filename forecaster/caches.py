"""What caches take off a load: answers that are kept come off arrivals, prefixes that are kept off prefill only.

    left of requests and tokens = (1 - share x prefix hits) / (1 - share x prefix hits when capacity was measured)
    left of requests, besides, x (1 - answered by a cache)

share: the part of a request's service that is prefill while nothing is kept: 1 in a pool that does nothing else, 0 in one that decodes.

| arrivals 1,000 rpm, 60 rpm a replica                        | floor |
|-------------------------------------------------------------|-------|
| no cache, or one of which nothing is known                  | 17    |
| 40 % answered by a cache                                    | 10    |
| 50 % of prompt tokens kept, prefill is 30 % of a request    | 15    |
| the same, in a pool of the role decode                      | 17    |
| both                                                        | 9     |

Requests in flight are taken as they are measured: they are short of what caches took already. Counted on are low quantiles of the days
before, since caches are emptied; what is not known takes nothing off. Source: the planner of NVIDIA Dynamo, which takes the hits of its
KV cache off the prefill that it plans for, and nothing off decode.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from forecaster.reasons import Code, Reason
from forecaster.series import Series, Signal
from forecaster.units import DAY_S, check_positive

_LEAST_MEASURED_S = DAY_S
"""A cache that was seen for less than a day is not known: its bad hours may still come."""
_TAUGHT = "capacity was learned from production with them, so nothing more comes off"
_LEAST_LEFT = 0.01
"""No cache takes more than 99 %: a load of nothing at all would have no deviation that live load could be held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Shares, 0 to 1, None = not known: of requests that a cache answers, and of prompt tokens that an engine has kept."""

    responses: float | None = None
    prefix: float | None = None

    def __post_init__(self) -> None:
        for name, ratio in (("responses", self.responses), ("prefix", self.prefix)):
            if ratio is not None and not 0 <= ratio <= 1:
                msg = f"hits.{name} must lie within 0 and 1, got {ratio:g}"
                raise ValueError(msg)

    def of(self, signal: Signal) -> float | None:
        """The share that a signal tells, None for one that tells none."""
        return {Signal.RESPONSE_HITS: self.responses, Signal.PREFIX_HITS: self.prefix}.get(signal)

    def lowered(self, live: "Hits") -> "Hits":
        """The smaller of both, where both are known: a plan counts on no more than there is, and live load on no more than the plan."""
        return Hits(responses=_smaller(self.responses, live.responses), prefix=_smaller(self.prefix, live.prefix))


EMPTY = Hits(responses=0.0, prefix=0.0)
"""Every cache was emptied just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How much of a share of hits is counted on: its quantile over so many days before."""

    quantile: float = 0.05
    days: int = 7

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1:
            msg = f"cache quantile must lie within 0 and 1, got {self.quantile:g}"
            raise ValueError(msg)
        check_positive("cache days", self.days, "days")

    def of(self, measured: Series) -> float | None:
        """The share that is counted on, one of those that were measured; None where less than a day was."""
        known = measured.mean[~np.isnan(measured.mean)]
        if known.size * measured.step_s < _LEAST_MEASURED_S:
            return None
        return float(np.quantile(known, self.quantile, method="lower"))

    @property
    def told(self) -> str:
        """`P5 of 7 days`."""
        return f"P{self.quantile * 100:g} of {self.days:g} days"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caches:
    """The caches before a pool and in it.

    responses, prefix: what is counted on of either, None = it takes nothing off. prefill_ratio: the part of a request's service that is
    prefill while nothing is kept. measured: the hits that the pool's capacity was measured with; taught: production taught it, so that it
    is in terms of what arrives with the caches as they are. hits: those that are counted on now. lost: those that what is measured behind
    the caches lacks, once they are gone (`emptied`).
    """

    responses: Counted | None = None
    prefix: Counted | None = None
    prefill_ratio: float = 0.0
    measured: Hits = field(default_factory=Hits)
    taught: bool = False
    hits: Hits = field(default_factory=Hits)
    lost: Hits = field(default_factory=Hits)

    def __post_init__(self) -> None:
        if not 0 <= self.prefill_ratio <= 1:
            msg = f"cache prefill share must lie within 0 and 1, got {self.prefill_ratio:g}"
            raise ValueError(msg)

    @property
    def counted(self) -> dict[Signal, Counted]:
        """The shares that are counted on, by the signal that tells them."""
        both = {Signal.RESPONSE_HITS: self.responses, Signal.PREFIX_HITS: self.prefix if self.prefill_ratio else None}
        return {signal: counted for signal, counted in both.items() if counted is not None}

    def left(self, signal: Signal) -> float:
        """What is left of a load signal, 1 = all of it.

        Above 1 only where hits are fewer than capacity was measured with, and where caches were emptied: tokens and requests in flight then
        come back of those that a cache answered, and prefill takes its time again.
        """
        match signal:
            case Signal.RPM:
                return max(_LEAST_LEFT, self._arrivals * self._prefill)
            case Signal.TOKENS:
                return max(_LEAST_LEFT, self._prefill) / self._unanswered(self.lost)
            case Signal.CONCURRENCY:
                return 1 / (self._unanswered(self.lost) * self._work(self.lost))
            case _:
                return 1.0

    def counting(self, hits: Hits) -> Self:
        """The same with what is counted on. Of a capacity that production taught nothing comes off: it has them already."""
        return replace(self, hits=hits, measured=hits if self.taught else self.measured)

    def emptied(self, usual: Hits) -> Self:
        """The same once all is gone that they have. usual: the hits that load was measured with behind them."""
        return replace(self, hits=EMPTY, lost=usual)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What comes off and what is not known, in words."""
        return tuple(self._reasons())

    @property
    def _arrivals(self) -> float:
        return 1.0 if self.hits.responses is None else self._unanswered(self.hits) / self._unanswered(self.measured)

    @property
    def _prefill(self) -> float:
        return 1.0 if self.hits.prefix is None else self._work(self.hits) / self._work(self.measured)

    def _unanswered(self, hits: Hits) -> float:
        return 1.0 if self.responses is None or hits.responses is None else max(_LEAST_LEFT, 1 - hits.responses)

    def _work(self, hits: Hits) -> float:
        return 1.0 if self.prefix is None or hits.prefix is None else max(_LEAST_LEFT, 1 - self.prefill_ratio * hits.prefix)

    def _reasons(self) -> Iterator[Reason]:
        for signal, counted in self.counted.items():
            hits, name = self.hits.of(signal), signal.replace("_", " ")
            if hits is None:
                detail = f"{name} were measured for less than a day of the last {counted.days:g}: nothing comes off for them"
                yield Reason(code=Code.CACHE_UNKNOWN, detail=detail)
            elif signal is Signal.RESPONSE_HITS:
                told, left = f"caches answer {hits:.0%} of requests ({counted.told})", f"{self._arrivals:.2g} of arrivals are left"
                yield Reason(code=Code.CACHE_HITS, detail=f"{told}: {_TAUGHT if self.taught else left}")
            else:
                cold = "" if self.taught or not self.measured.prefix else f", {self.measured.prefix:.0%} when capacity was measured"
                told = f"{hits:.0%} of prompt tokens are kept ({counted.told}){cold}, and prefill is {self.prefill_ratio:.0%} of a request"
                yield Reason(
                    code=Code.CACHE_HITS, detail=f"{told}: {_TAUGHT if self.taught else f'{self._prefill:.2g} of its work is left'}"
                )


def _smaller(planned: float | None, live: float | None) -> float | None:
    return planned if planned is None or live is None else min(planned, live)

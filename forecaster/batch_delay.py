"""How long requests take at an engine of so many slots whose pace depends on how many are taken.

With n requests at the engine, of which at most c are in service, n / service(n) leave a second, and those of a full engine beyond c wait.
Arrivals at a rate r make a birth-death process (Kleinrock 1975, Queueing Systems I, ch. 3):

    p(n) ~ product over k = 1..n of r service(k) / k  for n <= c        p(c + i) = p(c) u^i,  u = r service(c) / c
    P(wait > t) = p(c) / (1 - u) x exp(-(1 - u) c t / (service(c) x variability))

Requests that share an engine make p(n) the same for every distribution of their lengths (Kelly 1979, Reversibility and Stochastic
Networks, ch. 3), so that only the queue needs a correction: variability = (1 + cs^2) / 2 scales its wait, as `forecaster.queueing` has it
after Allen and Cunneen. Service times are lognormal, and the delay of a request is the sum of waits that do not depend on each other:
for a batch to gather, for a slot, and service.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

import numpy as np

from forecaster.series import Floats
from forecaster.units import check_not_negative, check_positive

LEVEL = 0.95
_TAIL_SIGMAS = NormalDist().inv_cdf(LEVEL)
_SERVICES, _WAITS, _GATHERS = 400, 200, 8
_HALVINGS = 30
"""Of the bracket around a P95: to a billionth of it."""
_SCORES = np.array([NormalDist().inv_cdf((i + 0.5) / _SERVICES) for i in range(_SERVICES)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How times spread around their mean: lognormal with this sigma of their logarithm; 0 = all alike."""

    sigma: float

    def __post_init__(self) -> None:
        check_not_negative("shape.sigma", self.sigma, "")

    @classmethod
    def of_tail(cls, p95_over_mean: float) -> Self:
        """From P95 over mean = exp(z sigma - sigma^2 / 2), z = 1.645. No lognormal has more than 3.87: a longer tail counts as that."""
        z = _TAIL_SIGMAS
        return cls(sigma=z - math.sqrt(max(0.0, z * z - 2 * math.log(max(1.0, p95_over_mean)))))

    @classmethod
    def of_variation(cls, variation_ratio: float) -> Self:
        """From standard deviation over mean."""
        return cls(sigma=math.sqrt(math.log1p(variation_ratio**2)))

    @property
    def squared_variation(self) -> float:
        """Variance over squared mean."""
        return math.expm1(self.sigma**2)

    def quantiles_s(self, mean_s: float) -> Floats:
        """The middles of equally likely parts of times with this mean, shape (400,)."""
        return np.asarray(mean_s * np.exp(self.sigma * _SCORES - self.sigma**2 / 2))

    def p95_s(self, mean_s: float) -> float:
        """P95 of times with this mean."""
        return mean_s * math.exp(self.sigma * _TAIL_SIGMAS - self.sigma**2 / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """An engine under a load. waits_ratio: requests that wait for a slot; drain_s: how long they do on average.

    service_s: mean time in service, among as many others as there are. busy_p95: slots that are taken for 95 % of the time at most.
    """

    waits_ratio: float
    drain_s: float
    service_s: float
    busy_p95: int

    @classmethod
    def of(cls, rate: float, services_s: Sequence[float], shape: Shape) -> Self:
        """rate: arrivals a second. services_s: mean time in service with 1, 2, ... slots taken. Raises ValueError for an endless load."""
        slots, times = len(services_s), np.asarray(services_s, dtype=np.float64)
        taken = np.arange(slots + 1)
        used = rate * float(times[-1]) / slots
        check_positive("load.rate", rate, "a second")
        if used >= 1:
            msg = f"load.rate of {rate:g} a second is more than {slots} slots of {times[-1]:g} s serve"
            raise ValueError(msg)
        logs = np.concatenate(([0.0], np.cumsum(np.log(rate * times / taken[1:]))))
        likely = np.exp(logs - logs.max())
        likely[-1] /= 1 - used  # with all that wait
        likely /= likely.sum()
        return cls(
            waits_ratio=float(likely[-1]),
            drain_s=float(times[-1]) * (1 + shape.squared_variation) / 2 / (slots * (1 - used)),
            service_s=float(likely @ taken) / rate,
            busy_p95=max(1, int(np.searchsorted(np.cumsum(likely), LEVEL - 1e-12))),
        )

    def slot_waits(self) -> tuple[Floats, Floats]:
        """Waits for a slot and how likely each is, both of shape (k,): none, or an exponential one in equally likely parts."""
        likely = np.full(_WAITS + 1, self.waits_ratio / _WAITS)
        likely[0] = 1 - self.waits_ratio
        return np.concatenate(([0.0], -self.drain_s * np.log1p(-(np.arange(_WAITS) + 0.5) / _WAITS))), likely


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Requests that are held back until the first of them has waited `wait_s`. alone_ratio: those that are the first."""

    wait_s: float
    alone_ratio: float

    @classmethod
    def of(cls, wait_s: float, rate: float, batch: int) -> Self:
        """At so many arrivals a second; a batch that is full before does not wait on: on average that takes (batch - 1) / rate."""
        check_not_negative("gathered.wait_s", wait_s, "seconds")
        wait_s = min(wait_s, (batch - 1) / rate)
        return cls(wait_s=wait_s, alone_ratio=1 / (1 + rate * wait_s))

    def quantiles_s(self) -> Floats:
        """The middles of equally likely parts: the first waits all of it, others come at any time of it. Shape (k,)."""
        if self.alone_ratio >= 1:  # nobody comes meanwhile
            return np.array([self.wait_s])
        later = (np.arange(_GATHERS) + 0.5) / _GATHERS / (1 - self.alone_ratio)
        return np.asarray(self.wait_s * np.minimum(later, 1.0))


def delay_p95_s(load: Load, gathered: Gathered, services_s: Floats) -> float:
    """P95 of gathering + wait for a slot + service; services_s: the middles of equally likely parts, rising, shape (n,)."""
    slot_s, likely = load.slot_waits()
    before = np.add.outer(gathered.quantiles_s(), slot_s)
    levels = (np.arange(services_s.size) + 0.5) / services_s.size
    low, high = 0.0, float(before.max() + services_s[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        within = np.interp(middle - before, services_s, levels, left=0.0, right=1.0).mean(axis=0) @ likely
        low, high = (middle, high) if within < LEVEL else (low, middle)
    return high

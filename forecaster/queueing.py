"""How many replicas keep requests from waiting: small pools need more than their load alone says.

A replica takes some requests at once, its slots. With c slots in the pool, a requests in service on average and none turned away,

    B(0) = 1,  B(k) = a B(k - 1) / (k + a B(k - 1))        C = B(c) / (1 - (1 - B(c)) a / c)
    P(W > t) = C exp(-(c - a) t / (service x variability))

| pool                                    | replicas for the load | for a P95 wait below a tenth of the service time |
|-----------------------------------------|-----------------------|--------------------------------------------------|
| 1 slot a replica, 2 in service           | 2                     | 5                                                 |
| 1 slot a replica, 50 in service          | 50                    | 60                                                |
| 16 slots a replica, 400 in service       | 25                    | 27                                                |

Sources: Erlang 1917 by the recursion of his loss formula (Cooper 1981, Introduction to Queueing Theory, ch. 3); for gaps and services that
vary otherwise than exponentially the mean wait is scaled by (ca^2 + cs^2) / 2, Allen 1990 (Probability, Statistics and Queueing
Theory, ch. 5) after Cunneen, here the whole tail.
"""

import math
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from forecaster.capacity import Capacity
from forecaster.series import Floats, Signal
from forecaster.units import MINUTE_S, check_positive, whole_replicas, whole_replicas_each

Ints = NDArray[np.int64]

WAIT_LEVEL = 0.95
"""The share of requests that the promise speaks of."""
_FINE = 256
"""Loads are rounded up to nine binary digits, so to .4 % more at most: few different ones are left to be solved."""
_MOST_LOAD = 5_000.0
"""Larger loads are not solved: what this one needs on top grows with the square root of the load at most (Halfin and Whitt 1981)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitSlo:
    """95 % of requests wait no longer than `wait_p95_s` before they are served, which then takes `service_s` on average.

    variability_ratio: half the sum of the squared coefficients of variation of gaps and of service times; 1 = both exponential.
    """

    wait_p95_s: float
    service_s: float
    variability_ratio: float = 1.0

    def __post_init__(self) -> None:
        check_positive("slo.wait_p95_s", self.wait_p95_s, "seconds")
        check_positive("slo.service_s", self.service_s, "seconds")
        check_positive("slo.variability_ratio", self.variability_ratio, "")

    def wait_s(self, slots: int, in_service: float) -> float:
        """P95 of the wait with so many slots and requests in service on average; infinite when load never ends."""
        waits = delayed(slots, in_service)
        if waits <= 1 - WAIT_LEVEL:
            return 0.0
        free = slots - in_service
        return math.inf if free <= 0 else self.service_s * self.variability_ratio * math.log(waits / (1 - WAIT_LEVEL)) / free

    def kept_by(self, waits: Floats, slots: int, in_service: Floats) -> NDArray[np.bool_]:
        """Whether the promise is kept at each load, given the share of requests that wait at all."""
        decay = self.wait_p95_s / (self.service_s * self.variability_ratio)
        tail = waits * np.exp(-np.maximum(slots - in_service, 0.0) * decay)
        kept: NDArray[np.bool_] = (in_service < slots) & (tail <= 1 - WAIT_LEVEL)
        return kept


def slots_of(capacity: Capacity, slo: WaitSlo) -> int | None:
    """Requests that one replica takes at once: its concurrency, else what its rate keeps in service; None when neither is known."""
    if capacity.concurrency is not None:
        return max(1, math.floor(capacity.concurrency))
    return None if capacity.rpm is None else max(1, whole_replicas(capacity.rpm * slo.service_s / MINUTE_S))


def check_kept(capacity: Capacity, slo: WaitSlo) -> None:
    """Refuse a promise that no load can meet or that nothing tells about. Raises ValueError, in words of the configuration."""
    if capacity.tokens is not None and capacity.rpm is None and capacity.concurrency is None:
        msg = "slo needs capacity.rpm or capacity.concurrency beside capacity.tokens, since tokens tell no arrivals"
        raise ValueError(msg)
    if capacity.rpm is None or capacity.concurrency is None:
        return
    most_rpm = capacity.concurrency * MINUTE_S / slo.service_s
    if capacity.rpm > most_rpm * (1 + 1e-9):
        msg = (
            f"no load of {capacity.rpm:g} requests/min a replica can meet the SLO: {capacity.concurrency:g} requests in flight of "
            f"{slo.service_s:g} s each are {most_rpm:.4g} requests/min at most; lower capacity.rpm, raise capacity.concurrency or mend "
            "slo.service"
        )
        raise ValueError(msg)


def in_service_of(slo: WaitSlo, carries: dict[Signal, float]) -> tuple[Signal, float] | None:
    """Requests in service on average where a replica carries its whole load of a signal, and which signal tells it.

    Of requests by Little's law, of concurrency itself; None with neither, since tokens tell no arrivals.
    """
    if Signal.RPM in carries:
        return Signal.RPM, carries[Signal.RPM] * slo.service_s / MINUTE_S
    return (Signal.CONCURRENCY, carries[Signal.CONCURRENCY]) if Signal.CONCURRENCY in carries else None


def delayed(slots: int, in_service: float) -> float:
    """The share of requests that wait at all, Erlang's C: 0 without load, 1 when there is no slot to spare."""
    if in_service >= slots:
        return 1.0
    lost = 1.0
    for k in range(1, slots + 1):
        lost = in_service * lost / (k + in_service * lost)
    return lost / (1 - (1 - lost) * in_service / slots)


def least_replicas(in_service: Floats, slots: int, slo: WaitSlo) -> Ints:
    """The fewest whole replicas of so many slots each that keep the promise at each load, shape of `in_service`.

    Never fewer than the load itself fills, never fewer for more load.
    """
    loads, back = np.unique(_rounded_up(in_service), return_inverse=True)
    solved = _solved(np.minimum(loads, _MOST_LOAD), slots, slo)
    beyond = np.maximum(loads / _MOST_LOAD, 1.0)
    spare = np.maximum(solved - np.minimum(loads, _MOST_LOAD) / slots, 0.0) * np.sqrt(beyond)
    found = np.where(beyond > 1, whole_replicas_each(loads / slots + spare), solved)
    least: Ints = np.maximum(whole_replicas_each(in_service / slots), found[back.reshape(in_service.shape)])
    return least


def _solved(loads: Floats, slots: int, slo: WaitSlo) -> Ints:
    """One recursion over the slots for all loads at once, until each has its replicas."""
    found = np.zeros(loads.size, dtype=np.int64)
    open_ = np.flatnonzero(loads > 0)
    lost = np.ones(open_.size)
    for k in count(1):
        if not open_.size:
            break
        load = loads[open_]
        lost = load * lost
        lost /= k + lost
        if k % slots:
            continue
        waits = lost / np.maximum(1 - (1 - lost) * load / k, np.finfo(np.float64).tiny)
        kept = slo.kept_by(waits, k, load)
        found[open_[kept]] = k // slots
        open_, lost = open_[~kept], lost[~kept]
    return found


def _rounded_up(loads: Floats) -> Floats:
    """Each load rounded up to eight binary digits: the same loads then come again and again."""
    mantissa, exponent = np.frexp(np.maximum(loads, 0.0))
    rounded: Floats = np.ldexp(np.ceil(mantissa * 2 * _FINE) / (2 * _FINE), exponent)
    return rounded

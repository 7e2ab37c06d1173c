"""Whether production confirms what a replica is said to carry.

Over the buckets in which replicas were seen ready and queue or refusals were measured, load per ready replica, as a share of the capacity:

| what was seen                                                                        | finding     |
|--------------------------------------------------------------------------------------|-------------|
| an hour in all between 85 % and 115 % with nothing waiting, never an hour above that | confirmed   |
| an hour in all above 115 % with nothing waiting: a replica carries more              | too low     |
| at 50 % to 85 %, an hour in all and most of the time: something waited               | too high    |
| nothing of that: it was never so busy, or nobody measured what waits                 | not known   |

"Nothing waits" = fewer than one request in the queue on average, and less than 1 % of the requests (one a minute where the load is none)
refused.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats, Series, Signal
from forecaster.units import HOUR_S, check_positive

TOLERANCE_RATIO = 0.15
_BUSY_RATIO = 0.5
_WAITING = 1.0
_REFUSED_RATIO = 0.01


class Finding(StrEnum):
    """What production says of a configured capacity."""

    CONFIRMED = "confirmed"
    TOO_LOW = "too low"
    TOO_HIGH = "too high"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """carried_ratio: the load per replica, as a share of the capacity, that was reached or passed for an hour in all with nothing waiting.

    None = no hour of it was seen. measured_h: hours in which replicas, load and what waits were all known.
    """

    signal: Signal
    capacity: float
    finding: Finding
    carried_ratio: float | None
    measured_h: float


def confirmation(load: Series, ready: Series, pressures: tuple[Series, ...], capacity: float) -> Confirmation:
    """What production says of the load that a replica carries, in the load's unit.

    load: the pool's share. ready: replicas. pressures: queue and refusals of the workload, empty where nobody measures them. All on one
    grid. Raises ValueError when they are not.
    """
    check_positive("capacity", capacity, load.signal.unit)
    if any((s.start, s.step_s, len(s)) != (load.start, load.step_s, len(load)) for s in (ready, *pressures)):
        msg = "load, ready replicas and what waits must share one grid"
        raise ValueError(msg)
    per_hour = max(1, HOUR_S // load.step_s)
    waits = _waits(load, pressures)
    ratio = np.divide(load.mean, ready.mean * capacity, out=np.full(len(load), np.nan), where=ready.mean > 0)
    known = ~np.isnan(ratio) & ~np.isnan(waits)
    calm = np.sort(ratio[known & (waits == 0)])[::-1]
    carried = float(calm[per_hour - 1]) if calm.size >= per_hour else None
    return Confirmation(
        signal=load.signal,
        capacity=capacity,
        finding=_finding(ratio[known], waits[known] > 0, carried, per_hour),
        carried_ratio=carried,
        measured_h=float(np.count_nonzero(known)) * load.step_s / HOUR_S,
    )


def _finding(ratio: Floats, waits: NDArray[np.bool_], carried: float | None, per_hour: int) -> Finding:
    busy = (ratio >= _BUSY_RATIO) & (ratio < 1 - TOLERANCE_RATIO)
    waiting = int(np.count_nonzero(busy & waits))
    if waiting >= per_hour and 2 * waiting > np.count_nonzero(busy):
        return Finding.TOO_HIGH
    if carried is None or carried < 1 - TOLERANCE_RATIO:
        return Finding.UNKNOWN
    return Finding.CONFIRMED if carried <= 1 + TOLERANCE_RATIO else Finding.TOO_LOW


def _waits(load: Series, pressures: tuple[Series, ...]) -> Floats:
    """1 where something waits or is refused, 0 where nothing does, NaN where nobody knows; shape (n,)."""
    waits = np.full(len(load), np.nan)
    for each in pressures:
        shared = each.signal is Signal.REFUSED and load.signal is Signal.RPM
        limit = load.mean * _REFUSED_RATIO if shared else np.full(len(load), _WAITING)
        here = np.where(np.isnan(each.mean) | np.isnan(limit), np.nan, (each.mean > 0) & (each.mean >= limit))
        waits = np.fmax(waits, here)
    return waits

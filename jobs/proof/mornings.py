"""The rises of a record: on each day from its quietest hour to near its peak, which is where a cold start hurts."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.fleet import Ints
from forecaster.simulate.trial import Trial

_HALF_HOUR_MIN = 30
_DAY_HALVES = 48
_NEAR_PEAK = 0.9
_RISE = 1.25
"""A day whose peak is less than so many times the quietest half hour before it has no morning: there is no rise to be late for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Morning:
    """The minutes [first, last) of a trial in which one day's load rose, and the UTC day on which it arrived."""

    day: date
    first: int
    last: int


def mornings(trial: Trial) -> tuple[Morning, ...]:
    """The rise of each whole day of a trial, days counted from the half hour that is quietest on the average day.

    A morning begins with the quietest half hour before the busiest one and ends with the first within 90 % of it; a day whose peak is less
    than 1.25 times that start has none.
    """
    rpm = trial.minutes.rpm[trial.first : trial.last]
    halves = rpm[: rpm.size // _HALF_HOUR_MIN * _HALF_HOUR_MIN].reshape(-1, _HALF_HOUR_MIN).mean(axis=1)
    if halves.size < _DAY_HALVES:
        return ()
    begin = _quietest(halves)
    days = (halves.size - begin) // _DAY_HALVES
    found = (_morning(trial.start, halves, begin + day * _DAY_HALVES) for day in range(days))
    return tuple(morning for morning in found if morning is not None)


def missed(mornings: tuple[Morning, ...], late: Floats, arrivals: Floats, limit_ratio: float) -> tuple[Morning, ...]:
    """The mornings of which more than that share of the requests was late; late and arrivals by minute, shape (n,)."""
    return tuple(one for one in mornings if late[one.first : one.last].sum() > limit_ratio * arrivals[one.first : one.last].sum())


def _quietest(halves: Floats) -> int:
    whole = halves[: halves.size // _DAY_HALVES * _DAY_HALVES]
    return int(whole.reshape(-1, _DAY_HALVES).mean(axis=0).argmin())


def _morning(start: datetime, halves: Floats, first: int) -> Morning | None:
    day = halves[first : first + _DAY_HALVES]
    busiest = int(day.argmax())
    quiet = int(day[: busiest + 1].argmin())
    if day[busiest] < _RISE * day[quiet] or day[busiest] <= 0:
        return None
    near: Ints = np.flatnonzero(day[quiet:] >= _NEAR_PEAK * day[busiest])
    begin, end = first + quiet, first + quiet + int(near[0]) + 1
    arrived = start + timedelta(minutes=end * _HALF_HOUR_MIN - 1)
    return Morning(day=arrived.date(), first=begin * _HALF_HOUR_MIN, last=end * _HALF_HOUR_MIN)

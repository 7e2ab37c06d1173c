"""The level of a day: what a weekday does to it, and which one to expect next. One series at a time, since it is a few dozen numbers."""

from bisect import insort

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats

WEEK = 7
_CLASS_PRIOR_DAYS, _WEEKDAY_PRIOR_DAYS = 1.0, 1.5  # days without effect that are mixed into a weekday's effect on the level
_DAYS_AN_OUTLIER = 14  # in so many days one extreme is set back to the next one: a spike is learnt once it has come twice
_WEEKEND_LOG = 1.0
_LEVEL_GAIN = 0.85  # yesterday's level says most about today's
_CLIP_SIGMAS, _CLIP_AFTER_DAYS, _SIGMA_FLOOR = 4.0, 5, 0.02


def weekday_effects(levels: Floats, weekend: NDArray[np.bool_], ahead: int) -> Floats:
    """What a weekday does to the level, by phase (days d, d + 7, ... before the origin share phase d), shape (7,).

    levels: of each day, the newest first, NaN = unknown. weekend: whether each day is one, led by the `ahead` days after the origin, the
    last one first. The median distance from the mean of the week around, first of the class (workday or weekend), then of the weekday
    within its class, both shrunk: n days count n / (n + prior).
    """
    oldest = 1 + int(np.flatnonzero(~np.isnan(levels))[-1])  # unmeasured days before it are the chunk's, not the series'
    levels, weekend = levels[:oldest], weekend[: ahead + oldest]
    steady = _without_jumps(levels)
    distance = steady - _week_around(steady)
    of_phases = np.zeros(WEEK, dtype=bool)
    of_phases[(np.arange(weekend.size) - ahead) % WEEK] = weekend
    of_days = weekend[ahead:]
    classes = [_shrunk(distance[of_days == kind], _CLASS_PRIOR_DAYS) for kind in (False, True)]
    base = np.where(of_phases, classes[1], classes[0])
    return np.array([base[phase] + _shrunk(distance[phase::WEEK] - base[phase], _WEEKDAY_PRIOR_DAYS) for phase in range(WEEK)])


def expected_level(levels: Floats) -> float:
    """The level to expect next, from days of which the newest comes first: exponential smoothing, robust against one abnormal day.

    An innovation beyond 4 sigma (1.4826 x the median size of the earlier ones) is cut back to that, unless the day before was cut on
    the same side. With too few days to know sigma nothing is cut.
    """
    measured = levels[~np.isnan(levels)][::-1].tolist()
    level, cut = measured[0], 0.0
    sizes: list[float] = []
    for value in measured[1:]:
        innovation = value - level
        most = limit(sizes)
        side = (innovation > most) - (innovation < -most)
        level += _LEVEL_GAIN * (side * most if side and side != cut else innovation)
        cut = side
        insort(sizes, abs(innovation))
    return float(level)


def limit(sizes: list[float]) -> float:
    """4 sigma of deviations given by their sizes in ascending order, infinite while too few are known."""
    if len(sizes) < _CLIP_AFTER_DAYS:
        return np.inf
    return _CLIP_SIGMAS * max(_SIGMA_FLOOR, 1.4826 * sizes[len(sizes) // 2])


def _without_jumps(levels: Floats) -> Floats:
    """The same days with the largest change from day to day, and one more in every fourteen, cut back to the next one in size.

    A launch or a lost client makes one such change, which is no weekday's doing; weekends make four like ones in two weeks and stay.
    Below a factor of e nothing is cut: that may be the first weekend.
    """
    known = np.flatnonzero(~np.isnan(levels))
    changes = np.diff(levels[known])
    cut = 1 + changes.size // _DAYS_AN_OUTLIER
    if changes.size <= cut:
        return levels
    most = max(_WEEKEND_LOG, np.sort(np.abs(changes))[-1 - cut])
    steady = levels.copy()
    steady[known[1:]] = levels[known[0]] + np.cumsum(np.clip(changes, -most, most))
    return steady


def _week_around(levels: Floats) -> Floats:
    """The mean of the measured levels among the seven days around each day, or the newest or oldest seven at the ends."""
    size = levels.size
    known = ~np.isnan(levels)
    total = np.concatenate(([0.0], np.cumsum(np.where(known, levels, 0.0))))
    count = np.concatenate(([0], np.cumsum(known)))
    first = np.clip(np.arange(size) - WEEK // 2, 0, max(0, size - WEEK))
    last = np.minimum(first + WEEK, size)
    mean: Floats = (total[last] - total[first]) / np.maximum(count[last] - count[first], 1)
    return mean


def _shrunk(values: Floats, prior_days: float) -> float:
    values = np.sort(values[~np.isnan(values)])
    if not values.size:
        return 0.0
    middle = (values[(values.size - 1) // 2] + values[values.size // 2]) / 2
    return float(middle) * values.size / (values.size + prior_days)

"""Whether a load comes back at the same time of day or week: without that, no forecast of a day is worth its replicas."""

import numpy as np

from forecaster.series import Floats, Series
from forecaster.units import DAY_S, HOUR_S

_WEEK = 7
_DAYS = 35
"""Four weeks to learn from and one to judge, where there is so much."""
_LEAST_PAST, _LEAST_JUDGED = 3, 3


def cycle_ratio(series: Series) -> float | None:
    """How much closer the same hour of earlier days comes to the load than its level alone: 1 = all the way, 0 or less = no closer.

    1 - sum |load - median of the same hour| / sum |load - median of all hours|, over hourly means of the last five weeks. A day
    is compared with the week before it, and with its weekday in the weeks before, as it was and over its own mean: growth and days
    of unlike size hide no shape. The best of these counts. None where fewer than three days can be judged so. It is a mean absolute
    scaled error (Hyndman and Koehler 2006) with the flat median as the scale.
    """
    days = _days(series)
    ratios = [ratio for form in (days, _shapes(days)) for ratio in _ratios(form)]
    return max(ratios, default=None)


def _ratios(days: Floats) -> list[float]:
    """What the cycle of the day, and that of the week, take away from the error of the level, as far as they can be judged."""
    level = np.full(days.shape, np.nan)
    daily, weekly = level.copy(), level.copy()
    for day in range(_LEAST_PAST, len(days)):
        week = days[max(0, day - _WEEK) : day]
        level[day] = _median(week.reshape(-1, 1))
        daily[day] = _median(week)
        weekly[day] = _median(days[day % _WEEK : day : _WEEK])
    found = [_closer(days, cycle, level) for cycle in (daily, weekly)]
    return [ratio for ratio in found if ratio is not None]


def _shapes(days: Floats) -> Floats:
    """Each day over its own mean; one without load, or not measured, has no shape."""
    total = np.nansum(days, axis=1, keepdims=True)
    mean = total / np.maximum(np.count_nonzero(~np.isnan(days), axis=1, keepdims=True), 1)
    shapes: Floats = np.where(mean > 0, days / np.where(mean > 0, mean, 1.0), np.nan)
    return shapes


def _days(series: Series) -> Floats:
    """Hourly means by UTC day, the oldest first, shape (days, hours); NaN = not measured. A coarser series keeps its step."""
    hourly = series.coarser(HOUR_S) if HOUR_S % series.step_s == 0 else series
    per_day = max(1, DAY_S // hourly.step_s)
    lead = int(hourly.times_s()[0] % DAY_S) // hourly.step_s if len(hourly) else 0
    padded = np.pad(hourly.mean, (lead, -(lead + len(hourly)) % per_day), constant_values=np.nan)
    return padded.reshape(-1, per_day)[-_DAYS:]


def _closer(days: Floats, cycle: Floats, level: Floats) -> float | None:
    """The share of the level's error that the cycle takes away, over the hours in which both have a say."""
    both = ~np.isnan(days) & ~np.isnan(cycle) & ~np.isnan(level)
    if np.count_nonzero(both.any(axis=1)) < _LEAST_JUDGED:
        return None
    flat = float(np.abs(days - level)[both].sum())
    return 1 - float(np.abs(days - cycle)[both].sum()) / flat if flat > 0 else 0.0


def _median(rows: Floats) -> Floats:
    """The median of what was measured in each column, NaN where nothing was; numpy's own warns of such columns."""
    if not len(rows):
        return np.full(rows.shape[1], np.nan)
    ordered = np.sort(rows, axis=0)
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    columns = np.arange(count.size)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(rows) - 1)
    middle: Floats = (ordered[low, columns] + ordered[high, columns]) / 2
    return middle

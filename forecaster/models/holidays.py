"""What holidays do to each series: learned from its own past ones, shrunk, and added to what ordinary days let expect.

A holiday is no Sunday: batch traffic does not know it, a shop's is larger. What is not seen in a series' own history is not assumed.
"""

from dataclasses import replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.models.past import Past
from forecaster.models.rows import medians
from forecaster.models.wallclock import WallClock
from forecaster.series import Floats
from forecaster.units import DAY_S

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_WEEKS = (-3, -2, -1, 1, 2, 3)
_PRIOR_HOLIDAYS = 1.0
"""Holidays without any effect that every series is taken to have had: one alone may have been chance and counts half."""
_LEAST_DAYS = 3
_LEAST_RATIO = 0.5


def holidays_around(past: Past, calendar: Calendar, reach: int) -> frozenset[int]:
    """The holidays from the first day of a past to the last one of a horizon of `reach` slots, as local days since 1970-01-01."""
    clock = past.clock
    first, last = _days(clock, np.array([-past.days * clock.per_day, max(reach - 1, 0)]))
    return calendar.holiday_days(_date(first), _date(last))


def without(past: Past, holidays: frozenset[int]) -> Past:
    """The past with holidays as not measured: what ordinary days are learned from. holidays: local days since 1970-01-01.

    A series that would keep less than three days, or less than half of what was measured, keeps all. The same past where there
    is none to leave out.
    """
    slots = np.arange(-past.days * past.clock.per_day, 0)
    hidden = np.isin(_days(past.clock, slots), list(holidays))
    if not hidden.any():
        return past
    logs = past.logs.copy()
    logs[:, hidden.reshape(past.days, -1)[::-1]] = np.nan
    before, after = (np.count_nonzero(~np.isnan(each), axis=(1, 2)) for each in (past.logs, logs))
    short = after < np.maximum(_LEAST_DAYS * past.clock.per_day, _LEAST_RATIO * before)
    logs[short] = past.logs[short]
    return replace(past, logs=logs)


def effects(past: Past, holidays: frozenset[int]) -> Floats:
    """log(load on a holiday / load expected on an ordinary day) of each series, shape (series,); 0 where no holiday was seen.

    The mean over the n past holidays times n / (n + 1). Of one holiday: the median over the same weekdays up to three weeks around it,
    none of them a holiday, of the log ratio of the loads' sums over the slots that both have; it counts where they share half a day.
    """
    total, seen = np.zeros(len(past.names)), np.zeros(len(past.names))
    first, last = (int(day) for day in _days(past.clock, np.array([-past.days * past.clock.per_day, -1])))
    for holiday in (day for day in sorted(holidays) if first <= day <= last):
        load = _loads_of(past, holiday)
        ordinary = [day for week in _WEEKS if (day := holiday + 7 * week) not in holidays and first <= day <= last]
        ratios = medians(np.array([_log_ratio(load, _loads_of(past, day)) for day in ordinary]).reshape(1, -1, len(total)))[0]
        known = ~np.isnan(ratios)
        total[known] += ratios[known]
        seen += known
    return total / (seen + _PRIOR_HOLIDAYS)


def adjustments(past: Past, effect: Floats, holidays: frozenset[int], reach: int) -> Floats:
    """What is to be added to the logarithms of the slots 0 .. reach - 1 after the origin, shape (series, reach); 0 on ordinary days."""
    on_holiday = np.isin(_days(past.clock, np.arange(reach)), list(holidays))
    added: Floats = np.where(on_holiday, effect[:, None], 0.0)
    return added


def _log_ratio(load: Floats, other: Floats) -> Floats:
    """log(sum of one / sum of the other) over the slots that both have; NaN where these are less than half a day."""
    both = ~np.isnan(load) & ~np.isnan(other)
    enough = np.count_nonzero(both, axis=1) * 2 >= load.shape[1]
    sums = (np.where(both, each, 0.0).sum(axis=1) for each in (load, other))
    over, under = (np.where(enough, each, np.nan) for each in sums)
    ratio: Floats = np.log(over) - np.log(under)
    return ratio


def _loads_of(past: Past, day: int) -> Floats:
    """Load and offset on a local day, shape (series, per_day); NaN where the past does not reach."""
    clock = past.clock
    slots = -((clock.local_s - day * DAY_S) // clock.step_s) + np.arange(clock.per_day)
    within = (slots < 0) & (slots >= -past.days * clock.per_day)
    loads = np.full((len(past.names), clock.per_day), np.nan)
    inside = slots[within]
    loads[:, within] = np.exp(past.logs[:, (-1 - inside) // clock.per_day, inside % clock.per_day])
    return loads


def _days(clock: WallClock, slots: NDArray[np.int64]) -> NDArray[np.int64]:
    """The local day on which each slot begins, since 1970-01-01."""
    days: NDArray[np.int64] = (clock.local_s + slots * clock.step_s) // DAY_S
    return days


def _date(day: np.int64) -> date:
    return date.fromordinal(int(day) + _EPOCH_ORDINAL)

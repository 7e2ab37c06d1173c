"""Robust profile x level: the default model."""

from bisect import insort
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast, Horizon, State
from forecaster.models.hindcast import Paths, log_offset
from forecaster.models.issue import Request, issue
from forecaster.models.stamp import check_stamp, stamp
from forecaster.models.wallclock import History, filled, middle
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S

_VERSION = 1
_WEEK = 7
_HALF_LIFE_DAYS = 21.0  # of a day's weight: a month of history counts, a season ago hardly does
_CLASS_WEIGHT, _OTHER_WEIGHT = 0.15, 0.02  # of a day of the same class (workday, weekend) and of the other, the same weekday being 1
_CLASS_PRIOR_DAYS, _WEEKDAY_PRIOR_DAYS = 1.0, 1.5  # days without effect that are mixed into a weekday's effect on the level
_DAYS_AN_OUTLIER = 14  # in so many days one extreme is set back to the next one: a spike is learnt once it has come twice
_WEEKEND_LOG = 1.0
_LEVEL_GAIN = 0.85  # yesterday's level says most about today's
_CLIP_SIGMAS, _CLIP_AFTER_DAYS, _SIGMA_FLOOR = 4.0, 5, 0.02
_RECENT_A_DAY, _RECENT_GAIN = 8, 0.6  # the last three hours: less is noise, more is late
_SMOOTH_A_DAY = 48
_SPIKE_SQUARED = 4.0  # a slot that stands out by more than two standard errors is a spike and is kept


class Profile:
    """log(load) = profile of the time of day and weekday + effect of the weekday on the level + level of the day.

    The profile is a recency-weighted mean over winsorised days, mostly of the same weekday; spikes that repeat are kept, the rest is
    smoothed over half an hour. The level is each day's median distance from the profile, smoothed exponentially; the deviation of the
    last three hours fades over a day. One abnormal day moves the level by 4 of its usual sigmas at most; a second one on the same
    side is a level shift and is followed at once.

    Reference: decomposition by medians as in STL (Cleveland et al. 1990), level by exponential smoothing (Holt 1957).
    Cost: about 0.04 CPU-s a series of 8 weeks at 5 minutes, nearly all of it for the hindcasts behind its quantiles.
    """

    name = "profile"
    minimum_history_s = 2 * DAY_S

    def fit(self, panel: Panel, now: datetime) -> State:
        """A stamp only: a profile is cheaper to compute again than to keep."""
        return stamp(self.name, _VERSION, panel, now)

    def forecast(self, panel: Panel, state: State, horizon: Horizon, levels: tuple[float, ...], calendar: Calendar) -> tuple[Forecast, ...]:
        """One forecast a series. Raises NotEnoughHistory below two days and StateIncompatible."""
        check_stamp(state, self.name, _VERSION, panel, horizon)
        request = Request(model=self.name, minimum_history_s=self.minimum_history_s, horizon=horizon, levels=levels, calendar=calendar)
        return issue(panel, request, _draw)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Past:
    """What one origin may know. Row d lies d + 1 days before it.

    logs: (days, slots). weekends: (ahead + days, slots), from the last day ahead back to the oldest. midnight: the first slot of the
    next local day, so that within a row the slots before it and those from it on have one weekday each.
    """

    logs: Floats = field(repr=False)
    weekends: NDArray[np.bool_] = field(repr=False)
    ahead: int
    midnight: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Days:
    """The profile of each day from the newest measured one to the last one ahead: mean and squared standard error, (1 + ahead, slots)."""

    mean: Floats = field(repr=False)
    error2: Floats = field(repr=False)


def _draw(history: History, origins: int, reach: int) -> Paths:
    """The median path from the horizon's start and from each of `origins` days before it."""
    clock = history.clock
    offset = log_offset(history.days)
    logs = np.log(history.days + offset)
    ahead = -(-reach // clock.per_day)
    slots = np.arange(-len(logs) * clock.per_day, ahead * clock.per_day).reshape(-1, clock.per_day)
    weekends = clock.weekend(slots)[::-1]
    shapes = logs - middle(logs.T)[:, None]
    median = np.empty((origins + 1, reach))
    for day in range(origins + 1):
        past = _Past(logs=logs[day:], weekends=weekends[day:], ahead=ahead, midnight=clock.midnight)
        median[day] = _path(past, middle(shapes[day:]))[:reach]
    return Paths(median=np.exp(median) - offset)


def _path(past: _Past, profile: Floats) -> Floats:
    """The log load of the days ahead of one origin, shape (ahead x slots,); NaN where nothing was measured before it."""
    levels = _levels(past.logs, profile)
    if np.isnan(levels).all():
        return np.full(past.ahead * profile.size, np.nan)
    shapes = past.logs - levels[:, None]
    effects = _weekday_effects(levels, past)
    level = _smoothed(levels - effects[np.arange(levels.size) % _WEEK])
    days = _profiles(_winsorised(shapes), past)
    path = _denoised(days) + np.repeat(effects[_phases(past.ahead)[1:]], profile.size) + level
    fade = np.exp(-(np.arange(path.size) + 0.5) / profile.size)
    newest: Floats = path + _RECENT_GAIN * _recent(shapes - days.mean[0], levels[0] - effects[0] - level) * fade
    return newest


def _levels(logs: Floats, profile: Floats) -> Floats:
    """The median distance of each day from the profile, NaN for a day of which less than two hours were measured."""
    distance = logs - profile
    measured = np.count_nonzero(~np.isnan(distance), axis=1)
    return np.where(measured >= max(1, profile.size // 12), middle(distance.T), np.nan)


def _phases(ahead: int) -> NDArray[np.int64]:
    """The weekday of the newest day (0) and of each day ahead, as the index of the last measured day that shares it."""
    return -np.arange(ahead + 1) % _WEEK


def _weekday_effects(levels: Floats, past: _Past) -> Floats:
    """What a weekday does to the level, by phase (rows d, d + 7, ... share phase d), shape (7,).

    The median distance from the mean of the week around, first of the class (workday or weekend), then of the weekday within its class,
    both shrunk: n days count n / (n + prior).
    """
    steady = _without_jumps(levels)
    distance = steady - _week_around(steady)
    noons = past.weekends[:, past.weekends.shape[1] // 2]
    weekend = np.zeros(_WEEK, dtype=bool)
    weekend[(np.arange(noons.size) - past.ahead) % _WEEK] = noons
    of_rows = noons[past.ahead :]
    classes = [_shrunk(distance[of_rows == kind], _CLASS_PRIOR_DAYS) for kind in (False, True)]
    base = np.where(weekend, classes[1], classes[0])
    return np.array([base[phase] + _shrunk(distance[phase::_WEEK] - base[phase], _WEEKDAY_PRIOR_DAYS) for phase in range(_WEEK)])


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
    limit = max(_WEEKEND_LOG, np.sort(np.abs(changes))[-1 - cut])
    steady = levels.copy()
    steady[known[1:]] = levels[known[0]] + np.cumsum(np.clip(changes, -limit, limit))
    return steady


def _week_around(levels: Floats) -> Floats:
    """The mean of the measured levels among the seven days around each day, or the newest or oldest seven at the ends."""
    size = levels.size
    known = ~np.isnan(levels)
    total = np.concatenate(([0.0], np.cumsum(np.where(known, levels, 0.0))))
    count = np.concatenate(([0], np.cumsum(known)))
    first = np.clip(np.arange(size) - _WEEK // 2, 0, max(0, size - _WEEK))
    last = np.minimum(first + _WEEK, size)
    mean: Floats = (total[last] - total[first]) / np.maximum(count[last] - count[first], 1)
    return mean


def _shrunk(values: Floats, prior_days: float) -> float:
    values = values[~np.isnan(values)]
    return float(np.median(values)) * values.size / (values.size + prior_days) if values.size else 0.0


def _smoothed(levels: Floats) -> float:
    """The level to expect next: exponential smoothing from old to new over measured days, robust against one abnormal day.

    An innovation beyond 4 sigma (1.4826 x the median size of the earlier ones) is cut back to that, unless the day before was cut on
    the same side. With too few days to know sigma nothing is cut.
    """
    measured = levels[~np.isnan(levels)][::-1]
    level, cut = float(measured[0]), 0.0
    sizes: list[float] = []
    for value in measured[1:]:
        innovation = float(value) - level
        limit = _limit(sizes)
        side = float(np.sign(innovation)) if abs(innovation) > limit else 0.0
        if side and side != cut:
            level += _LEVEL_GAIN * side * limit
        else:
            level += _LEVEL_GAIN * innovation
        cut = side
        insort(sizes, abs(innovation))
    return level


def _limit(sizes: list[float]) -> float:
    """4 sigma of deviations given by their sizes in ascending order, infinite while too few are known."""
    if len(sizes) < _CLIP_AFTER_DAYS:
        return np.inf
    return _CLIP_SIGMAS * max(_SIGMA_FLOOR, 1.4826 * sizes[len(sizes) // 2])


def _recent(residuals: Floats, level_gap: float) -> float:
    """The median deviation of the last three hours from profile and level, cut back to 4 sigma of what it was on other days."""
    last = residuals[:, -max(1, residuals.shape[1] // _RECENT_A_DAY) :]
    by_day = middle(last.T)
    deviation = by_day[0] + level_gap
    if np.isnan(deviation):
        return 0.0
    others = by_day[1:]
    limit = _limit(sorted(np.abs(others[~np.isnan(others)])))
    return float(np.clip(deviation, -limit, limit))


def _winsorised(shapes: Floats) -> Floats:
    """Per slot, the most extreme day in fourteen on each side set back to the next one.

    With fewer days there is no next one to trust, and a day may differ from the middle one by a factor of e.
    """
    cut = len(shapes) // _DAYS_AN_OUTLIER
    if not cut:
        usual = middle(shapes)
        return np.clip(shapes, usual - _WEEKEND_LOG, usual + _WEEKEND_LOG)
    ordered = np.sort(shapes, axis=0)
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    low = np.minimum(cut, np.maximum(count - 1, 0) // 2)
    high = np.maximum(count - 1 - low, 0)
    slots = np.arange(count.size)
    return np.clip(shapes, ordered[low, slots], ordered[high, slots])


def _profiles(shapes: Floats, past: _Past) -> _Days:
    """The weighted mean of past days for the newest day and each day ahead, and the square of its standard error."""
    rows = np.arange(len(shapes))
    recency = 0.5 ** (rows / _HALF_LIFE_DAYS)
    same_weekday = rows % _WEEK == _phases(past.ahead)[:, None]
    measured = (~np.isnan(shapes)).astype(np.float64)
    values = np.nan_to_num(shapes)
    mean = np.empty((past.ahead + 1, shapes.shape[1]))
    error2 = np.empty_like(mean)
    for part in (slice(past.midnight), slice(past.midnight, None)) if past.midnight else (slice(None),):
        kinds = past.weekends[:, part][:, :1]
        of_targets, of_rows = kinds[past.ahead :: -1], kinds[past.ahead :].T
        weights = recency * np.where(same_weekday, 1.0, np.where(of_targets == of_rows, _CLASS_WEIGHT, _OTHER_WEIGHT))
        total = weights @ measured[:, part]
        some = np.maximum(total, 1e-12)
        mean[:, part] = np.where(total > 0, weights @ values[:, part] / some, np.nan)
        variance = weights @ values[:, part] ** 2 / some - mean[:, part] ** 2
        error2[:, part] = np.maximum(variance, 0.0) * (weights**2 @ measured[:, part]) / some**2
    return _Days(mean=np.stack([filled(row) for row in mean]), error2=np.nan_to_num(error2))


def _denoised(days: _Days) -> Floats:
    """The days ahead in one line, smoothed over half an hour but for what stands out of its own noise.

    The distance d from the smooth line is kept by the share max(0, 1 - 4 e2 / d2), the positive-part rule of James and Stein, so that
    a spike at a fixed minute stays and noise of single slots goes.
    """
    line, error2 = days.mean.reshape(-1), days.error2.reshape(-1)
    per_day = days.mean.shape[1]
    half = max(1, per_day // _SMOOTH_A_DAY) // 2
    if half:
        smooth = _moving_mean(line, half)
        distance = line - smooth
        kept = np.maximum(0.0, 1 - _SPIKE_SQUARED * _moving_mean(error2, half) / np.maximum(distance**2, 1e-12))
        line = smooth + distance * kept
    return line[per_day:]


def _moving_mean(line: Floats, half: int) -> Floats:
    """The centred mean over 2 half + 1 slots, the ends held."""
    return np.convolve(np.pad(line, half, mode="edge"), np.full(2 * half + 1, 1 / (2 * half + 1)), mode="valid")

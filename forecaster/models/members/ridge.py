"""Ridge regression on Fourier terms and weekdays, of a whole chunk at once."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from forecaster.models.past import Past
from forecaster.models.rows import coarse, coarse_slots, median_last, medians, on_a_ring
from forecaster.series import Floats

Days: TypeAlias = NDArray[np.int64]
"""Local days, counted from 1970-01-01."""

_WEEK, _SATURDAY, _THURSDAY = 7, 5, 3  # Monday = 0; 1970-01-01 was a Thursday
_TINY = 1e-6
_DAYS = 56
_WAVES = 10  # the shortest is 2.4 hours long
_TREND_PRIOR, _WEEKEND_PRIOR, _WEEKDAY_PRIOR, _SLOT_PRIOR_DAYS = 20.0, 0.3, 1.0, 3.0
_SLOT_SIGMAS = 8.0  # a slot's residual beyond that is no habit
_LEVEL_GAIN, _LEVEL_DAYS = 0.8, 14
_RECENT_A_DAY, _RECENT_GAIN = 8, 0.5
_CLIP_SIGMAS, _CLIP_AFTER_DAYS, _SIGMA_FLOOR = 4.0, 5, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """log(load) = waves of the day x (1, trend, weekend, weekday) + shrunk residual of the slot + level of the last days.

    Since the waves are orthonormal over a day, each of their coefficients is a small regression over days of its own: ridge on ten columns,
    with days weighted by recency and by how much of them was measured. Residuals of single slots keep cron spikes; the level that is left
    over is smoothed exponentially; the deviation of the last three hours fades over a day.

    Reference: Hoerl and Kennard 1970 (ridge regression); Young et al. 1999 and Hyndman and Athanasopoulos, Forecasting: principles and
    practice, 10.5 (dynamic harmonic regression). Cost: about 0.5 ms CPU a series of 8 weeks at 5 minutes.
    """

    name: str
    half_life_days: float

    def draw(self, past: Past, reach: int) -> Floats:
        """NaN where nothing was measured."""
        days, early = past.by_midnight(_DAYS)
        per_day = past.clock.per_day
        known = ~np.isnan(days)
        ages = np.arange(days.shape[1]) + (early == 0)
        weights = 0.5 ** (ages / self.half_life_days) * known.mean(axis=2)
        waves = _waves(per_day)
        today = int(past.clock.days(np.zeros(1, dtype=np.int64))[0])
        fitted, coming = _fit(_complete(days) @ waves, weights, today - ages, today + np.arange(-(-(early + reach) // per_day)))
        residuals = days - fitted @ waves.T
        levels = median_last(residuals)
        habit = _habit(residuals - levels[..., None], weights[..., None] * known)
        level = _level(levels)
        path: Floats = (coming @ waves.T + habit[:, None]).reshape(len(days), -1)[:, early : early + reach] + level[:, None]
        deviation = _recent(residuals - habit[:, None], levels, level, early)
        path += _RECENT_GAIN * deviation[:, None] * np.exp(-(np.arange(reach) + 0.5) / per_day)
        path[~known.reshape(len(days), -1).any(axis=1)] = np.nan
        return path


def _waves(per_day: int) -> Floats:
    """A constant and pairs of sines, orthonormal over the slots of a day, shape (per_day, 1 + 2 x waves)."""
    angles = (np.arange(per_day) + 0.5) / per_day * 2 * np.pi
    turns = np.arange(1, min(_WAVES, (per_day - 1) // 2) + 1)
    pairs = np.sqrt(2 / per_day) * np.concatenate((np.cos(np.outer(angles, turns)), np.sin(np.outer(angles, turns))), axis=1)
    return np.concatenate((np.full((per_day, 1), 1 / np.sqrt(per_day)), pairs), axis=1)


def _complete(days: Floats) -> Floats:
    """Days whose unmeasured slots take the middle of their time of day, moved by the middle distance of their own day from that."""
    gaps = np.isnan(days)
    if not gaps.any():
        return days
    usual = np.nan_to_num(on_a_ring(medians(days)))
    moved = np.nan_to_num(median_last(coarse(days - usual[:, None], coarse_slots(days.shape[2]))))
    return np.where(gaps, usual[:, None] + moved[..., None], days)


def _fit(coefficients: Floats, weights: Floats, past: Days, coming: Days) -> tuple[Floats, Floats]:
    """Each wave's coefficient by ridge over past days: as fitted (series, days, waves), and of coming days (series, ahead, waves)."""
    columns, ahead = _columns(past, coming[0]), _columns(coming, coming[0])
    prior = np.diag([_TINY, _TREND_PRIOR, _WEEKEND_PRIOR, *[_WEEKDAY_PRIOR] * _WEEK])
    weighted = columns.T * weights[:, None]
    solved = np.linalg.solve(weighted @ columns + prior, weighted @ coefficients)
    return columns @ solved, ahead @ solved


def _columns(days: Days, today: int) -> Floats:
    """One, trend a week, weekend and the seven weekdays, each but the first around zero, shape (days, 10)."""
    weekdays = (days + _THURSDAY) % _WEEK
    weekend = (weekdays >= _SATURDAY).astype(np.float64)
    of_week = (weekdays[:, None] == np.arange(_WEEK)).astype(np.float64)
    return np.column_stack((np.ones(days.size), (days - today) / _WEEK, weekend - 2 / _WEEK, of_week - 1 / _WEEK))


def _habit(residuals: Floats, weights: Floats) -> Floats:
    """What each slot adds day by day, shrunk: n days count n / (n + 3), shape (series, slots)."""
    sigma = 1.4826 * median_last(np.abs(residuals).reshape(len(residuals), -1)[:, :: max(1, residuals.shape[2] // 48)])
    most = np.where(sigma > 0, _SLOT_SIGMAS * sigma, np.inf)[:, None, None]
    clipped = np.clip(np.nan_to_num(residuals), -most, most)
    habit: Floats = (weights * clipped).sum(axis=1) / (weights.sum(axis=1) + _SLOT_PRIOR_DAYS)
    return habit


def _level(levels: Floats) -> Floats:
    """The level to expect next: exponential smoothing over measured days, the newest first, shape (series,); 0 where none was.

    As in `levels.expected_level`, an innovation beyond 4 sigma of the earlier ones is cut back to that, unless the day before was beyond
    on the same side: one abnormal day does not skew the next. Older days than two weeks would carry a billionth.
    """
    measured_first = np.argsort(np.isnan(levels), axis=1, kind="stable")[:, :_LEVEL_DAYS]
    days = np.take_along_axis(levels, measured_first, axis=1)[:, ::-1]
    level, before = np.zeros(len(levels)), np.zeros(len(levels))
    sizes = np.full(days.shape, np.nan)
    for day in range(days.shape[1]):
        innovation = days[:, day] - level
        known = ~np.isnan(innovation)
        most = _limit(sizes[:, :day])
        side = (innovation > most).astype(np.float64) - (innovation < -most)
        moved = np.where(side == before, innovation, np.clip(innovation, -most, most))
        level += np.where(known, _LEVEL_GAIN * moved, 0.0)
        before = np.where(known, side, before)
        sizes[:, day] = np.abs(innovation)
    return level


def _limit(sizes: Floats) -> Floats:
    """4 sigma of deviations given by their sizes (series, n), infinite while fewer than 5 are known."""
    few = np.count_nonzero(~np.isnan(sizes), axis=1) < _CLIP_AFTER_DAYS
    if few.all():
        return np.full(len(sizes), np.inf)
    sigma = 1.4826 * np.nan_to_num(median_last(sizes))
    return np.where(few, np.inf, _CLIP_SIGMAS * np.maximum(_SIGMA_FLOOR, sigma))


def _recent(residuals: Floats, levels: Floats, level: Floats, early: int) -> Floats:
    """The median deviation of the last three hours before the origin, cut back to 4 sigma of what it was at that time of other days."""
    per_day = residuals.shape[2]
    span = max(1, per_day // _RECENT_A_DAY)
    end = residuals.shape[1] * per_day - (per_day - early if early else 0)
    lines = residuals[:, ::-1].reshape(len(residuals), -1)[:, max(0, end - per_day * (end // per_day)) : end]
    if lines.shape[1] < per_day:
        return np.zeros(len(lines))
    by_day = median_last(lines.reshape(len(lines), -1, per_day)[:, ::-1, -span:])
    deviation = np.nan_to_num(by_day[:, 0] - level)
    most = _limit(np.abs(by_day[:, 1:] - levels[:, 1 : by_day.shape[1]]))
    return np.clip(deviation, -most, most)

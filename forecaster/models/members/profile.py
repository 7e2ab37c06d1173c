"""Robust profile x level: the best single member."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forecaster.models.levels import WEEK, expected_level, limit, weekday_effects
from forecaster.models.past import Past
from forecaster.models.rows import coarse, coarse_slots, median_last, medians, moving_mean, on_a_ring
from forecaster.series import Floats

_HALF_LIFE_DAYS = 21.0  # of a day's weight: a month of history counts, a season ago hardly does
_CLASS_WEIGHT, _OTHER_WEIGHT = 0.15, 0.02  # of a day of the same class (workday, weekend) and of the other, the same weekday being 1
_DAYS_AN_OUTLIER = 14  # in so many days one extreme is set back to the next one: a spike is learnt once it has come twice
_WEEKEND_LOG = 1.0
_RECENT_A_DAY, _RECENT_GAIN = 8, 0.6  # the last three hours: less is noise, more is late
_SMOOTH_A_DAY = 48
_SPIKE_SQUARED = 4.0  # a slot that stands out by more than two standard errors is a spike and is kept
_LEAST_PART = 12  # two hours of a day must be measured before its level is believed


class Profile:
    """log(load) = profile of the time of day and weekday + effect of the weekday on the level + level of the day.

    The profile is a recency-weighted mean over winsorised days, mostly of the same weekday; spikes that repeat are kept, the rest is
    smoothed over half an hour. The level is each day's median distance from the profile, smoothed exponentially; the deviation of the
    last three hours fades over a day. One abnormal day moves the level by 4 of its usual sigmas at most; a second one on the same
    side is a level shift and is followed at once.

    Reference: decomposition by medians as in STL (Cleveland et al. 1990), level by exponential smoothing (Holt 1957).
    Cost: about 2 ms CPU a series of 8 weeks at 5 minutes.
    """

    name = "profile"

    def draw(self, past: Past, reach: int) -> Floats:
        """NaN where less than two hours were measured on every day."""
        ahead = -(-reach // past.clock.per_day)
        weekends = _weekends(past, ahead)
        levels, effects, expected = _levels(past, weekends, ahead)
        days = _profiles(_winsorised(past.logs - levels[:, :, None]), past, weekends, ahead)
        path = _denoised(days) + np.repeat(effects[:, _phases(ahead)[1:]], past.clock.per_day, axis=1) + expected[:, None]
        gap = levels[:, 0] - effects[:, 0] - expected
        fade = np.exp(-(np.arange(path.shape[1]) + 0.5) / past.clock.per_day)
        drawn: Floats = path + _RECENT_GAIN * _recent(past.logs - levels[:, :, None] - days.mean[:, :1], gap)[:, None] * fade
        return drawn[:, :reach]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Days:
    """The profile of each day from the newest measured one to the last one ahead: mean and squared standard error.

    Shape of both: (series, 1 + ahead, slots).
    """

    mean: Floats = field(repr=False)
    error2: Floats = field(repr=False)


def _weekends(past: Past, ahead: int) -> NDArray[np.bool_]:
    """Whether each slot is one of a weekend, (ahead + days, slots), from the last day ahead back to the oldest."""
    slots = np.arange(-past.days * past.clock.per_day, ahead * past.clock.per_day)
    return past.clock.weekend(slots).reshape(-1, past.clock.per_day)[::-1]


def _levels(past: Past, weekends: NDArray[np.bool_], ahead: int) -> tuple[Floats, Floats, Floats]:
    """The level of each day (series, days), the effect of each phase of the week on it (series, 7), and the level to expect (series,)."""
    rough = coarse(past.logs, coarse_slots(past.clock.per_day))
    shapes = rough - median_last(rough)[..., None]
    distance = rough - medians(shapes)[:, None]
    enough = np.count_nonzero(~np.isnan(distance), axis=2) >= max(1, rough.shape[2] // _LEAST_PART)
    levels = np.where(enough, median_last(distance), np.nan)
    noons = weekends[:, weekends.shape[1] // 2]
    effects, expected = np.zeros((len(levels), WEEK)), np.full(len(levels), np.nan)
    for row, of_days in enumerate(levels):
        if not np.isnan(of_days).all():
            effects[row] = weekday_effects(of_days, noons, ahead)
            expected[row] = expected_level(of_days - effects[row][np.arange(of_days.size) % WEEK])
    return levels, effects, expected


def _phases(ahead: int) -> NDArray[np.int64]:
    """The weekday of the newest day (0) and of each day ahead, as the index of the last measured day that shares it."""
    return -np.arange(ahead + 1) % WEEK


def _recent(residuals: Floats, gap: Floats) -> Floats:
    """The median deviation of the last three hours from profile and level, cut back to 4 sigma of what it was on other days."""
    by_day = median_last(residuals[:, :, -max(1, residuals.shape[2] // _RECENT_A_DAY) :])
    deviation = np.nan_to_num(by_day[:, 0] + gap)
    sizes = np.sort(np.abs(by_day[:, 1:]), axis=1)
    most = np.array([limit(row[~np.isnan(row)].tolist()) for row in sizes])
    return np.clip(deviation, -most, most)


def _winsorised(shapes: Floats) -> Floats:
    """Per slot, the most extreme day in fourteen on each side set back to the next one.

    With fewer days there is no next one to trust, and a day may differ from the middle one by a factor of e.
    """
    cut = (~np.isnan(shapes)).any(axis=2).sum(axis=1) // _DAYS_AN_OUTLIER
    clipped = np.empty_like(shapes)
    few = cut == 0
    usual = medians(shapes[few])[:, None]
    clipped[few] = np.clip(shapes[few], usual - _WEEKEND_LOG, usual + _WEEKEND_LOG)
    ordered = np.sort(np.ascontiguousarray(shapes[~few].transpose(0, 2, 1)), axis=2)
    count = ordered.shape[2] - np.count_nonzero(np.isnan(ordered), axis=2)
    low = np.minimum(cut[~few][:, None], np.maximum(count - 1, 0) // 2)
    high = np.maximum(count - 1 - low, 0)
    least, most = (np.take_along_axis(ordered, at[..., None], axis=2)[..., 0][:, None] for at in (low, high))
    clipped[~few] = np.clip(shapes[~few], least, most)
    return clipped


def _profiles(shapes: Floats, past: Past, weekends: NDArray[np.bool_], ahead: int) -> _Days:
    """The weighted mean of past days for the newest day and each day ahead, and the square of its standard error."""
    rows = np.arange(past.days)
    recency = 0.5 ** (rows / _HALF_LIFE_DAYS)
    same_weekday = rows % WEEK == _phases(ahead)[:, None]
    measured = (~np.isnan(shapes)).astype(np.float64)
    values = np.nan_to_num(shapes)
    mean = np.empty((len(shapes), ahead + 1, shapes.shape[2]))
    error2 = np.empty_like(mean)
    midnight = past.clock.midnight
    for part in (slice(midnight), slice(midnight, None)) if midnight else (slice(None),):
        kinds = weekends[:, part][:, :1]
        of_targets, of_rows = kinds[ahead::-1], kinds[ahead:].T
        weights = recency * np.where(same_weekday, 1.0, np.where(of_targets == of_rows, _CLASS_WEIGHT, _OTHER_WEIGHT))
        total = weights @ measured[:, :, part]
        some = np.maximum(total, 1e-12)
        mean[:, :, part] = np.where(total > 0, weights @ values[:, :, part] / some, np.nan)
        variance = weights @ values[:, :, part] ** 2 / some - mean[:, :, part] ** 2
        error2[:, :, part] = np.maximum(variance, 0.0) * (weights**2 @ measured[:, :, part]) / some**2
    filled = on_a_ring(mean.reshape(-1, mean.shape[2])).reshape(mean.shape)
    return _Days(mean=filled, error2=np.nan_to_num(error2))


def _denoised(days: _Days) -> Floats:
    """The days ahead in one line, smoothed over half an hour but for what stands out of its own noise.

    The distance d from the smooth line is kept by the share max(0, 1 - 4 e2 / d2), the positive-part rule of James and Stein, so that
    a spike at a fixed minute stays and noise of single slots goes.
    """
    count, _, per_day = days.mean.shape
    line, error2 = days.mean.reshape(count, -1), days.error2.reshape(count, -1)
    half = max(1, per_day // _SMOOTH_A_DAY) // 2
    if half:
        smooth = moving_mean(line, half)
        distance = line - smooth
        kept = np.maximum(0.0, 1 - _SPIKE_SQUARED * moving_mean(error2, half) / np.maximum(distance**2, 1e-12))
        line = smooth + distance * kept
    return line[:, per_day:]

"""From the errors of earlier forecasts to calibrated quantiles: split conformal prediction with locally scaled scores, of a whole chunk.

An error is the log of (actual + offset) / (median + offset) at one origin and one slot of the day: the effect of its day, the habit of
its hour, and noise. With the habit m_i and the relative scale s_i of the errors around slot i, the score z = (error - m_i) / s_i has one
distribution for the whole day, and

    quantile_i(p) = m_i + s_i x (t z(1/2) + (t (z(p') - z(1/2)) + (1 - t) sigma g(p)) x sqrt(1 + (a - 1/2) / 2n))
    p' = 1/2 + (p - 1/2) (N + 1) / N, moved by the adaptive step;  t = n / (n + 3)

where z(.) are weighted quantiles of the N scores, n the days behind them, a the days ahead, g the quantiles of the normal distribution,
and sigma^2 the variance between days plus that within them, each the geometric mean of its own and the prior's, n days against half a
day. Few days have no distribution of their own, and no bias: what one day had in common is news of that day, which members have followed
already, and says how far days may lie off and not where the next one will. So it counts as spread, and moves the median by a share t.
Days weigh by recency, by being of the kind (workday, weekend) that is forecast, and by how much history the forecaster had had on them;
a day that says little of the one to come is a part of a day. Consequences: a busy hour gets the spread of busy hours; with few steps a
day, high levels move to the largest score seen; where days err as a whole, n days count as n errors; with few days, and further ahead,
everything is wider.

Sources: locally weighted split conformal, Lei et al. 2018 (JASA 113) and Romano et al. 2019 (Conformalized quantile regression); the
(N + 1) rule, Vovk et al. 2005 (Algorithmic learning in a random world); unequal weights, Barber et al. 2023 (Conformal prediction
beyond exchangeability); the adaptive step, Gibbs and Candes 2021; t, credibility as in Buehlmann 1967; sqrt(1 + 1 / n), the prediction
interval of a normal sample.
"""

from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from forecaster.models.rows import coarse_slots
from forecaster.series import Floats

HALF_LIFE_DAYS = 10.0
SIGMA = 0.25  # log error of a young series where nothing is known yet
SIGMA_DAYS = 0.5  # the days that it counts for
_HISTORY_PRIOR_DAYS = 8.0  # a forecast from h days of history says h / (h + 8), squared, of one from all of it
_OTHER_KIND = 0.35  # weight of a workday's errors for a weekend, and the other way round
_NEIGHBOURS_A_DAY = 24  # an hour on each side has one location and scale
_LOCAL_PRIOR_DAYS = 3.0  # days of the whole sample mixed into each neighbourhood
_TRUST_DAYS = 3.0  # of errors say as much of the next one as the normal distribution does
_TOGETHER = 0.5  # of the variance of a young series is between days where nothing is known yet
_AHEAD_SHARE = 0.5
_MEAN_SIZE = 0.8  # the mean size of a Gaussian error, in sigmas
_MOST_SLOTS = 96
_LEAST_FREEDOM = 4.0  # below, Student's tails say that nobody knows, not how much to provide
_RATE, _MOST_STEP = 0.02, 0.5
_TINY = 1e-9


def day_weights(history_days: Floats, same_kind: NDArray[np.bool_]) -> Floats:
    """The weight of each earlier day's errors (series, days), the newest first: by recency, by history then, and by kind (days,)."""
    days = np.maximum(history_days, 0.0)
    known = (days / (days + _HISTORY_PRIOR_DAYS)) ** 2
    newest = np.maximum(known.max(axis=1, keepdims=True), _TINY)
    weights: Floats = known / newest * recency(days.shape[1]) * np.where(same_kind, 1.0, _OTHER_KIND)
    return weights


def recency(days: int) -> Floats:
    """1 for the newest day, half of it ten days before."""
    return np.asarray(0.5 ** (np.arange(days) / HALF_LIFE_DAYS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Log errors to expect of each series at each slot of a day: m + s x z(level), widened with the days ahead.

    location, scale: (series, slots). centre: of the scores, (series,). above: by how much each level lies above it, (series, levels).
    days: (series,).
    """

    location: Floats = field(repr=False)
    scale: Floats = field(repr=False)
    centre: Floats = field(repr=False)
    above: Floats = field(repr=False)
    days: Floats = field(repr=False)

    def quantiles(self, slots: NDArray[np.int64], ahead: NDArray[np.int64]) -> Floats:
        """At slots of the day that lie so many days ahead, shape (series, levels, slots)."""
        wider = np.sqrt(1 + _AHEAD_SHARE * (ahead - 0.5) / self.days[:, None])[:, None]
        scores = self.centre[:, None, None] + self.above[..., None] * wider
        found: Floats = self.location[:, None, slots] + self.scale[:, None, slots] * scores
        return found


def spread(errors: Floats, weights: Floats, levels: Floats, prior_sigma: Floats, steps: Floats) -> Spread:
    """What errors of shape (series, days, slots), the newest day first and NaN = unknown, say of the next days.

    weights: of each day, (series, days). prior_sigma: the log error to expect where nothing is known, (series,). steps: by how much the
    adaptive step has moved each level, (series, levels).
    """
    slots = errors.shape[2]
    errors = _thinned(errors)
    known = ~np.isnan(errors)
    weighed = known * weights[..., None]
    errors = np.where(known, errors, 0.0)
    days = informative(weighed.max(axis=2))
    trust = days / (days + _TRUST_DAYS)
    effects = (weighed * errors).sum(axis=2) / np.maximum(weighed.sum(axis=2), _TINY)
    location, scale = _local(errors - effects[..., None], errors, weighed, days)
    centre, above = _scores((errors - location[:, None]) / scale[:, None], weighed, levels + steps)
    between = _size(effects, weighed.max(axis=2))
    within = _size((errors - effects[..., None] - location[:, None]).reshape(len(errors), -1), weighed.reshape(len(errors), -1))
    sigma = np.hypot(_shrunk(between, np.sqrt(_TOGETHER) * prior_sigma, days), _shrunk(within, np.sqrt(1 - _TOGETHER) * prior_sigma, days))
    above = trust[:, None] * above + ((1 - trust) * sigma)[:, None] * normal(levels)
    wide = slots // errors.shape[2]
    location, scale = np.repeat(location, wide, axis=1), np.repeat(scale, wide, axis=1)
    return Spread(location=location, scale=scale, centre=trust * centre, above=above, days=np.maximum(days, 1.0))


def adapted(steps: Floats, covered: Floats, levels: Floats) -> Floats:
    """The adaptive steps after a day on which the share `covered` of the load lay at or below each level, NaN = not measured.

    Shape of all: (series, levels); levels (levels,). A step is a fiftieth of the miss; together they move a level by half of its
    distance to 0 or 1 at most.
    """
    moved = steps + _RATE * np.nan_to_num(levels - covered)
    most = np.minimum(levels, 1 - levels) * _MOST_STEP
    return np.clip(moved, -most, most)


def sigmas(errors: Floats, weights: Floats) -> Floats:
    """The size of each series' errors as a Gaussian's sigma, (series,); NaN where nothing is known."""
    known = ~np.isnan(errors)
    weighed = known * weights[..., None]
    total = weighed.sum(axis=(1, 2))
    size = (weighed * np.abs(np.where(known, errors, 0.0))).sum(axis=(1, 2)) / np.maximum(total, _TINY)
    return np.where(total > 0, size / _MEAN_SIZE, np.nan)


def effective(weights: Floats) -> Floats:
    """The number of equally weighted days that know as much, along the last axis: (sum w)^2 / sum w^2 (Kish 1965)."""
    found: Floats = weights.sum(axis=-1) ** 2 / np.maximum((weights**2).sum(axis=-1), _TINY)
    return found


def informative(weights: Floats) -> Floats:
    """The same as a number of days that say all that a day can, whose weight is 1: ten days of weight 0.1 are one of them."""
    found: Floats = effective(weights) * weights.max(axis=-1)
    return found


def normal(levels: Floats) -> Floats:
    """The quantiles of the normal distribution."""
    return np.array([NormalDist().inv_cdf(level) for level in levels])


def student_ratio(levels: Floats, freedom: Floats) -> Floats:
    """Student's quantiles over the normal ones, from 4 degrees of freedom on, shape (series, levels).

    Abramowitz and Stegun 26.7.5, within 1 % up to P99.
    """
    square = normal(levels) ** 2
    n = np.maximum(_LEAST_FREEDOM, freedom)[:, None]
    first = (square + 1) / 4
    second = (5 * square**2 + 16 * square + 3) / 96
    third = (3 * square**3 + 19 * square**2 + 17 * square - 15) / 384
    return np.asarray(1 + first / n + second / n**2 + third / n**3)


def _local(apart: Floats, errors: Floats, weights: Floats, days: Floats) -> tuple[Floats, Floats]:
    """What the errors around each slot have beyond their day's, and their mean size there over that of the whole day, (series, slots) each.

    apart: the errors without their days' effects. Both are shrunk to those of the day at large: a neighbourhood as well known as the
    best one counts `days` days against 3 days of it, a less known one less.
    """
    half = errors.shape[2] // _NEIGHBOURS_A_DAY
    of_slots = weights.sum(axis=1)
    weight = _around(of_slots, half)
    share = weight / np.maximum(weight.max(axis=1, keepdims=True), _TINY) * days[:, None]
    some = np.maximum(weight, _TINY)
    location = share / (share + _LOCAL_PRIOR_DAYS) * _around((weights * apart).sum(axis=1), half) / some
    sizes = (weights * np.abs(errors - location[:, None])).sum(axis=1)
    own_size = np.maximum(_around(sizes, half), 0.0) / some
    all_size = np.maximum(sizes.sum(axis=1, keepdims=True) / np.maximum(of_slots.sum(axis=1, keepdims=True), _TINY), _TINY)
    size = (share * own_size / all_size + _LOCAL_PRIOR_DAYS) / (share + _LOCAL_PRIOR_DAYS)
    mean = (of_slots * size).sum(axis=1, keepdims=True) / np.maximum(of_slots.sum(axis=1, keepdims=True), _TINY)
    return location, np.where(mean > 0, size / np.maximum(mean, _TINY), 1.0)


def _size(values: Floats, weights: Floats) -> Floats:
    """The size of weighted values as a Gaussian's sigma, (series,); tiny where nothing is known."""
    mean = (weights * np.abs(values)).sum(axis=1) / np.maximum(weights.sum(axis=1), _TINY)
    found: Floats = np.maximum(mean / _MEAN_SIZE, _TINY)
    return found


def _shrunk(size: Floats, prior: Floats, days: Floats) -> Floats:
    """The geometric mean of a size that was seen on so many days and of the prior's."""
    return np.asarray(np.exp((days * np.log(size) + SIGMA_DAYS * np.log(np.maximum(prior, _TINY))) / (days + SIGMA_DAYS)))


def _thinned(errors: Floats) -> Floats:
    """One slot in so many of each day, another one on each day: neighbours say the same, and 96 slots a day say it as well as 288."""
    slots = errors.shape[2]
    wide = slots // coarse_slots(slots, _MOST_SLOTS)
    if wide == 1:
        return errors
    return np.stack([errors[:, day, day % wide :: wide] for day in range(errors.shape[1])], axis=1)


def _scores(scores: Floats, weights: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """z(1/2), (series,), and z(level) - z(1/2), (series, levels), for levels of each series."""
    heavy = weights.reshape(len(scores), -1)
    values = np.where(heavy > 0, scores.reshape(len(scores), -1), np.inf)
    order = np.argsort(values, axis=1)
    values, heavy = np.take_along_axis(values, order, axis=1), np.take_along_axis(heavy, order, axis=1)
    count = (heavy > 0).sum(axis=1)
    largest = np.take_along_axis(values, np.maximum(count - 1, 0)[:, None], axis=1)
    values = np.minimum(values, np.where(count[:, None] > 0, largest, 0.0))  # beyond the known ones lies the largest of them
    below = np.cumsum(heavy, axis=1)
    below = (below - heavy / 2) / np.maximum(below[:, -1:], _TINY)
    wanted = np.concatenate((np.full((len(scores), 1), 0.5), levels), axis=1)
    wanted = 0.5 + (wanted - 0.5) * (1 + 1 / np.maximum(count, 1))[:, None]
    quantiles = np.stack([np.interp(w, b, v) for w, b, v in zip(wanted, below, values, strict=True)])
    for row in np.flatnonzero(count == 0):
        quantiles[row] = np.concatenate(([0.0], normal(np.clip(levels[row], _TINY, 1 - _TINY)) / _MEAN_SIZE))
    return quantiles[:, 0], quantiles[:, 1:] - quantiles[:, :1]


def _around(values: Floats, half: int) -> Floats:
    """The sum over `half` slots on each side along the last axis, fewer at the ends."""
    total = np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, axis=1)), axis=1)
    slots = np.arange(values.shape[1])
    around: Floats = total[:, np.minimum(values.shape[1], slots + half + 1)] - total[:, np.maximum(0, slots - half)]
    return np.maximum(around, 0.0) if (values >= 0).all() else around

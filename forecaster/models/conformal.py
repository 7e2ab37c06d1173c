"""From the errors of hindcasts to calibrated quantiles: split conformal prediction with locally scaled scores.

An error is the log of (actual + offset) / (predicted + offset) at one origin and one step ahead. With location m_i and scale s_i of the
errors around the time of day of step i, the score z = (error - m_i) / s_i has one distribution for the whole day, and

    quantile_i(p) = m_i + s_i x (z(1/2) + (z(p') - z(1/2)) x (1 + r (t(p) / g(p) - 1)) x sqrt(1 + a / n))
    p' = 1/2 + (p - 1/2) (N + 1) / N

where z(.) are weighted quantiles of the N scores, n the days behind them, a the days ahead, r the share of the scores' variance that
whole days have in common, t and g the quantiles of Student's distribution with n - 1 degrees of freedom and of the normal one.
Consequences: a busy hour gets the spread of busy hours; with few steps a day, high levels move to the largest score seen; where days
err as a whole, n days count as n errors; with few days, and further ahead, everything is wider.

Sources: locally weighted split conformal, Lei et al. 2018 (JASA 113) and Romano et al. 2019 (Conformalized quantile regression); the
(N + 1) rule, Vovk et al. 2005 (Algorithmic learning in a random world); weights by recency, Barber et al. 2023 (Conformal prediction
beyond exchangeability); t and sqrt(1 + 1 / n), the prediction interval of a normal sample; a / n, since forecasts a days ahead from
successive days share all but one of their days.
"""

from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats

_HALF_LIFE_DAYS = 10.0
_NEIGHBOURS_A_DAY = 16  # a sixteenth of a day, 1.5 hours, on each side has one location and scale
_LOCAL_PRIOR_DAYS = 6.0  # days of the whole sample mixed into each neighbourhood
_SIGMA, _SIGMA_DAYS = 0.4, 0.5  # log error of a naive forecast where nothing is known yet, and the days that it counts for
_MEAN_SIZE = 0.8  # the mean size of a Gaussian error, in sigmas
_PEAK_PRIOR_DAYS = 2.0
_PEAK_EMPIRICAL_DAYS = 10.0  # days after which the peaks' own distribution counts as much as Student's
_LEAST_FREEDOM = 4.0  # below, Student's tails say that nobody knows, not how much to provide
_COVERAGE_ORIGINS = 3
_TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scores:
    """Scores in ascending order, their weights, the origin that each comes from, and the number of days behind them all.

    together: the share of their variance that whole days have in common, between 0 and 1.
    """

    values: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    origins: NDArray[np.int64] = field(repr=False)
    days: float
    together: float

    def quantiles(self, levels: Floats, ahead: NDArray[np.int64]) -> Floats:
        """The widened quantiles for steps so many days ahead, shape (levels, steps)."""
        below = np.cumsum(self.weights)
        share = (below - self.weights / 2) / below[-1]
        count = self.values.size
        quantiles = np.interp(0.5 + (levels - 0.5) * (count + 1) / count, share, self.values)
        centre = np.interp(0.5, share, self.values)
        tails = 1 + self.together * (_student_ratio(levels, self.days - 1) - 1)
        return np.asarray(centre + ((quantiles - centre) * tails)[:, None] * np.sqrt(1 + ahead / self.days))

    def coverage(self, levels: Floats) -> Floats:
        """The share of scores at or below the quantiles that the other origins give, shape (levels,)."""
        covered = np.zeros(levels.size)
        for origin in np.unique(self.origins):
            others = self.origins != origin
            rest = replace(
                self,
                values=self.values[others],
                weights=self.weights[others],
                origins=self.origins[others],
                days=max(1.0, self.days - 1),
            )
            covered += np.searchsorted(self.values[~others], rest.quantiles(levels, np.ones(1, dtype=np.int64))[:, 0], side="right")
        return covered / self.values.size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Log errors to expect: quantiles (levels, n), and what they were learnt from, None = nothing."""

    levels: tuple[float, ...]
    quantiles: Floats = field(repr=False)
    scores: _Scores | None = field(repr=False)

    def coverage(self) -> tuple[float | None, ...]:
        """Per level the share of past errors below it, each day judged by the others; None with fewer than 3 origins."""
        if self.scores is None or np.unique(self.scores.origins).size < _COVERAGE_ORIGINS:
            return (None,) * len(self.levels)
        return tuple(float(share) for share in self.scores.coverage(np.array(self.levels)))


def spread(errors: Floats, per_day: int, levels: tuple[float, ...]) -> Spread:
    """What errors of shape (origins, n), the newest origin first and NaN = unknown, say of the next n steps.

    With no error at all the spread is that of a naive forecast.
    """
    wanted = np.array(levels)
    known = ~np.isnan(errors)
    if not known.any():
        quantiles = np.repeat((_SIGMA * _normal(wanted))[:, None], errors.shape[1], axis=1)
        return Spread(levels=levels, quantiles=quantiles, scores=None)
    weights = known * _recency(len(errors))[:, None]
    days = _effective(weights.max(axis=1))
    location, size = _local(np.where(known, errors, 0.0), weights, days, per_day)
    scores = _scores((errors - location) / size, weights, days)
    scale = np.exp((days * np.log(size) + _SIGMA_DAYS * np.log(_SIGMA * _MEAN_SIZE)) / (days + _SIGMA_DAYS))
    ahead = 1 + np.arange(location.size) // per_day
    return Spread(levels=levels, quantiles=location + scale * scores.quantiles(wanted, ahead), scores=scores)


def peak_spread(errors: Floats, levels: tuple[float, ...]) -> Floats:
    """Quantiles of the log errors of each segment's peak, shape (segments, levels), from errors (origins, segments).

    A segment is one local day of the horizon. Its location and scale are its own, shrunk to those of all segments; its distribution is
    that of its own scores mixed with Student's, since a month of days has no 99th percentile of its own.
    """
    wanted = np.array(levels)
    recency = _recency(len(errors))
    known = ~np.isnan(errors)
    common = _peak_moments(errors[known], np.broadcast_to(recency[:, None], errors.shape)[known], _Moments(0.0, _SIGMA))
    return np.stack(
        [
            _peak_quantiles(row[seen], recency[seen], common, wanted, ahead)
            for ahead, (row, seen) in enumerate(zip(errors.T, known.T, strict=True), start=1)
        ]
    )


@dataclass(frozen=True, slots=True)
class _Moments:
    location: float
    sigma: float


def _scores(scores: Floats, weights: Floats, days: float) -> _Scores:
    """Scores (origins, n), NaN = unknown and of weight 0, in order."""
    known = weights > 0
    order = np.argsort(scores[known], kind="stable")
    by_day = weights.sum(axis=1)
    means = np.where(known, weights * scores, 0.0).sum(axis=1) / np.maximum(by_day, _TINY)
    mean = by_day @ means / by_day.sum()
    total = float(weights[known] @ (scores[known] - mean) ** 2)
    return _Scores(
        values=scores[known][order],
        weights=weights[known][order],
        origins=np.nonzero(known)[0][order],
        days=days,
        together=min(1.0, float(by_day @ (means - mean) ** 2) / total) if total > 0 else 0.0,
    )


def _local(errors: Floats, weights: Floats, days: float, per_day: int) -> tuple[Floats, Floats]:
    """Location and mean size of the errors around each step, shape (n,) each, shrunk to those of the sample at large.

    A neighbourhood as well known as the best one counts `days` days against 6 days of the sample at large, a less known one less.
    """
    half = per_day // _NEIGHBOURS_A_DAY
    weight = _around(weights.sum(axis=0), half)
    share = weight / weight.max() * days
    some = np.maximum(weight, _TINY)
    known = weights > 0
    centre = _weighted_median(errors[known], weights[known])
    own = _around((weights * errors).sum(axis=0), half) / some
    location = (share * own + _LOCAL_PRIOR_DAYS * centre) / (share + _LOCAL_PRIOR_DAYS)
    sizes = weights * np.abs(errors - location)
    own_size = _around(sizes.sum(axis=0), half) / some
    size = (share * own_size + _LOCAL_PRIOR_DAYS * sizes.sum() / weights.sum()) / (share + _LOCAL_PRIOR_DAYS)
    return location, np.maximum(size, _TINY)


def _around(values: Floats, half: int) -> Floats:
    """The sum over `half` steps on each side, fewer at the ends."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    steps = np.arange(values.size)
    around: Floats = total[np.minimum(values.size, steps + half + 1)] - total[np.maximum(0, steps - half)]
    return np.maximum(around, 0.0)  # a difference of sums may fall a rounding error below zero


def _peak_quantiles(errors: Floats, weights: Floats, common: _Moments, levels: Floats, ahead: int) -> Floats:
    if not errors.size:
        return common.location + common.sigma * _normal(levels)
    days = _effective(weights)
    own = _peak_moments(errors, weights, common)
    scores = np.sort((errors - own.location) / own.sigma)
    order = np.argsort(errors, kind="stable")
    share = np.cumsum(weights[order]) - weights[order] / 2
    empirical = np.interp(levels, share / weights.sum(), scores)
    trust = days / (days + _PEAK_EMPIRICAL_DAYS)
    mixed = trust * empirical + (1 - trust) * _student(levels, days - 1)
    return np.asarray(own.location + own.sigma * mixed * np.sqrt(1 + ahead / days))


def _peak_moments(errors: Floats, weights: Floats, prior: _Moments) -> _Moments:
    """Weighted median and spread of a sample, shrunk to a prior worth 2 days of location and half a day of spread.

    The spread is the mean of the standard deviation and of the mean size / 0.8: one wild day moves it by half of what it would.
    """
    if not errors.size:
        return prior
    days = _effective(weights)
    location = (days * _weighted_median(errors, weights) + _PEAK_PRIOR_DAYS * prior.location) / (days + _PEAK_PRIOR_DAYS)
    share = weights / weights.sum()
    distance = np.abs(errors - location)
    sigma = max(_TINY, (float(np.sqrt(share @ distance**2)) + float(share @ distance) / _MEAN_SIZE) / 2)
    return _Moments(location, float(np.exp((days * np.log(sigma) + _SIGMA_DAYS * np.log(prior.sigma)) / (days + _SIGMA_DAYS))))


def _recency(origins: int) -> Floats:
    return np.asarray(0.5 ** (np.arange(origins) / _HALF_LIFE_DAYS))


def _effective(weights: Floats) -> float:
    """The number of equally weighted days that know as much: (sum w)^2 / sum w^2 (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def _normal(levels: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(level) for level in levels])


def _student(levels: Floats, freedom: float) -> Floats:
    return _normal(levels) * _student_ratio(levels, freedom)


def _student_ratio(levels: Floats, freedom: float) -> Floats:
    """Student's quantiles over the normal ones, from 4 degrees of freedom on: Abramowitz and Stegun 26.7.5, within 1 % up to P99."""
    square = _normal(levels) ** 2
    n = max(_LEAST_FREEDOM, freedom)
    first = (square + 1) / 4
    second = (5 * square**2 + 16 * square + 3) / 96
    third = (3 * square**3 + 19 * square**2 + 17 * square - 15) / 384
    return np.asarray(1 + first / n + second / n**2 + third / n**3)

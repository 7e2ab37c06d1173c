"""The peak of a day from a model of the peak itself: what it was above the path's own peak on earlier days.

The peak of a median path lies under the median of peaks, by more the noisier a load is. So the error that is learned is that of the
largest bucket of the very part of a day that is forecast. On short histories the path's peak is blended with the peak of the day before,
which knows nothing of tomorrow and everything of what noise does to a maximum.
"""

import numpy as np

from forecaster.models.calibration import SIGMA_DAYS, informative, normal, student_ratio
from forecaster.series import Floats

_PRIOR_DAYS = 1.5  # days without any error that are mixed into the location
_EMPIRICAL_DAYS = 10.0  # days after which the peaks' own distribution counts as much as Student's
_BLEND_DAYS = 2.0  # days of history at which yesterday's peak counts as much as the path's
_MEASURED_RATIO = 0.8  # of a day or a window must be measured before its maximum is believed
_MEAN_SIZE = 0.8
_AHEAD_SHARE = 0.5
_TINY = 1e-9


def blended(path: Floats, before: Floats, history_days: Floats) -> Floats:
    """The log of a peak from the path's own and from that of the day before, NaN = not measured; arrays of shapes that broadcast."""
    share = _BLEND_DAYS / (_BLEND_DAYS + np.maximum(history_days, 0.0) ** 2)
    return np.where(np.isnan(before), path, path + share * (before - path))


def measured_max(rows: Floats) -> Floats:
    """The largest along the last axis, NaN where too little was measured to say."""
    known = ~np.isnan(rows)
    enough = known.mean(axis=-1) >= _MEASURED_RATIO
    return np.where(enough, np.where(known, rows, -np.inf).max(axis=-1, initial=-np.inf), np.nan)


def peak_spread(errors: Floats, weights: Floats, levels: Floats, prior_sigma: Floats, ahead: int) -> Floats:
    """Quantiles of the log error of a peak so many days ahead, (series, levels), from errors (series, days), NaN = unknown.

    A sample's location is shrunk to none and its spread to the prior's; its distribution is its own mixed with Student's, since a month
    of days has no 99th percentile of its own.
    """
    known = ~np.isnan(errors)
    weighed = weights * known
    days = np.maximum(informative(weighed), _TINY)
    some = np.asarray(known.any(axis=1))
    largest = np.where(known, errors, -np.inf).max(axis=1, keepdims=True)
    errors = np.where(known, errors, np.where(some[:, None], largest, 0.0))  # beyond the known ones lies the largest of them
    days = np.where(some, days, 0.0)
    total = np.maximum(weighed.sum(axis=1), _TINY)
    order = np.argsort(np.where(known, errors, np.inf), axis=1)
    values, heavy = np.take_along_axis(errors, order, axis=1), np.take_along_axis(weighed, order, axis=1)
    below = np.cumsum(heavy, axis=1)
    at = np.minimum((below < total[:, None] / 2).sum(axis=1), errors.shape[1] - 1)
    location = np.take_along_axis(values, at[:, None], axis=1)[:, 0] * days / (days + _PRIOR_DAYS)
    distance = np.abs(errors - location[:, None])
    size = (np.sqrt((weighed * distance**2).sum(axis=1) / total) + (weighed * distance).sum(axis=1) / total / _MEAN_SIZE) / 2
    size = np.maximum(size, _TINY)
    sigma = np.exp((days * np.log(size) + SIGMA_DAYS * np.log(prior_sigma)) / (days + SIGMA_DAYS))
    share = (below - heavy / 2) / total[:, None]
    scores = (values - location[:, None]) / sigma[:, None]
    empirical = np.stack([np.interp(levels, s, v) for s, v in zip(share, scores, strict=True)])
    trust = (days / (days + _EMPIRICAL_DAYS))[:, None]
    student = normal(levels) * student_ratio(levels, days - 1)
    mixed = trust * empirical + (1 - trust) * student
    quantiles: Floats = location[:, None] + sigma[:, None] * mixed * np.sqrt(1 + _AHEAD_SHARE * ahead / np.maximum(days, 1.0))[:, None]
    return quantiles

"""How what was said of a day compares with what came: of members, of the issued quantiles, and of the naive forecast."""

import numpy as np

from forecaster.forecast import SCORED_LEVELS
from forecaster.models.rows import coarse
from forecaster.series import Floats

_WEEK = 7
_NAIVE_DAYS = 14
_SLOTS = 48  # so many slots a day say how wide the errors are
_LAST_DIGIT = 1 + 1e-6  # logarithms and single precision take off so much: a constant load is not above its own quantiles


def member_losses(members: Floats, actual: Floats) -> Floats:
    """Mean absolute errors of members by half hours, from (series, days, members, parts) and actual loads (series, days, slots).

    Shape (series, days, members), NaN where a member was not drawn or nothing was measured.
    """
    came = coarse(actual, members.shape[3])[:, :, None]
    errors = np.abs(members - came)
    known = ~np.isnan(errors)
    count = known.sum(axis=3)
    losses: Floats = np.where(count > 0, np.where(known, errors, 0.0).sum(axis=3) / np.maximum(count, 1), np.nan)
    return losses


def pinball(quantiles: Floats, actual: Floats, levels: Floats) -> Floats:
    """Mean loss over levels and measured slots, (series, levels, slots) against (series, slots) -> (series,); NaN where none was."""
    error = actual[:, None] - quantiles
    loss = np.maximum(levels[:, None] * error, (levels[:, None] - 1) * error)
    known = ~np.isnan(loss)
    count = known.sum(axis=(1, 2))
    mean: Floats = np.where(count > 0, np.where(known, loss, 0.0).sum(axis=(1, 2)) / np.maximum(count, 1), np.nan)
    return mean


def covered(quantiles: Floats, actual: Floats) -> Floats:
    """The share of measured slots at or below each level, (series, levels); NaN where none was. A last digit is no load above."""
    known = ~np.isnan(actual)
    count = known.sum(axis=1)
    below = ((actual[:, None] <= quantiles * _LAST_DIGIT) & known[:, None]).sum(axis=2)
    share: Floats = np.where(count[:, None] > 0, below / np.maximum(count, 1)[:, None], np.nan)
    return share


def drift(median: Floats, actual: Floats, offset: Floats) -> Floats:
    """The mean log error of a day, (series,); NaN where nothing was measured."""
    error = np.log((actual + offset[:, None]) / (median + offset[:, None]))
    known = ~np.isnan(error)
    count = known.sum(axis=1)
    mean: Floats = np.where(count > 0, np.where(known, error, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)
    return mean


def naive_quantiles(actual: Floats, day: int, offset: Floats) -> Floats:
    """What the load of the day before, or of the week before where that was closer lately, would have let expect of row `day`.

    actual: loads (series, days, slots), the newest first. Its median is that load, its levels are those of the log errors of the two weeks
    before, all slots alike: what anybody has for nothing. Shape (series, SCORED_LEVELS, slots), NaN where there is no such load.
    """
    logs = np.log(actual[:, day:] + offset[:, None, None])
    few = logs[:, :, :: max(1, logs.shape[2] // _SLOTS)]
    ways = [_errors(few, back) for back in (1, _WEEK)]
    sizes = [_mean_size(errors) for errors in ways]
    weekly = sizes[1] < sizes[0]  # NaN compares as false: a week that is not known cannot be closer
    quantiles = np.where(weekly[:, None], _of_all(ways[1]), _of_all(ways[0]))
    path = np.where(weekly[:, None], _row(logs, _WEEK), _row(logs, 1))
    found: Floats = np.maximum(np.exp(path[:, None] + quantiles[..., None]) - offset[:, None, None], 0.0)
    return found


def _row(logs: Floats, day: int) -> Floats:
    return logs[:, day] if day < logs.shape[1] else np.full((len(logs), logs.shape[2]), np.nan)


def _errors(logs: Floats, back: int) -> Floats:
    """The log errors of the load so many days before, over the days before the first row, (series, n)."""
    now = logs[:, 1 : 1 + _NAIVE_DAYS]
    then = logs[:, 1 + back : 1 + back + _NAIVE_DAYS]
    days = then.shape[1]
    return (now[:, :days] - then).reshape(len(logs), -1)


def _mean_size(errors: Floats) -> Floats:
    known = ~np.isnan(errors)
    count = known.sum(axis=1)
    return np.where(count > 0, np.abs(np.where(known, errors, 0.0)).sum(axis=1) / np.maximum(count, 1), np.nan)


def _of_all(errors: Floats) -> Floats:
    """Quantiles at SCORED_LEVELS above a median of 0, (series, levels); 0 where no error is known."""
    ordered = np.sort(errors, axis=1)
    count = (~np.isnan(ordered)).sum(axis=1)
    if not ordered.shape[1]:
        return np.zeros((len(errors), len(SCORED_LEVELS)))
    at = np.array(SCORED_LEVELS) * np.maximum(count - 1, 0)[:, None]
    quantiles = np.take_along_axis(ordered, np.ceil(at).astype(np.intp), axis=1)
    quantiles = np.maximum(np.where(count[:, None] > 0, quantiles, 0.0), 0.0)
    quantiles[:, 0] = 0.0
    return quantiles

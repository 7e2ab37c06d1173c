"""What our forecasts are divided by: Prophet as it comes, and the load of last week. Both see the last 28 days and nothing else."""

import logging
import warnings
from datetime import timedelta

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecaster.forecast import SCORED_LEVELS
from forecaster.series import Floats, Series
from forecaster.units import DAY_S, epoch_s

TRAINED_ON = timedelta(days=28)
_WEEK = 7
_SEED = 1


def prophet_default(known: Series) -> Floats:
    """The next 24 hours by `Prophet()` untouched: quantiles of its own predictive samples, shape (levels, steps).

    Taylor and Letham 2018, Forecasting at scale. Times are naive UTC, the only ones it takes; buckets not measured are left out.
    """
    from prophet import Prophet  # noqa: PLC0415  imports for a second that a worker of ours need not wait

    recent = known.between(known.end - TRAINED_ON, known.end)
    measured = ~np.isnan(recent.mean)
    model = Prophet()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own use of pandas
        logging.disable(logging.CRITICAL)  # it says twice that it begins and ends
        model.fit(pd.DataFrame({"ds": _instants(recent.times_s()[measured]), "y": recent.mean[measured]}), seed=_SEED)
        np.random.seed(_SEED)  # noqa: NPY002, TID251  Prophet draws from the global state and takes no Generator
        ahead = epoch_s(known.end) + known.step_s * np.arange(DAY_S // known.step_s)
        samples = model.predictive_samples(pd.DataFrame({"ds": _instants(ahead)}))["yhat"]
        logging.disable(logging.NOTSET)
    return np.quantile(samples, SCORED_LEVELS, axis=1)


def last_week(known: Series) -> Floats:
    """The next 24 hours as those a week ago, plus quantiles of what such a guess was off by, at least 0, shape (levels, steps).

    The residuals are load - load a week before over the last 28 days. Added they make a stronger rival than multiplied, by a sixth on
    the recorded traces: a ratio to a quiet hour is no measure of anything. With a week of history or less both are those of yesterday.
    A bucket not measured then is taken from as many days before it again, then from yesterday, then from the mean.
    """
    load = _by_day(known)
    every = _WEEK if len(load) > _WEEK else 1
    return np.maximum(0.0, np.quantile(_residuals(load, every), SCORED_LEVELS)[:, None] + _same_time(load, every))


def _by_day(known: Series) -> Floats:
    """Shape (days, steps), the last row ends where the history does."""
    per_day = DAY_S // known.step_s
    return np.pad(known.mean, (-len(known) % per_day, 0), constant_values=np.nan).reshape(-1, per_day)


def _residuals(load: Floats, every: int) -> Floats:
    days = np.arange(max(every, len(load) - TRAINED_ON.days), len(load))
    off = load[days] - load[days - every]
    known = ~np.isnan(off)
    return off[known] if known.any() else np.zeros(1)


def _same_time(load: Floats, every: int) -> Floats:
    guess = np.full(load.shape[1], np.nan)
    for row in (*range(len(load) - every, -1, -every), *range(len(load) - 1, -1, -1)):
        guess = np.where(np.isnan(guess), load[row], guess)
    return np.where(np.isnan(guess), np.nanmean(load), guess)


def _instants(times_s: NDArray[np.int64]) -> pd.DatetimeIndex:
    return pd.to_datetime(times_s.astype("datetime64[s]"))

"""How good a forecast was. A metric is a statistic of each bucket and a way to sum it up; buckets not measured do not count."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from forecaster.series import Floats

_LAST_DIGIT = 1 + 1e-6
"""Forecasts lose so much to logarithms and single precision, which is no load above them."""

Statistic: TypeAlias = Callable[[Floats, Floats, float], Floats]
"""(actual, forecast, level) -> one number a bucket, all of one shape."""

Aggregation: TypeAlias = Callable[[Floats, Floats], float]
"""(statistics, actuals), both of the measured buckets only, at least one -> the metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A statistic and its aggregation."""

    statistic: Statistic
    aggregation: Aggregation

    def __call__(self, actual: Floats, forecast: Floats, level: float = 0.5) -> float | None:
        """The metric of a forecast at `level`; arrays of one shape, NaN actuals are left out; None when nothing was measured."""
        if actual.shape != forecast.shape:
            msg = f"actual and forecast must have one shape, got {actual.shape} and {forecast.shape}"
            raise ValueError(msg)
        measured = ~np.isnan(actual)
        if not measured.any():
            return None
        actual, forecast = actual[measured], forecast[measured]
        value = self.aggregation(self.statistic(actual, forecast, level), actual)
        return value if np.isfinite(value) else None


def quantile_loss(actual: Floats, forecast: Floats, level: float) -> Floats:
    """Pinball loss in the unit of the load: level x shortfall, (1 - level) x excess. Half the absolute error at level 0.5."""
    error = actual - forecast
    loss: Floats = np.maximum(level * error, (level - 1) * error)
    return loss


def absolute_error(actual: Floats, forecast: Floats, _level: float) -> Floats:
    """|forecast - actual|."""
    error: Floats = np.abs(forecast - actual)
    return error


def inside(actual: Floats, forecast: Floats, _level: float) -> Floats:
    """1 where the actual did not exceed the forecast by more than a last digit."""
    return np.where(actual <= forecast * _LAST_DIGIT, 1.0, 0.0)


def excess(actual: Floats, forecast: Floats, _level: float) -> Floats:
    """How far the forecast was above the actual; below 0 where it was under it."""
    error: Floats = forecast - actual
    return error


def overshooting(actual: Floats, forecast: Floats, _level: float) -> Floats:
    """How far the forecast was above the actual, 0 where it was not."""
    over: Floats = np.maximum(forecast - actual, 0.0)
    return over


def mean(statistics: Floats, _actual: Floats) -> float:
    """Plain mean over the measured buckets."""
    return float(statistics.mean())


def over_load(statistics: Floats, actual: Floats) -> float:
    """Sum over the sum of the load: a ratio that small buckets cannot blow up; NaN when there was no load at all."""
    total = float(actual.sum())
    return float(statistics.sum()) / total if total > 0 else float("nan")


PINBALL = Metric(statistic=quantile_loss, aggregation=mean)
WAPE = Metric(statistic=absolute_error, aggregation=over_load)
COVERAGE = Metric(statistic=inside, aggregation=mean)
BIAS = Metric(statistic=excess, aggregation=over_load)
OVERSHOOT = Metric(statistic=overshooting, aggregation=over_load)

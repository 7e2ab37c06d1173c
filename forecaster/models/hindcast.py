"""What a model would have said on earlier days against what came: the errors that its quantiles are learnt from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from forecaster.errors import ModelFailed
from forecaster.models.wallclock import History
from forecaster.reasons import Reason
from forecaster.series import Floats

_LEAST_OFFSET, _MOST_OFFSET = 0.02, 1.0
_SIGMA_OF_STEP = 0.886  # sqrt(pi) / 2: the mean size of a difference of two Gaussians is 1.128 sigma
_HUGE_RATIO = 10.0  # times the largest load ever measured is no median of tomorrow but a model that diverged
_CEILING_RATIO = 3.0
_MEASURED_RATIO = 0.8  # of a window or a day must be measured before its maximum is believed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paths:
    """Median paths of one series: row 0 from the horizon's start, row k as the model would have drawn it k days earlier.

    median: (origins + 1, reach) in the signal's unit, by slots of the wall clock; NaN in a row k > 0 = not known. notes: how the model
    was degraded.
    """

    median: Floats = field(repr=False)
    notes: tuple[Reason, ...] = ()


Draw: TypeAlias = Callable[[History, int, int], Paths]
"""Draws the paths of a series for so many origins before the horizon and so many slots ahead, each from data before its origin."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hindcasts:
    """A median path (reach,), the paths of earlier days (origins, reach), the newest first, and what was measured on them.

    offset: what is added to a load before its logarithm is taken. ceiling: no quantile lies above it. Errors are
    log((actual + offset) / (predicted + offset)), NaN where either is unknown.
    """

    path: Floats = field(repr=False)
    past: Floats = field(repr=False)
    actual: Floats = field(repr=False)
    offset: float
    ceiling: float

    def errors(self) -> Floats:
        """The errors of single buckets, shape (origins, reach)."""
        return self._errors(self.past, self.actual)

    def window_errors(self, window_steps: int) -> Floats:
        """The errors of the maximum over a window from each slot, shape (origins, reach - window_steps + 1)."""
        return self._errors(window_max(self.past, window_steps), _measured_window_max(self.actual, window_steps))

    def span_errors(self, first: int, last: int) -> Floats:
        """The errors of the maximum over the slots [first, last), shape (origins,)."""
        return self._errors(self.past[:, first:last].max(axis=1), _measured_max(self.actual[:, first:last]))

    def lifted(self, median: Floats | float, errors: Floats) -> Floats:
        """A median load moved by log errors of a shape that broadcasts, within 0 and the ceiling."""
        load: Floats = np.clip((median + self.offset) * np.exp(errors) - self.offset, 0.0, self.ceiling)
        return load

    def _errors(self, predicted: Floats, actual: Floats) -> Floats:
        errors: Floats = np.log((actual + self.offset) / (predicted + self.offset))
        return errors


def log_offset(load: Floats) -> float:
    """What a series adds to its load before the logarithm, so that loads near zero keep a sane ratio; 0 for a series of zeros.

    The variance of the noise over the mean, from the mean step between neighbours: one request a bucket for Poisson counts, the size
    from which on noise grows slower than load; between 2 % and 100 % of the mean.
    """
    line = load.reshape(-1)
    mean = float(np.nanmean(line))
    steps = np.abs(np.diff(line[~np.isnan(line)]))
    if not mean or not steps.size:
        return _LEAST_OFFSET * mean
    return mean * float(np.clip((_SIGMA_OF_STEP * steps.mean() / mean) ** 2, _LEAST_OFFSET, _MOST_OFFSET))


def hindcasts(paths: Paths, history: History, model: str) -> Hindcasts:
    """Paths beside what was measured. Negative loads are zero. Raises ModelFailed when the path ahead is not one of a load.

    The ceiling of quantiles is three times the largest load measured or drawn: a launch that multiplied the load by 50 is an error of
    that size, and no reason to provide for the next one.
    """
    median = np.maximum(0.0, paths.median)
    largest = float(np.nanmax(history.days))
    most = _HUGE_RATIO * largest
    if not (median[0] <= most).all():
        msg = f"{model} drew a path for {history.name} that is not finite or above {most:g}, ten times all that was measured"
        raise ModelFailed(msg)
    line, per_day = history.line, history.clock.per_day
    actual = np.full((len(median) - 1, median.shape[1]), np.nan)
    for row, known in enumerate(actual):
        since = line[line.size - (row + 1) * per_day :][: known.size]
        known[: since.size] = since
    past = np.where(median[1:] <= most, median[1:], np.nan)
    ceiling = _CEILING_RATIO * max(largest, float(median[0].max()))
    return Hindcasts(path=median[0], past=past, actual=actual, offset=log_offset(history.days), ceiling=ceiling)


def window_max(rows: Floats, window_steps: int) -> Floats:
    """The largest of each slot and the window_steps - 1 after it, along the last axis; NaN where one of them is."""
    largest: Floats = np.lib.stride_tricks.sliding_window_view(rows, window_steps, axis=-1).max(axis=-1)
    return largest


def _measured_window_max(rows: Floats, window_steps: int) -> Floats:
    return _measured_max(np.lib.stride_tricks.sliding_window_view(rows, window_steps, axis=-1))


def _measured_max(rows: Floats) -> Floats:
    """The largest along the last axis, NaN where too little was measured."""
    known = ~np.isnan(rows)
    enough = known.mean(axis=-1) >= _MEASURED_RATIO
    return np.where(enough, np.where(known, rows, 0.0).max(axis=-1, initial=0.0), np.nan)

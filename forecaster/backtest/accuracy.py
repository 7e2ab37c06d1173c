"""How good the forecasts of a backtest were, against the load of yesterday and of last week."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forecaster.forecast import DailyPeak, Forecast
from forecaster.score import BIAS, COVERAGE, OVERSHOOT, PINBALL, WAPE, Metric
from forecaster.series import Floats, Series
from forecaster.units import DAY_S, epoch_s

LEVELS = (0.5, 0.9, 0.95, 0.99)
"""The levels that a backtest reports."""
_WEEK = 7
_RESIDUAL_DAYS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """For each of LEVELS the pinball loss (requests/min) and the share of actuals at or below the quantile; the median's WAPE.

    None = nothing was measured.
    """

    pinball: tuple[float | None, ...]
    coverage: tuple[float | None, ...]
    wape: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakScores:
    """The same of daily peaks. bias: sum of (median - actual) over sum of actuals. overshoot: how far above, for each of LEVELS.

    days: those whose peak was measured.
    """

    days: int
    bias: float | None
    wape: float | None
    pinball: tuple[float | None, ...]
    coverage: tuple[float | None, ...]
    overshoot: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """One day's forecast peak and what came; actual None = the day was not measured. Both in requests/min."""

    forecast: DailyPeak
    actual: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The forecasts, and the two that anybody has for nothing."""

    model: Scores
    naive_day: Scores
    naive_week: Scores
    peaks: PeakScores


def accuracy(series: Series, forecasts: Sequence[Forecast], peaks: Sequence[Peak]) -> Accuracy:
    """Score every forecast bucket and every day's peak that was measured."""
    grid = _days(series)
    rows = [(epoch_s(f.start) // DAY_S) - grid.first for f in forecasts]
    actual = grid.load[rows].ravel()
    ours = np.stack([np.concatenate([f.at_level(level) for f in forecasts]) for level in LEVELS])
    return Accuracy(
        model=_scores(actual, ours),
        naive_day=_scores(actual, _naive(grid.load, rows, every=1)),
        naive_week=_scores(actual, _naive(grid.load, rows, every=_WEEK)),
        peaks=_peak_scores(peaks),
    )


def peaks_of(series: Series, forecasts: Sequence[Forecast]) -> tuple[Peak, ...]:
    """The peak of each forecast's first day, and the largest step mean that was measured on it."""
    grid = _days(series)
    found = []
    for forecast in forecasts:
        day = grid.load[epoch_s(forecast.start) // DAY_S - grid.first]
        actual = None if np.isnan(day).all() else float(np.nanmax(day))
        found.append(Peak(forecast=forecast.daily_peaks[0], actual=actual))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Grid:
    """The load by UTC day and step, shape (days, steps), NaN = not measured; `first` is the first day, counted from the epoch."""

    first: int
    load: Floats


def _days(series: Series) -> _Grid:
    per_day = DAY_S // series.step_s
    lead = (epoch_s(series.start) % DAY_S) // series.step_s
    tail = -(lead + len(series)) % per_day
    load = np.pad(series.mean, (lead, tail), constant_values=np.nan).reshape(-1, per_day)
    return _Grid(first=epoch_s(series.start) // DAY_S, load=load)


def _scores(actual: Floats, quantiles: Floats) -> Scores:
    return Scores(pinball=_each(PINBALL, actual, quantiles), coverage=_each(COVERAGE, actual, quantiles), wape=WAPE(actual, quantiles[0]))


def _peak_scores(peaks: Sequence[Peak]) -> PeakScores:
    actual = np.array([np.nan if peak.actual is None else peak.actual for peak in peaks])
    quantiles = np.array([[peak.forecast.at_level(level) for peak in peaks] for level in LEVELS])
    return PeakScores(
        days=int((~np.isnan(actual)).sum()),
        bias=BIAS(actual, quantiles[0]),
        wape=WAPE(actual, quantiles[0]),
        pinball=_each(PINBALL, actual, quantiles),
        coverage=_each(COVERAGE, actual, quantiles),
        overshoot=_each(OVERSHOOT, actual, quantiles),
    )


def _each(metric: Metric, actual: Floats, quantiles: Floats) -> tuple[float | None, ...]:
    return tuple(metric(actual, row, level) for row, level in zip(quantiles, LEVELS, strict=True))


def _naive(load: Floats, rows: Sequence[int], *, every: int) -> Floats:
    """The load at the same time `every` days ago as the median, and that times the quantiles of such ratios above it; shape (levels, n).

    Ratios are those of the 28 days before the origin. A time not measured then is taken from as long again before it, and from
    yesterday where the record is younger than that.
    """
    quantiles = []
    for row in rows:
        ratios = _ratios(load, row, every) if row > every else _ratios(load, row, 1)
        levels = np.maximum(np.quantile(ratios, LEVELS), 1.0)
        levels[0] = 1.0
        quantiles.append(levels[:, None] * _same_time(load, row, every))
    return np.concatenate(quantiles, axis=1)


def _ratios(load: Floats, row: int, every: int) -> Floats:
    """Each load of the 28 days before a day over that `every` days before it; 1 where there is none to divide by."""
    days = np.arange(max(every, row - _RESIDUAL_DAYS), row)
    now, then = load[days], load[days - every]
    usable = (then > 0) & ~np.isnan(now)
    return now[usable] / then[usable] if usable.any() else np.ones(1)


def _same_time(load: Floats, day: int, every: int) -> Floats:
    """The load at each time of the day, the last one measured a multiple of `every` days before."""
    known = load[:day]
    guess = np.full(load.shape[1], np.nan)
    for past in range(day - every, -1, -every):
        missing = np.isnan(guess)
        if not missing.any():
            break
        guess[missing] = known[past][missing]
    if every > 1 and np.isnan(guess).any():
        guess = np.where(np.isnan(guess), _same_time(load, day, 1), guess)
    rest = float(np.nanmean(known)) if not np.isnan(known).all() else 0.0
    return np.where(np.isnan(guess), rest, guess)

"""Learning what live load says of the minutes ahead, from the medians that were said of past days and from what came.

Every quarter of an hour of the kept days is an example: the deviations that would have been seen then, and the largest minute of the
lead window after it. Weights by least squares towards a prior, none below 0 (coordinate descent, Wu and Lange 2008, Annals of Applied
Statistics 2), robust against crowds (Huber 1964); sigma by a straight line through log |residual|; tails are the quantiles of residuals
in sigmas, half from the whole day and half from three hours around, since surges come at their hours.
"""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forecaster.nowcast import FINEST_S, HOURS, SPANS_S, Nowcast, steps_ahead
from forecaster.series import Floats
from forecaster.units import DAY_S, MINUTE_S

LEVELS = (0.05, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.998, 0.9995)
_EXAMPLE_S = 15 * MINUTE_S
_LEAST_DAYS = 0.9  # of examples: with less nobody knows a whole day
_PRIOR, _PRIOR_EXAMPLES = np.array([0.2, 0.4, 0.2]), 96.0  # the prior weighs as much as a day
_FITS, _SWEEPS, _HUBER_SIGMAS = 3, 12, 3.0
_SIGMA_OF_MEDIAN = 1.4826  # a Gaussian's sigma over the median size
_SLOPE_RIDGE = 0.02  # of the line through log |residual|, in variances of log load
_WEEK = 7
_OFFSET_RATIO = 0.0017  # of the largest minutes: a twentieth of a replica where 30 carry the peak
_ABSURD = 0.001  # of the buckets may be a bad sample each, without a say in the offset
_LULL_LEVEL = 0.01
_BLOCK = 32  # series worked on at once: they fit into the cache of a processor
_TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Days:
    """What was said and what came of whole local days, the oldest first; arrays of shape (series, days x slots), NaN = unknown.

    said: medians as forecast at each midnight. came, largest: the mean and the largest minute of each bucket. window_steps: buckets that
    a floor looks ahead. end: the midnight at which the last day ends.
    """

    said: Floats = field(repr=False)
    came: Floats = field(repr=False)
    largest: Floats = field(repr=False)
    step_s: int
    window_steps: int
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Examples:
    """deviations: (series, 3, examples). log_expected, gained: log E and log(largest / E), (series, examples). known: where all are."""

    deviations: Floats
    log_expected: Floats
    gained: Floats
    known: NDArray[np.bool_]


def learn_each(days: Days) -> tuple[Nowcast | None, ...]:
    """One nowcast a series; None with less than a day of examples. None depends on the others."""
    found: list[Nowcast | None] = []
    for first in range(0, len(days.said), _BLOCK):
        rows = slice(first, first + _BLOCK)
        found += _learn_block(
            Days(
                said=days.said[rows],
                came=days.came[rows],
                largest=days.largest[rows],
                step_s=days.step_s,
                window_steps=days.window_steps,
                end=days.end,
            )
        )
    return tuple(found)


def _learn_block(days: Days) -> list[Nowcast | None]:
    week = days.largest[:, -(_WEEK + 1) * DAY_S // days.step_s :]
    most = np.nanmax(np.where(np.isnan(week), 0.0, week), axis=1, initial=0.0)
    offset = np.maximum(_OFFSET_RATIO * _nearly_largest(np.where(np.isnan(days.said), np.nan, days.largest)), _TINY)
    examples = _examples(days, offset[:, None])
    weights, base, residual = _fitted(examples)
    spread, sigma = _spread(examples, residual)
    lulls = np.quantile(examples.deviations, _LULL_LEVEL, axis=2)
    whole_days = days.said.shape[1] * days.step_s // DAY_S
    tails = _tails(np.where(examples.known, residual / sigma, np.inf), examples.known, whole_days)
    count = examples.known.sum(axis=1) * whole_days / examples.known.shape[1]
    return [
        Nowcast(
            weights=tuple(weights[row].tolist()),
            lulls=tuple(np.minimum(0.0, lulls[row]).tolist()),
            base=float(base[row]),
            spread=(float(spread[row, 0]), float(spread[row, 1])),
            levels=LEVELS,
            tails=np.maximum.accumulate(tails[row].astype(np.float32).astype(np.float64), axis=1),
            offset=float(offset[row]),
            most=float(most[row]),
            day_start=days.end,
            days=round(float(count[row]), 2),
        )
        if count[row] >= _LEAST_DAYS and most[row] > 0
        else None
        for row in range(len(days.said))
    ]


def _nearly_largest(largest: Floats) -> Floats:
    """All but a thousandth of the known buckets of each row lie at or below this, (series,); 0 where none is known."""
    known = ~np.isnan(largest)
    above = (known.sum(axis=1) * _ABSURD).astype(np.int64)
    most = int(above.max(initial=0)) + 1
    top = np.sort(np.partition(np.where(known, largest, 0.0), -most, axis=1)[:, -most:], axis=1)
    nearly: Floats = top[np.arange(len(top)), most - 1 - above]
    return nearly


def _examples(days: Days, offset: Floats) -> _Examples:
    """At the start of every quarter of an hour, or of every bucket that does not divide one."""
    n, step_s = days.said.shape[1], days.step_s
    stride = max(1, _EXAMPLE_S // step_s)
    parts = max(1, step_s // _EXAMPLE_S)  # examples within a long bucket
    at = np.arange(0, n, stride)
    expected = _largest_from(days.said, days, at, parts)
    came = _largest_from(days.largest, days, at, parts)
    deviations = np.repeat(_deviations(days, offset, at), parts, axis=2)
    log_expected = np.log(expected + offset)
    gained = np.log(came + offset) - log_expected
    known = np.isfinite(gained) & np.isfinite(deviations).all(axis=1)
    return _Examples(
        deviations=np.where(known[:, None], deviations, 0.0),
        log_expected=np.where(known, log_expected, 0.0),
        gained=np.where(known, gained, 0.0),
        known=known,
    )


def _largest_from(line: Floats, days: Days, at: NDArray[np.int64], parts: int) -> Floats:
    """The largest over the window from each example on, (series, examples); NaN unless all of it is known."""
    padded = np.pad(line, ((0, 0), (0, days.window_steps + 2)), constant_values=np.nan)
    ahead = steps_ahead(days.window_steps, days.step_s)
    if days.step_s <= FINEST_S:
        found: Floats = sliding_window_view(padded, days.window_steps, axis=1)[:, at].max(axis=2)
        return found
    found = np.stack([_largest_between(padded, at, share, share + ahead) for share in np.arange(parts) / parts], axis=2)
    return found.reshape(len(line), -1)


def _largest_between(line: Floats, at: NDArray[np.int64], first: float, last: float) -> Floats:
    """The largest of the straight lines between stamps from `first` to `last` stamps after each, (series, instants)."""
    ends = []
    for place in (first, last):
        below, share = int(place), place % 1
        ends.append(line[:, at + below] * (1 - share) + (line[:, at + below + 1] * share if share else 0.0))
    largest: Floats = np.maximum(*ends)
    if int(last) > 0:  # stamps lie in between
        largest = np.maximum(largest, sliding_window_view(line, int(last), axis=1)[:, at + 1].max(axis=2))
    return largest


def _deviations(days: Days, offset: Floats, at: NDArray[np.int64]) -> Floats:
    """Logarithms of what came over what was said in the buckets before each instant, (series, 3, instants); NaN where none is known."""
    both = ~np.isnan(days.said) & ~np.isnan(days.came)
    count, came, said = (
        np.pad(np.cumsum(of, axis=1), ((0, 0), (1, 0))) for of in (both, np.where(both, days.came, 0.0), np.where(both, days.said, 0.0))
    )
    found = []
    for span_s in SPANS_S:
        since = np.maximum(0, at - max(1, span_s // days.step_s))
        known = count[:, at] - count[:, since]
        n = np.maximum(known, 1)
        ratio = ((came[:, at] - came[:, since]) / n + offset) / ((said[:, at] - said[:, since]) / n + offset)
        found.append(np.where(known > 0, np.log(np.maximum(ratio, _TINY)), np.nan))
    return np.stack(found, axis=1)


def _fitted(examples: _Examples) -> tuple[Floats, Floats, Floats]:
    """Weights (series, 3), base (series,) and residuals (series, examples)."""
    x, y, known = examples.deviations, examples.gained, examples.known
    trust = known.astype(np.float64)
    weights, base = np.tile(_PRIOR, (len(y), 1)), np.zeros(len(y))
    residual = y
    for _ in range(_FITS):
        total = np.maximum(trust.sum(axis=1), _TINY)
        x_mean, y_mean = np.einsum("sen,sn->se", x, trust) / total[:, None], (y * trust).sum(axis=1) / total
        x_off, y_off = x - x_mean[:, :, None], y - y_mean[:, None]
        gram = np.einsum("sin,sjn,sn->sij", x_off, x_off, trust, optimize=True)
        prior = _PRIOR_EXAMPLES / total[:, None] * np.diagonal(gram, axis1=1, axis2=2) + _TINY
        gram += prior[:, :, None] * np.eye(len(_PRIOR))
        right = np.einsum("sin,sn->si", x_off, y_off * trust) + prior * _PRIOR
        weights = _at_least_0(gram, right, weights)
        base = y_mean - (weights * x_mean).sum(axis=1)
        residual = y - base[:, None] - np.einsum("si,sin->sn", weights, x)
        size = np.abs(residual)
        most = _HUBER_SIGMAS * (_SIGMA_OF_MEDIAN * _median(size, known) + _TINY)[:, None]
        trust = known / np.maximum(1.0, size / most)
    return weights, base, residual


def _at_least_0(gram: Floats, right: Floats, weights: Floats) -> Floats:
    """The minimum of a quadratic with no weight below 0, one weight at a time."""
    weights = weights.copy()
    for _ in range(_SWEEPS):
        for i in range(weights.shape[1]):
            others = (gram[:, i] * weights).sum(axis=1) - gram[:, i, i] * weights[:, i]
            weights[:, i] = np.maximum(0.0, (right[:, i] - others) / gram[:, i, i])
    return weights


def _spread(examples: _Examples, residual: Floats) -> tuple[Floats, Floats]:
    """The line of log sigma over log E, (series, 2), and sigma at each example."""
    known, x = examples.known, examples.log_expected
    floor = 0.1 * _SIGMA_OF_MEDIAN * _median(np.abs(residual), known)[:, None] + 1e-4
    y = np.log(np.abs(residual) + floor)
    n = np.maximum(known.sum(axis=1), 1)
    x_mean, y_mean = (x * known).sum(axis=1) / n, (y * known).sum(axis=1) / n
    x_off = np.where(known, x - x_mean[:, None], 0.0)
    slope = (x_off * y).sum(axis=1) / ((x_off**2).sum(axis=1) + _SLOPE_RIDGE * n)
    spread = np.stack([y_mean - slope * x_mean, slope], axis=1)
    return spread, np.exp(spread[:, :1] + spread[:, 1:] * x)


def _tails(sigmas: Floats, known: NDArray[np.bool_], whole_days: int) -> Floats:
    """Quantiles of residuals by the hour of the day, half those of three hours around and half those of all, (series, 24, levels)."""
    per_day = sigmas.shape[1] // whole_days
    hours = np.arange(sigmas.shape[1]) % per_day * HOURS // per_day
    whole, found = _quantiles(sigmas, known), []
    for hour in range(HOURS):
        around = np.flatnonzero((hours - hour + 1) % HOURS <= 2)  # noqa: PLR2004  the hour before, this one and the next
        near = _quantiles(sigmas[:, around], known[:, around])
        found.append((np.where(np.isnan(near), whole, near) + whole) / 2)
    return np.stack(found, axis=1)


def _quantiles(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Those of LEVELS, (series, levels), with straight lines in between; NaN where nothing is known. Unknown values are infinite."""
    ordered, last = np.sort(values, axis=1), known.sum(axis=1)[:, None] - 1
    place = np.maximum(last, 0) * np.array(LEVELS)
    below = place.astype(np.int64)
    low, high = (np.take_along_axis(ordered, i, axis=1) for i in (below, np.minimum(below + 1, np.maximum(last, 0))))
    inside = np.where(last >= 0, low, 0.0), np.where(last >= 0, high, 0.0)
    return np.where(last >= 0, inside[0] + (place - below) * (inside[1] - inside[0]), np.nan)


def _median(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """The median of the known values of each row, 0 where there is none, (series,)."""
    ordered = np.sort(np.where(known, values, np.inf), axis=1)
    middle = np.maximum(known.sum(axis=1) - 1, 0) // 2
    return np.where(known.any(axis=1), ordered[np.arange(len(ordered)), middle], 0.0)

"""Forecasts against what came: pinball, coverage and daily peaks of each recording, and how recordings are summed up."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.recordings import Recording
from benchmarks.accuracy.rolling import Issued
from forecaster.forecast import SCORED_LEVELS
from forecaster.score import COVERAGE, PINBALL
from forecaster.series import Floats

_HALF = 0.5
P50, P95 = SCORED_LEVELS.index(0.5), SCORED_LEVELS.index(0.95)


def pinball(actual: Floats, quantiles: Floats) -> float:
    """Mean over levels and measured buckets, from (origins, per_day) and (origins, levels, per_day); NaN when nothing was measured."""
    losses = [PINBALL(actual, quantiles[:, i], level) for i, level in enumerate(SCORED_LEVELS)]
    return float(np.mean([np.nan if loss is None else loss for loss in losses]))


def coverage(actual: Floats, quantiles: Floats) -> float:
    """The share of measured buckets at or below P95; NaN when nothing was measured."""
    share = COVERAGE(actual, quantiles[:, P95])
    return np.nan if share is None else share


def geometric_mean(ratios: Iterable[float]) -> float | None:
    """None of no ratios."""
    logs = np.log([ratio for ratio in ratios if not np.isnan(ratio)])
    return float(np.exp(logs.mean())) if logs.size else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Peaks:
    """Of the days whose peak is known: what came, forecast median and P95 over it, and which days are young; shapes (days,)."""

    actual: Floats = field(repr=False)
    median_ratio: Floats = field(repr=False)
    p95_ratio: Floats = field(repr=False)
    young: NDArray[np.bool_] = field(repr=False)

    @property
    def bias(self) -> float:
        """The median of median / actual - 1, what a median promises to be 0; NaN of no days."""
        return float(np.median(self.median_ratio)) - 1 if self.actual.size else np.nan

    @property
    def bias_of_sums(self) -> float:
        """Sum of medians / sum of actuals - 1: below 0 where few days tower above the others; NaN of no days."""
        return float(self.median_ratio @ self.actual / self.actual.sum()) - 1 if self.actual.size else np.nan


def above(p95_ratio: Floats) -> float | None:
    """The share of days whose peak was above P95; None of no days."""
    return float(np.mean(p95_ratio < 1)) if p95_ratio.size else None


def overshoot(p95_ratio: Floats) -> float | None:
    """Median of P95 / actual - 1; None of no days."""
    return float(np.median(p95_ratio)) - 1 if p95_ratio.size else None


def peaks(recording: Recording, issued: Issued) -> Peaks:
    """A day's peak is known when half of its buckets were measured, and one that had no load has none to compare with."""
    measured = ~np.isnan(recording.actual)
    actual = np.max(np.where(measured, recording.actual, 0.0), axis=1)
    known = (measured.mean(axis=1) >= _HALF) & (actual > 0)
    return Peaks(
        actual=actual[known],
        median_ratio=issued.peaks[known, P50] / actual[known],
        p95_ratio=issued.peaks[known, P95] / actual[known],
        young=~recording.with_28_days[known],
    )

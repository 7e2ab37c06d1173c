"""What was expected of each live bucket: the median forecast of the plan in force then, or of the one in force now."""

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from forecaster.demand import Demand
from forecaster.series import Floats, Signal
from forecaster.units import epoch_s


def median_of(demand: Demand, signal: Signal, times_s: NDArray[np.int64]) -> Floats:
    """The median forecast of the bucket that holds each instant, NaN where the demand has none; shape of `times_s`."""
    found = np.full(times_s.size, np.nan)
    if signal not in demand.signals:
        return found
    row = demand.expected[demand.signals.index(signal)]
    i = (times_s - epoch_s(demand.start)) // demand.step_s
    inside = slice(*np.searchsorted(i, (0, row.size)))
    found[inside] = row[i[inside]]
    return found


def median_at(demand: Demand, signal: Signal, instant: datetime) -> float | None:
    """The median forecast of the bucket that holds an instant, None where there is none."""
    i = demand.index(instant)
    return None if i is None or signal not in demand.signals else float(demand.expected[demand.signals.index(signal), i])


def as_it_was(medians: tuple[Floats, ...], n: int) -> Floats:
    """The median forecast of each live bucket by the plan in force then, NaN where none was; shape (n,)."""
    expected = np.full(n, np.nan)
    for own in medians:
        expected = np.where(np.isnan(own), expected, own)
    return expected


def expected_as_of_now(  # noqa: PLR0917  medians are those of the demands for a signal's buckets
    demands: tuple[Demand, ...], medians: tuple[Floats, ...], n: int, signal: Signal, quiet: float, now: datetime
) -> Floats:
    """What the plan in force would have expected of each live bucket, NaN where no plan was in force then; shape (n,).

    A plan says nothing of the time before it was made. There the median of the plan in force then stands, moved by as much as the two
    differ about now, where it reaches that far: what the newer forecast has learned already (a launch entered, a level that shifted) is
    no deviation from it.
    """
    expected = np.full(n, np.nan)
    latest = median_at(demands[-1], signal, now) if demands else None
    if latest is None:
        return expected
    for demand, own in zip(demands, medians, strict=True):
        median, moved = median_at(demand, signal, now), own
        if median is not None and demand is not demands[-1]:
            moved = np.maximum(0.0, (own + quiet) * ((latest + quiet) / (median + quiet)) - quiet)
        expected = np.where(np.isnan(moved), expected, moved)
    return expected

"""Metrics that stand still: one and the same value for hours in a load that always moves."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Grid, runs
from forecaster.marks import Mark, MarkKind
from forecaster.units import HOUR_S

_LEAST_S, _LEAST_PAIRS = 2 * HOUR_S, 4
_LOG_CHANCE = np.log(1e-9)  # of so many equal neighbours in a row, at the rate at which others are equal
_TOP, _RAMP = 0.98, 0.8


def stuck(grid: Grid) -> Iterator[Mark]:
    """A mark for each run of one value above zero that chance does not make.

    A run at the day's top that is reached by a ramp is what the replicas could serve, and so a lower bound.
    """
    load = grid.flat
    equal = (load[1:] == load[:-1]) & (load[1:] > 0)
    least = max(_LEAST_PAIRS, grid.buckets(_LEAST_S) - 1)
    if np.count_nonzero(equal) < least:
        return
    found, all_equal = runs(equal), int(np.count_nonzero(equal))
    pairs = int(np.count_nonzero(~np.isnan(load))) - 1
    for first, stop in found:
        length = stop - first
        chance = max(all_equal - length, 1) / max(pairs - length, 1)
        if length < least or chance >= 1 or length * np.log(chance) > _LOG_CHANCE:
            continue
        hours = (length + 1) * grid.step_s / HOUR_S
        if _served(grid, first, stop + 1):
            yield grid.mark(MarkKind.CENSORED, first, stop + 1, f"{load[first]:,.4g} for {hours:.1f} h, the most of the day")
        else:
            yield grid.mark(MarkKind.CAPTURE_FAULT, first, stop + 1, f"stood still at {load[first]:,.4g} for {hours:.1f} h")


def _served(grid: Grid, first: int, stop: int) -> bool:
    """Whether the run is at the top of its day and was reached by a ramp, or left by one."""
    load = grid.flat
    day = grid.load[first // grid.per_day]
    beside = [load[i] for i in (first - 1, stop) if 0 <= i < load.size]
    return bool(load[first] >= _TOP * np.nanmax(day)) and any(_RAMP * load[first] <= value < load[first] for value in beside)

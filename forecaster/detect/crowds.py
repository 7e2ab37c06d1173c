"""Flash crowds: once, for hours, far more than the series ever does."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Grid, bridged, runs
from forecaster.detect.tops import tops
from forecaster.marks import Mark, MarkKind
from forecaster.units import DAY_S, HOUR_S

_RATIO = 1.6  # over any other day
_ABOVE_USUAL = 2.0
_BREAK_S = HOUR_S
_MOST_S = 2 * DAY_S  # what lasts longer is a level
_QUIET_S = 26 * HOUR_S  # until then it may come again tomorrow at the same time
_ENOUGH_DAYS, _SURE_DAYS, _WEEK = 8, 15, 7


def crowds(grid: Grid) -> Iterator[Mark]:
    """A mark for the one event, on one day or on days in a row, that is more than 1.6 times as high as anything on all other days.

    There must be a week to compare with, and a week before or after it the same hour without it; it must have ended a day ago.
    """
    if grid.days < _ENOUGH_DAYS:
        return
    found = tops(grid, _RATIO)
    days = [day for day, _ in found]
    if not found or days[-1] - days[0] != len(days) - 1 or not _compared(grid, days):
        return
    first, stop = days[0] * grid.per_day, (days[-1] + 1) * grid.per_day
    around = slice(max(0, first - grid.buckets(_MOST_S)), min(grid.flat.size, stop + grid.buckets(_MOST_S)))
    load, usual = grid.flat[around], grid.usual_load(around.start, around.stop)
    limits = np.full(load.size, np.inf)
    for day, limit in found:
        limits[day * grid.per_day - around.start : (day + 1) * grid.per_day - around.start] = limit
    above = bridged(np.nan_to_num(load) > _ABOVE_USUAL * usual, grid.buckets(_BREAK_S))
    for start, end in runs(above):
        here = load[start:end]
        over = np.nan_to_num(here) > limits[start:end]
        length_s = (end - start) * grid.step_s
        ended = (_last_measured(grid) - around.start - end) * grid.step_s >= _QUIET_S
        if over.any() and ended and length_s <= _MOST_S:
            times = float(np.nanmax(here / np.where(np.isfinite(limits[start:end]), limits[start:end], np.inf)))
            yield grid.mark(
                MarkKind.FLASH_CROWD, around.start + start, around.start + end, f"{times:.1f} times the most of any other day, once"
            )


def _compared(grid: Grid, days: list[int]) -> bool:
    """Whether the same weekday was seen without it, which fewer than two weeks need not have."""
    if grid.days >= _SURE_DAYS:
        return True
    weeks = [day + step for day in days for step in (-_WEEK, _WEEK) if 0 <= day + step < len(grid.level)]
    return any(not np.isnan(grid.level[day]) for day in weeks if day not in days)


def _last_measured(grid: Grid) -> int:
    return int(np.flatnonzero(~np.isnan(grid.flat))[-1]) + 1

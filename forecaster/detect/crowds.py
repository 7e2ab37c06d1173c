"""Flash crowds: once, for hours, far more than the series ever does."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Grid, bridged, runs
from forecaster.detect.tops import tops
from forecaster.marks import Mark, MarkKind
from forecaster.units import DAY_S, HOUR_S

_RATIO = 1.6  # over any other day
_ABOVE_USUAL = 2.0
_BREAK_S, _ONE_EVENT_S = HOUR_S, 6 * HOUR_S
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
    last = int(np.flatnonzero(~np.isnan(grid.flat))[-1]) + 1
    for start, stop, times in _events(grid, found):
        if (last - stop) * grid.step_s >= _QUIET_S and (stop - start) * grid.step_s <= _MOST_S:
            yield grid.mark(MarkKind.FLASH_CROWD, start, stop, f"{times:.1f} times the most of any other day, once")


def _events(grid: Grid, found: list[tuple[int, float]]) -> list[tuple[int, int, float]]:
    """Each stretch far above the usual load that reaches beyond any other day, to the bucket, and how far; close ones are one event."""
    margin = grid.buckets(_MOST_S)
    first = max(0, found[0][0] * grid.per_day - margin)
    stop = min(grid.flat.size, (found[-1][0] + 1) * grid.per_day + margin)
    load, usual = np.nan_to_num(grid.flat[first:stop]), grid.usual_load(first, stop)
    times = np.zeros(load.size)
    for day, limit in found:
        inside = slice(day * grid.per_day - first, (day + 1) * grid.per_day - first)
        times[inside] = load[inside] / limit
    crowded = np.zeros(load.size, dtype=bool)
    for a, b in runs(bridged(load > _ABOVE_USUAL * usual, grid.buckets(_BREAK_S))):
        crowded[a:b] = times[a:b].max() > 1
    whole = runs(bridged(crowded, grid.buckets(_ONE_EVENT_S)))
    return [(first + a, first + b, float(times[a:b].max())) for a, b in whole]


def _compared(grid: Grid, days: list[int]) -> bool:
    """Whether the same weekday was seen without it, which fewer than two weeks need not have."""
    if grid.days >= _SURE_DAYS:
        return True
    weeks = [day + step for day in days for step in (-_WEEK, _WEEK) if 0 <= day + step < len(grid.level)]
    return any(not np.isnan(grid.level[day]) for day in weeks if day not in days)

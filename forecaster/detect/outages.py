"""Outages, and the retries that follow them: the users were there, the service was not."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Flags, Grid, bridged, runs
from forecaster.marks import Mark, MarkKind
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S, MINUTE_S

_NEAR_ZERO, _LOW, _NORMAL = 0.1, 0.25, 0.5  # of what is usual
_BUSY_SHARE = 0.1  # of days on which an hour may be low for it to count as always busy
_BUSY_OF_DAY = 0.3  # of the day's level: an edge here is no opening hour
_LEAST_BLOCKS = 2
_ENOUGH_DAYS = 5
_MOST_S, _MOST_OPEN_S = 7 * DAY_S, 2 * DAY_S
_STORM_S, _STORM_WITHIN_S, _STORM_BREAK_S, _STORM_LEAST_S = 12 * HOUR_S, HOUR_S, 30 * MINUTE_S, 15 * MINUTE_S
_STORM_RATIO, _STORM_PEAK_RATIO = 1.3, 1.5
_STORM_SIGMAS, _DOWN_SIGMAS = 3.0, 4.0


def outages(grid: Grid) -> Iterator[Mark]:
    """A mark for each time of two hours or more with next to nothing in hours that are always busy, and for the storm after it.

    It must break in or end within busy hours: closed days begin and end in closed ones. Up to a week when it has ended, up to two days
    while it lasts: what lasts longer is another level. Exact zeros from which the load comes back as usual are a metric that was not there.
    """
    if grid.days < _ENOUGH_DAYS:
        return
    ratio = grid.ratio
    low_days = np.count_nonzero(ratio < _LOW, axis=0) / np.maximum(np.count_nonzero(~np.isnan(ratio), axis=0), 1)
    of_time = np.broadcast_to(low_days <= np.maximum(_BUSY_SHARE, 1.0 / max(grid.days, 1)), ratio.shape)
    down = (of_time & (ratio < _NEAR_ZERO)).reshape(-1)
    if not down.any():
        return
    down &= ratio.reshape(-1) < np.exp(-_DOWN_SIGMAS * _noise(grid))
    last = int(np.flatnonzero(~np.isnan(grid.flat))[-1]) + 1
    for start, stop in runs(down):
        if stop - start < _LEAST_BLOCKS or not _abrupt(grid, ratio.reshape(-1), start, stop):
            continue
        first, end = _refined(grid, start * grid.per_block, min(stop * grid.per_block, last))
        length_s = (end - first) * grid.step_s
        share = float(np.nanmean(grid.flat[first:end]) / np.nanmean(grid.usual_load(first, end)))
        if share < _NEAR_ZERO and length_s <= (_MOST_OPEN_S if end >= last else _MOST_S):
            yield from _told(grid, first, end, last, share)


def _told(grid: Grid, first: int, end: int, last: int, share: float) -> Iterator[Mark]:
    storm = _storm(grid.levelled_without(first, end), end)
    hours = (end - first) * grid.step_s / HOUR_S
    if not share and storm is None and end < last:
        yield grid.mark(MarkKind.CAPTURE_FAULT, first, end, f"exactly zero for {hours:.1f} h and as usual right after")
        return
    yield grid.mark(MarkKind.OUTAGE, first, end, f"{share:.0%} of the usual load for {hours:.1f} h")
    if storm is not None:
        start, stop, times = storm
        yield grid.mark(MarkKind.RETRY_STORM, start, stop, f"up to {times:.1f} times the usual load after an outage")


def _abrupt(grid: Grid, ratio: Floats, start: int, stop: int) -> bool:
    """Whether the load was as usual in a busy hour right before or right after, one hour of transition aside."""
    busy = (grid.usual - grid.base[:, None]).reshape(-1) > np.log(_BUSY_OF_DAY)
    near = [i for i in (start - 2, start - 1, stop, stop + 1) if 0 <= i < ratio.size]
    return any(bool(busy[i] and ratio[i] >= _NORMAL) for i in near)


def _refined(grid: Grid, first: int, stop: int) -> tuple[int, int]:
    """The span to the bucket: an hour that was down in part belongs to it in that part."""
    start, end = max(0, first - grid.per_block), min(grid.flat.size, stop + grid.per_block)
    low = grid.flat[start:end] < _LOW * grid.usual_load(start, end)
    inside = slice(first - start, stop - start)
    low[inside] |= np.isnan(grid.flat[first:stop])
    found = [run for run in runs(bridged(low, 1)) if run[0] < inside.stop and run[1] > inside.start]
    return (start + found[0][0], start + found[-1][1]) if found else (first, stop)


def _storm(grid: Grid, end: int) -> tuple[int, int, float] | None:
    """The buckets after an outage in which the load is beyond its noise, and how far."""
    stop = min(grid.flat.size, end + grid.buckets(_STORM_S))
    ratio = grid.flat[end:stop] / grid.usual_load(end, stop)
    sigma = _noise(grid)
    above: Flags = np.nan_to_num(ratio) > max(_STORM_RATIO, float(np.exp(_STORM_SIGMAS * sigma)))
    found = runs(bridged(above, grid.buckets(_STORM_BREAK_S)))
    if not found:
        return None
    first, last = found[0]
    top = float(np.nanmax(ratio[first:last]))
    enough = (last - first) * grid.step_s >= _STORM_LEAST_S and top >= _STORM_PEAK_RATIO
    return (end + first, end + last, top) if enough and first * grid.step_s <= _STORM_WITHIN_S else None


def _noise(grid: Grid) -> float:
    """A robust sigma of the logarithm of a block over what is usual there."""
    ratio = grid.ratio
    known = ratio[ratio > 0]
    return 1.4826 * float(np.median(np.abs(np.log(known)))) if known.size else 0.0

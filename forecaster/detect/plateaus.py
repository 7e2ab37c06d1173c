"""Censored days: the served load lies on a plateau where other days have peaks, or while requests wait or are refused."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from forecaster.detect.grid import Flags, Grid, bridged, medians, runs
from forecaster.marks import Mark, MarkKind
from forecaster.series import Floats, Series, Signal
from forecaster.units import HOUR_S, MINUTE_S, epoch_s

_NEAR = 0.97  # of the day's largest bucket
_LEAST_S, _BREAK_S = 2 * HOUR_S, 10 * MINUTE_S
_LEAST_BUCKETS = 12  # fewer have no noise to speak of
_TIMES_OTHERS = 3.0
_CALM = 0.5  # of the noise that is usual at that time: a saturated service has none of its own
_ENOUGH_DAYS = 5
_PRESSED_TIMES, _PRESSED_LEAST_S, _AT_THE_TOP = 10.0, 15 * MINUTE_S, 0.9
_REFUSED_RATIO = 0.01  # of the load: some client over its quota is no lack of capacity
_FULL = 0.97


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Companions:
    """What else was measured on a load's grid. pressures: of PRESSURE_SIGNALS, what grows when demand exceeds capacity.

    limit: what the ready replicas could carry, in the load's unit.
    """

    pressures: tuple[Series, ...] = ()
    limit: Series | None = None


def plateaus(grid: Grid, companions: Companions) -> Iterator[Mark]:
    """A mark for each plateau: flat where other days are not, or full, or under pressure."""
    told = np.zeros(grid.flat.size, dtype=bool)
    for first, stop, why in (*_pressed(grid, companions), *_flat(grid)):
        if not told[first:stop].any():
            told[first:stop] = True
            yield grid.mark(MarkKind.CENSORED, first, stop, f"{why} for {(stop - first) * grid.step_s / HOUR_S:.1f} h")


def served(marks: Iterable[Mark], grid: Grid, companions: Companions) -> Iterator[Mark]:
    """The marks, with a load that stood still under pressure for most of the span told as what it was: all that was served.

    It need not be the top of its day: where capacity comes back at once, what waited comes after it.
    """
    pressed = [span for each in companions.pressures for span in _long(grid, _high(grid, each), _why(each))]
    for mark in marks:
        first, stop = ((epoch_s(edge) - grid.first_s) // grid.step_s for edge in (mark.span.start, mark.span.end))
        whys = (why for a, b, why in pressed if 2 * (min(b, stop) - max(a, first)) >= stop - first)
        why = next(whys, None) if mark.kind is MarkKind.CAPTURE_FAULT else None
        yield mark if why is None else replace(mark, kind=MarkKind.CENSORED, detail=f"{mark.detail} while {why}")


def _flat(grid: Grid) -> Iterator[tuple[int, int, str]]:
    """Days that spend three times as long near their maximum as the median day, two hours at once, with less than half of its noise."""
    if grid.days < _ENOUGH_DAYS:
        return
    largest = np.where(grid.largest > 0, grid.largest, np.inf)
    near: Flags = grid.load >= _NEAR * largest[:, None]
    count = np.count_nonzero(near, axis=1)
    typical = float(np.median(count[~np.isnan(grid.level)]))
    least = max(grid.buckets(_LEAST_S), _LEAST_BUCKETS)
    days = np.flatnonzero((count >= least) & (count > _TIMES_OTHERS * typical))
    if not days.size:
        return
    moves = np.abs(np.diff(grid.load, axis=1)) / largest[:, None]
    usual = medians(moves)
    for day in days.tolist():
        closed = bridged(near[day], grid.buckets(_BREAK_S))
        for first, stop in runs(closed):
            inside = slice(first, stop - 1)
            calm = _mean(moves[day, inside]) < _CALM * _mean(usual[inside])
            if stop - first >= least and calm:
                yield day * grid.per_day + first, day * grid.per_day + stop, "flat at the most of the day where others have peaks"


def _pressed(grid: Grid, companions: Companions) -> Iterator[tuple[int, int, str]]:
    load = grid.flat
    top = np.where(np.isnan(load), -np.inf, load)
    at_the_top = top >= _AT_THE_TOP * grid.largest.repeat(grid.per_day)
    for pressure in companions.pressures:
        yield from _long(grid, _high(grid, pressure) & at_the_top, _why(pressure))
    if companions.limit is not None:
        limit = _aligned(grid, companions.limit)
        full = (np.nan_to_num(limit) > 0) & (top >= _FULL * np.nan_to_num(limit))
        yield from _long(grid, full, "all that the replicas carry")


def _why(pressure: Series) -> str:
    return "requests were refused" if pressure.signal is Signal.REFUSED else "requests waited"


def _high(grid: Grid, pressure: Series) -> Flags:
    """Where a pressure is far above its usual size; of refusals also above a share of the load, where both are requests a minute."""
    line = _aligned(grid, pressure)
    known = line[~np.isnan(line)]
    least = np.full(line.size, 1 + _PRESSED_TIMES * (float(np.median(known)) if known.size else 0.0))
    if (pressure.signal, grid.signal) == (Signal.REFUSED, Signal.RPM):
        least = np.fmax(least, _REFUSED_RATIO * grid.flat)
    high: Flags = np.nan_to_num(line) > least
    return high


def _long(grid: Grid, flags: Flags, why: str) -> Iterator[tuple[int, int, str]]:
    for first, stop in runs(bridged(flags, grid.buckets(_BREAK_S))):
        if (stop - first) * grid.step_s >= _PRESSED_LEAST_S:
            yield first, stop, why


def _aligned(grid: Grid, series: Series) -> Floats:
    """A companion on the grid's buckets, NaN where it was not measured or stands on another step."""
    line = np.full(grid.flat.size, np.nan)
    if series.step_s != grid.step_s:
        return line
    first = (epoch_s(series.start) - grid.first_s) // grid.step_s
    start, stop = max(first, 0), min(first + len(series), line.size)
    if start < stop:
        line[start:stop] = series.mean[start - first : stop - first]
    return line


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan

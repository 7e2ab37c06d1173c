"""What every source does with raw numbers: into the signal's unit, unusable ones to NaN, onto the grid that was asked for."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from math import gcd

import numpy as np

from forecaster.errors import SourceRejected
from forecaster.ports import Query, Unit
from forecaster.series import Floats, Series, Signal, Window, check_grid, empty_series
from forecaster.units import MINUTE_S, epoch_s, from_epoch_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Raw numbers as a source gave them: numbers[i] speaks of [start + i step_s, start + (i + 1) step_s), epoch-aligned, shape (n,).

    They may be NaN, infinite or negative: all three mean not measured.
    """

    start: datetime
    step_s: int
    numbers: Floats = field(repr=False)

    def __post_init__(self) -> None:
        check_grid(self.start, self.step_s)


def factor(query: Query, step_s: int) -> float:
    """What a raw number over `step_s` seconds is multiplied by to stand in the signal's own unit.

    RPM, REFUSED: 60 a per_second, 1 a per_minute, 60 / step_s a count in the bucket; TOKENS, kept a second: a 60th of that. What is in
    flight or waiting is a count and nothing else: SourceRejected for a rate, which would be a mixed-up query.
    """
    match query.signal:
        case Signal.RPM | Signal.REFUSED:
            return _per_minute(query.unit, step_s)
        case Signal.TOKENS:
            return _per_minute(query.unit, step_s) / MINUTE_S
        case _ if query.unit is Unit.COUNT:
            return 1.0
        case _:
            msg = f"{query.signal} is a number of {query.signal.unit}, so unit must be count, not {query.unit}, for {query.expression!r}"
            raise SourceRejected(msg)


def series_of(query: Query, readings: Readings, window: Window, step_s: int) -> Series:
    """The readings as the buckets of `window`, in the signal's unit.

    A reading that has not ended by the end of the window is not known yet and does not count. Readings coarser than `step_s`
    repeat; finer ones are averaged where at least half were measured, and the peak is the largest minute. Raises ValueError
    when the window is off the step's grid, SourceRejected when the query's unit does not fit its signal.
    """
    check_grid(window.start, step_s)
    check_grid(window.end, step_s)
    scale = factor(query, readings.step_s)
    known = _known(readings, window)
    if not known.numbers.size:
        return empty_series(query.signal, window, step_s)
    with np.errstate(over="ignore"):  # an overflow is infinite, hence not measured
        values = known.numbers * scale
    values = np.where((values >= 0) & (values <= query.signal.most), values, np.nan)
    series = Series(signal=query.signal, start=known.start, step_s=known.step_s, mean=values, peak=values)
    if known.step_s < MINUTE_S <= step_s:  # the peak is the largest minute, not the largest second
        minutes = _regrid(series, MINUTE_S)
        series = replace(minutes, peak=minutes.mean)
    return _fill(_regrid(series, step_s), window)


def _per_minute(unit: Unit, step_s: int) -> float:
    match unit:
        case Unit.PER_SECOND:
            return MINUTE_S
        case Unit.PER_MINUTE:
            return 1.0
        case Unit.COUNT:
            return MINUTE_S / step_s


def _known(readings: Readings, window: Window) -> Readings:
    """The readings that touch the window and have ended by its end."""
    start_s, step_s = epoch_s(readings.start), readings.step_s
    first = max(0, (epoch_s(window.start) - start_s) // step_s)
    last = max(first, (epoch_s(window.end) - start_s) // step_s)
    return replace(readings, start=from_epoch_s(start_s + first * step_s), numbers=readings.numbers[first:last])


def _regrid(series: Series, step_s: int) -> Series:
    """The same load on any other grid: cut to the largest common step, then joined."""
    cell_s = gcd(series.step_s, step_s)
    cut = series.step_s // cell_s
    return replace(series, step_s=cell_s, mean=np.repeat(series.mean, cut), peak=np.repeat(series.peak, cut)).coarser(step_s)


def _fill(series: Series, window: Window) -> Series:
    """The series over exactly the window, NaN where it says nothing."""
    inside = series.between(window.start, window.end)
    whole = empty_series(series.signal, window, series.step_s)
    mean, peak = whole.mean.copy(), whole.peak.copy()
    at = (epoch_s(inside.start) - epoch_s(window.start)) // series.step_s
    mean[at : at + len(inside)] = inside.mean
    peak[at : at + len(inside)] = inside.peak
    return replace(whole, mean=mean, peak=peak)

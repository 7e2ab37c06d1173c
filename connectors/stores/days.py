"""History cut into UTC days: the rows that a store keeps. A load is an array of shape (2, buckets of the day): means, peaks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from forecaster.errors import HistoryAtOtherStep
from forecaster.series import Floats, Series, Signal, Window
from forecaster.units import DAY_S, ceil_to, epoch_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One day of one signal as it is kept; mean and peak have shape (buckets that start on that day,), NaN = not measured."""

    mean: Floats
    peak: Floats


def split(series: Series) -> dict[int, Day]:
    """The series by UTC day (days since the epoch), each filled up to its whole day with NaN; days without a measurement are left out."""
    start = epoch_s(series.start) // series.step_s
    days = {}
    for day in _days(start, start + len(series), series.step_s):
        low, high = _first_bucket(day, series.step_s), _first_bucket(day + 1, series.step_s)
        inside = slice(max(low - start, 0), max(high - start, 0))
        if np.isnan(series.mean[inside]).all():
            continue
        gaps = (max(start - low, 0), max(high - start - len(series), 0))
        days[day] = Day(
            mean=np.pad(series.mean[inside], gaps, constant_values=np.nan),
            peak=np.pad(series.peak[inside], gaps, constant_values=np.nan),
        )
    return days


def merged(earlier: Day, later: Day) -> Day:
    """What is known of a day after a later measurement of it: NaN replaces nothing."""
    unknown = np.isnan(later.mean)
    return Day(mean=np.where(unknown, earlier.mean, later.mean), peak=np.where(unknown, earlier.peak, later.peak))


def days_of(window: Window, step_s: int) -> range:
    """The UTC days on which buckets of the window start."""
    return _days(*_buckets(window, step_s), step_s)


def joined(days: Mapping[int, Day], signal: Signal, window: Window, step_s: int) -> Series:
    """The buckets that start in the window, NaN where no day tells."""
    start, end = _buckets(window, step_s)
    mean, peak = np.full(end - start, np.nan), np.full(end - start, np.nan)
    for number, day in days.items():
        low = _first_bucket(number, step_s)
        first, last = max(low, start), min(low + day.mean.size, end)
        if first < last:
            mean[first - start : last - start] = day.mean[first - low : last - low]
            peak[first - start : last - start] = day.peak[first - low : last - low]
    return Series(signal=signal, start=ceil_to(window.start, step_s), step_s=step_s, mean=mean, peak=peak)


def other_step(workload: str, signal: Signal, step_s: int, *, kept: Iterable[int]) -> HistoryAtOtherStep:
    """The refusal to read history at a step at which none was kept."""
    steps = " and ".join(f"{step} s" for step in kept)
    return HistoryAtOtherStep(
        f"the {signal} history of {workload} is kept in steps of {steps}, not of {step_s} s: set the step back, or start a new store"
    )


def _buckets(window: Window, step_s: int) -> tuple[int, int]:
    """The buckets that start in the window, as numbers since the epoch, half-open."""
    return epoch_s(ceil_to(window.start, step_s)) // step_s, epoch_s(ceil_to(window.end, step_s)) // step_s


def _first_bucket(day: int, step_s: int) -> int:
    """The number of the first bucket that starts on the day; a step that does not divide a day gives days of unlike length."""
    return -(-day * DAY_S // step_s)


def _days(start: int, end: int, step_s: int) -> range:
    """The days on which the buckets [start, end) begin."""
    return range(start * step_s // DAY_S, (end - 1) * step_s // DAY_S + 1) if start < end else range(0)

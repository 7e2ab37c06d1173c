"""Arithmetic on rows of days with gaps: NaN is left out, and a batch costs no more than its arrays."""

import numpy as np

from forecaster.series import Floats


def medians(rows: Floats) -> Floats:
    """The median over the days of each series and slot without its NaN, (series, days, slots) -> (series, slots); NaN where there is none.

    A fast `nanmedian` without warnings.
    """
    if not rows.shape[1]:
        return np.full((rows.shape[0], rows.shape[2]), np.nan)
    return median_last(np.ascontiguousarray(rows.transpose(0, 2, 1)))


def median_last(values: Floats) -> Floats:
    """The median over the last axis without its NaN; NaN where there is nothing else."""
    ordered = np.sort(values, axis=-1)  # NaN last
    count = ordered.shape[-1] - np.count_nonzero(np.isnan(ordered), axis=-1)
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None] // 2, axis=-1)[..., 0]
    high = np.take_along_axis(ordered, np.minimum(count // 2, ordered.shape[-1] - 1)[..., None], axis=-1)[..., 0]
    middle: Floats = (low + np.where(count % 2, low, high)) / 2
    return middle


def newest(rows: Floats) -> Floats:
    """The last measured value of each slot, (series, days, slots) with the newest day first -> (series, slots); NaN where there is none."""
    if not rows.shape[1]:
        return np.full((rows.shape[0], rows.shape[2]), np.nan)
    first = np.isnan(rows).argmin(axis=1)
    last: Floats = np.take_along_axis(rows, first[:, None], axis=1)[:, 0]
    return last


def on_a_ring(rows: Floats) -> Floats:
    """Rows of one day (series, slots) whose NaN are drawn linearly between measured neighbours, over midnight too; all NaN stays so."""
    known = ~np.isnan(rows)
    count = known.sum(axis=1)
    partly = np.flatnonzero((count > 0) & (count < rows.shape[1]))
    if not partly.size:
        return rows
    complete = rows.copy()
    slots = np.arange(rows.shape[1])
    for row in partly:
        at = np.flatnonzero(known[row])
        complete[row] = np.interp(slots, at, rows[row, at], period=rows.shape[1])
    return complete


def coarse(rows: Floats, slots: int) -> Floats:
    """Means of measured values over `slots` equal parts of the last axis; NaN where less than half of a part was measured."""
    if slots == rows.shape[-1]:
        return rows
    parts = rows.reshape(*rows.shape[:-1], slots, -1)
    known = ~np.isnan(parts)
    count = known.sum(axis=-1)
    total = np.where(known, parts, 0.0).sum(axis=-1)
    means: Floats = np.where(2 * count >= parts.shape[-1], total / np.maximum(count, 1), np.nan)
    return means


def coarse_slots(per_day: int, most: int = 48) -> int:
    """The largest number of equal parts of a day up to `most`: half hours, unless steps are longer or divide it otherwise."""
    return max(parts for parts in range(1, min(most, per_day) + 1) if per_day % parts == 0)


def moving_mean(line: Floats, half: int) -> Floats:
    """The mean over `half` slots on each side along the last axis, fewer at the ends."""
    total = np.concatenate((np.zeros((*line.shape[:-1], 1)), np.cumsum(line, axis=-1)), axis=-1)
    at = np.arange(line.shape[-1])
    last, first = np.minimum(line.shape[-1], at + half + 1), np.maximum(0, at - half)
    mean: Floats = (total[..., last] - total[..., first]) / (last - first)
    return mean

"""How fine a history really is, whatever step it was asked in."""

import numpy as np

from forecaster.series import Floats

_GRAINS_MIN = (60, 30, 15, 10, 5, 2)
_FEW = 20
"""Changes; fewer show nothing."""
_SAME = 0.99
"""Of all changes: some of them on another minute are a restart."""


def grain_min(minutes: Floats) -> int:
    """The minutes between two values that a history of minutes was kept at: 1, or the largest step that nearly all its changes keep to.

    A server that keeps a sample every 5 minutes repeats it for 5, or leaves 4 out. NaN = not measured, shape (n,).
    """
    measured = np.flatnonzero(~np.isnan(minutes))
    new = measured[1:][np.diff(minutes[measured]) != 0]
    if new.size < _FEW:
        return 1
    return next((step for step in _GRAINS_MIN if np.bincount(new % step).max() >= _SAME * new.size), 1)


def coarser(minutes: Floats, step_min: int) -> Floats:
    """The mean of each bucket of `step_min` minutes, NaN where none was measured; the last one may be short, shape (buckets,)."""
    rows = np.pad(minutes, (0, -minutes.size % step_min), constant_values=np.nan).reshape(-1, step_min)
    known = ~np.isnan(rows)
    count = known.sum(axis=1)
    total = np.where(known, rows, 0.0).sum(axis=1)
    mean: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean

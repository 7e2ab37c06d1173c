"""The cycle of the day or week as sines and cosines, for members that model what is left of a load without it."""

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats
from forecaster.units import DAY_S, WEEK_S

_DAILY, _WEEKLY = 6, 42  # the shortest wave is four hours long
_RIDGE = 1.0


def without_cycle(line: Floats, slots: int, step_s: int, *, weekly: bool) -> tuple[Floats, Floats]:
    """A line less its cycle, shape (n,), NaN where it is, and the cycle of so many slots after it, shape (slots,).

    Sines and cosines down to four hours, by ridge regression on the line less its mean over the cycle around each slot, lest a change
    of level be read as a wave. The ridge weighs as much as one slot, so that waves do not follow the noise of two weeks. Waves that the
    step cannot carry are left out.
    """
    longest_s, most = (WEEK_S, _WEEKLY) if weekly else (DAY_S, _DAILY)
    waves = np.arange(1, most + 1)[longest_s > 2 * step_s * np.arange(1, most + 1)]
    columns = _columns(np.arange(-line.size, slots), step_s / longest_s, waves)
    known = ~np.isnan(line)
    x, y = columns[: line.size][known], (line - _mean_around(line, longest_s // step_s))[known]
    cycle = columns @ np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ y)
    return line - cycle[: line.size], cycle[line.size :]


def _columns(slots: NDArray[np.int64], turns: float, waves: NDArray[np.int64]) -> Floats:
    """A sine and a cosine for each number of waves, shape (slots, 2 x waves); `turns` of the longest one a slot."""
    angles = 2 * np.pi * turns * slots[:, None] * waves
    columns: Floats = np.concatenate((np.sin(angles), np.cos(angles)), axis=1)
    return columns


def _mean_around(line: Floats, length: int) -> Floats:
    """The mean of what was measured in the window of `length` slots around each, or the first or last one at the ends."""
    known = ~np.isnan(line)
    total, count = (np.concatenate(([0.0], np.cumsum(values))) for values in (np.where(known, line, 0.0), known))
    first = np.clip(np.arange(line.size) - length // 2, 0, max(0, line.size - length))
    last = np.minimum(first + length, line.size)
    mean: Floats = (total[last] - total[first]) / np.maximum(count[last] - count[first], 1)
    return mean

"""The cycle of the day or week as sines and cosines, for members that model what is left of a load without it."""

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats
from forecaster.units import DAY_S, WEEK_S

_DAILY, _WEEKLY = 6, 42  # the shortest wave is four hours long
_RIDGE = 1.0


def without_cycle(line: Floats, slots: int, step_s: int, *, weekly: bool) -> tuple[Floats, Floats]:
    """A line less its level and cycle, shape (n,), NaN where it is, and both on so many slots after it, shape (slots,).

    Sines and cosines down to four hours, by ridge regression with the weight of one slot against each, so that a week's worth of them
    do not follow the noise of two weeks. Waves that the step cannot carry are left out.
    """
    longest_s, most = (WEEK_S, _WEEKLY) if weekly else (DAY_S, _DAILY)
    waves = np.arange(1, most + 1)[longest_s > 2 * step_s * np.arange(1, most + 1)]
    columns = _columns(np.arange(-line.size, slots), step_s / longest_s, waves)
    known = ~np.isnan(line)
    level = line[known].mean()
    x = columns[: line.size][known]
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ (line[known] - level))
    cycle = level + columns @ weights
    return line - cycle[: line.size], cycle[line.size :]


def _columns(slots: NDArray[np.int64], turns: float, waves: NDArray[np.int64]) -> Floats:
    """A sine and a cosine for each number of waves, shape (slots, 2 x waves); `turns` of the longest one a slot."""
    angles = 2 * np.pi * turns * slots[:, None] * waves
    columns: Floats = np.concatenate((np.sin(angles), np.cos(angles)), axis=1)
    return columns

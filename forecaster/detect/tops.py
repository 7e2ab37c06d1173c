"""Days whose largest bucket stands out from those of all other days."""

import numpy as np

from forecaster.detect.grid import Grid
from forecaster.units import DAY_S

_SHARE = 7  # of so many days one may stand out; more of them are what the series does
_LEAST_REST = 1


def tops(grid: Grid, ratio: float) -> list[tuple[int, float]]:
    """The days that stand out, each with the largest load that another day would have had at its level, in order.

    Days stand out when the smallest of their largest buckets is more than `ratio` times that of every other day, and that step is larger
    than the one from a typical day to the largest other day: what has spikes of every size by nature has no such step.
    """
    known = np.flatnonzero((grid.largest > 0) & (grid.measured * grid.step_s * 4 >= DAY_S))
    base = np.where(np.isnan(grid.base), 0.0, grid.base)[known]
    height = np.log(grid.largest[known]) - base
    order = np.argsort(-height)
    ordered = height[order]
    for count in range(max(1, known.size // _SHARE), 0, -1):
        rest = ordered[count:]
        if rest.size < _LEAST_REST:
            continue
        step, spread = ordered[count - 1] - rest[0], rest[0] - rest[rest.size // 2]
        if step > max(np.log(ratio), spread):
            return sorted((int(known[i]), float(np.exp(rest[0] + base[i]))) for i in order[:count])
    return []

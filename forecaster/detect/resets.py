"""Single buckets that no service had: a counter that started again, a broken sample."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Flags, Grid, runs
from forecaster.detect.tops import tops
from forecaster.marks import Mark, MarkKind
from forecaster.series import Floats
from forecaster.units import MINUTE_S

_ABSURD_RATIO = 10.0  # over anything on any other day
_ABSURD_S = 15 * MINUTE_S  # or two buckets: a crowd lasts longer
_MOST_A_DAY = 3
_FALL_RATIO = 0.2  # of the lower neighbour
_FALL_SIGMAS = 8.0
_COMMON_RATIO = 0.002  # what falls more often than this does so by nature


def resets(grid: Grid) -> Iterator[Mark]:
    """A mark for each bucket that is absurdly high, or falls alone in a load that never does."""
    yield from _absurd(grid)
    yield from _falls(grid)


def _absurd(grid: Grid) -> Iterator[Mark]:
    """Buckets over ten times the largest of all other days, one or two at once, with the load as usual before and after.

    What comes twice at the same time of the day is a job, however large.
    """
    high = [(start, stop, limit) for day, limit in tops(grid, _ABSURD_RATIO) for start, stop in _high(grid, day, limit)]
    minutes = np.sort([start % grid.per_day for start, _, _ in high])
    if (np.diff(minutes) <= 1).any():
        return
    for start, stop, limit in high:
        times = float(np.nanmax(grid.flat[start:stop])) / limit
        yield grid.mark(MarkKind.RESET, start, stop, f"{times:,.0f} times any other day")


def _high(grid: Grid, day: int, limit: float) -> list[tuple[int, int]]:
    """The absurd buckets of a day, none where they are too many; the last one counts when what came next is known."""
    load, start = grid.flat, day * grid.per_day
    found = [(start + a, start + b) for a, b in runs(np.nan_to_num(grid.load[day]) > limit * _ABSURD_RATIO / 2)]
    most = max(2, grid.buckets(_ABSURD_S))
    if len(found) > _MOST_A_DAY or any(b - a > most for a, b in found):
        return []
    return [(a, b) for a, b in found if a > 0 and b < load.size and load[a - 1] <= 2 * limit and load[b] <= 2 * limit]


def _falls(grid: Grid) -> Iterator[Mark]:
    load = grid.flat
    if load.size < 3:  # noqa: PLR2004 - a bucket and its neighbours
        return
    lower = np.minimum(load[:-2], load[2:])
    low: Flags = load[1:-1] < _FALL_RATIO * lower
    found = np.flatnonzero(low) + 1
    if not found.size or found.size > max(1.0, _COMMON_RATIO * np.count_nonzero(~np.isnan(load))):
        return
    need = _FALL_SIGMAS * _step_noise(load)
    for at in found.tolist():
        around = min(load[at - 1], load[at + 1])
        if np.sqrt(around) - np.sqrt(load[at]) > need:
            yield grid.mark(MarkKind.RESET, at, at + 1, f"fell alone to {load[at] / around:.0%} of its neighbours")


def _step_noise(load: Floats) -> float:
    """A robust sigma of the step from bucket to bucket in square roots, in which counts are alike noisy at every level."""
    steps = np.abs(np.diff(np.sqrt(load)))
    steps = steps[~np.isnan(steps)]
    return 1.4826 * float(np.median(steps)) if steps.size else np.inf

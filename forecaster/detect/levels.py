"""Level shifts: another level from one day to the next, which has lasted."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Grid
from forecaster.marks import Mark, MarkKind

_WEEK, _LASTING = 7, 3
_LEAST_LOG = np.log(1.3)
_SIGMAS = 4.0
_ENOUGH_DAYS = 14


def levels(grid: Grid) -> Iterator[Mark]:
    """A mark on the three days by which a level is known to have shifted: each beyond 30 % and four sigmas of the same weekday before.

    The days before must not have been on the way: growth is no shift.
    """
    if grid.days < _ENOUGH_DAYS:
        return
    change = grid.level[_WEEK:] - grid.level[:-_WEEK]
    known = change[~np.isnan(change)]
    if known.size < _WEEK:
        return
    centre = float(np.median(known))
    sigma = 1.4826 * float(np.median(np.abs(known - centre)))
    limit = max(_LEAST_LOG, _SIGMAS * sigma)
    beyond = np.abs(change - centre) > limit
    for day in (np.flatnonzero(beyond[1:-1] & beyond[2:]) + 1).tolist():
        lasting, before = change[day : day + _LASTING] - centre, change[max(0, day - _LASTING) : day] - centre
        settled = not (np.abs(before) > limit / 2).any()
        shifted = lasting.size == _LASTING and (np.sign(lasting) == np.sign(lasting[0])).all() and (np.abs(lasting) > limit).all()
        if settled and shifted:
            first = (day + _WEEK) * grid.per_day
            ratio = float(np.exp(np.median(lasting + centre)))
            yield grid.mark(MarkKind.LEVEL_SHIFT, first, first + _LASTING * grid.per_day, f"{ratio - 1:+.0%} on the week before")

"""Members that cost too much for every run are scored all the same, on a sample of days, so that a user sees what they would bring."""

import zlib
from collections.abc import Sequence

import numpy as np

from forecaster.models.drawing import drawn
from forecaster.models.keeping import Circle, only
from forecaster.models.kept import Kept
from forecaster.models.past import Member
from forecaster.models.rows import coarse
from forecaster.series import Floats

MOST = 8
"""So many series x members are drawn a chunk and day: a few seconds, whatever the size of the fleet."""
_WEEK = 7
_YESTERDAY = 1  # its day is over: what is drawn for it is scored at once


def watch(kept: Kept, circle: Circle, watched: Sequence[Member], minimum_days: float) -> None:
    """Draw watched members at yesterday's midnight for the series that wait longest. Writes to the arrays of `kept`.

    Columns of watched members follow those of the circle. None is drawn twice within a week; whose turn it is among those that wait
    alike follows from names and day, so that a fleet's cost is even and one that cannot be drawn is not in the others' way for ever.
    """
    first = len(circle.members)
    waits = _waits(kept.members[:, :, first : first + len(watched)])
    left = MOST - np.count_nonzero(waits == _YESTERDAY)
    young = circle.history_days - _YESTERDAY < minimum_days
    due = [
        (-int(waits[row, i]), _turn(name, one.name, kept.today), row, i)
        for row, name in enumerate(circle.midnight.names)
        for i, one in enumerate(watched)
        if waits[row, i] > _WEEK and not young[row]
    ]
    for _, _, row, i in sorted(due)[: max(0, int(left))]:
        then = only(circle, np.array([row])).midnight.earlier(_YESTERDAY)
        path = drawn((watched[i],), then, then.clock.per_day, circle.calendar).paths[0, 0]
        kept.members[row, _YESTERDAY, first + i] = coarse(np.maximum(np.exp(path) - then.offset[0], 0.0), kept.form.parts)


def loss_ratio(losses: Floats, naive_losses: Floats) -> float | None:
    """A member's loss at the median over the naive one's on the same days; below 1 it is better. None where no day has both.

    Both of shape (days,), each the mean absolute error of one origin's day, NaN = not drawn or nothing measured.
    """
    both = ~np.isnan(losses) & ~np.isnan(naive_losses)
    naive = float(naive_losses[both].sum())
    return float(losses[both].sum()) / naive if naive > 0 else None


def _waits(members: Floats) -> Floats:
    """Days since each member was last drawn, (series, members); one more than all kept days where it never was."""
    there = np.asarray(~np.isnan(members).all(axis=3))
    waits: Floats = np.where(there.any(axis=1), there.argmax(axis=1), members.shape[1] + 1)
    return waits


def _turn(series: str, member: str, day: int) -> int:
    return zlib.crc32(f"{member}/{series}/{day}".encode())

"""When a member that costs too much for every run is scored all the same, so that a user sees what switching it on would bring."""

import zlib

import numpy as np

from forecaster.series import Floats

COSTLY = frozenset({"prophet", "unobserved_components", "sarimax", "statsforecast"})
"""Members that are drawn on a sample of days: one of them costs a series more than all others together."""

_WEEK = 7


def is_sampled(name: str, member: str, day_number: int) -> bool:
    """Whether a member is drawn for the series `name` at the origin of a day, counted in whole local days from any fixed one.

    A costly member is on one day in seven. Which one follows from both names: a fleet's cost is even over the week, a series' members
    do not fall on one day, and the weekdays alternate with nobody's weeks. Every other member is on all days.
    """
    if member not in COSTLY:
        return True
    return (zlib.crc32(f"{member}/{name}".encode()) + day_number) % _WEEK == 0


def loss_ratio(losses: Floats, naive_losses: Floats) -> float | None:
    """A member's loss at the median over the naive one's on the same days; below 1 it is better. None where no day has both.

    Both of shape (days,), each the mean absolute error of one origin's day, NaN = not drawn or nothing measured.
    """
    both = ~np.isnan(losses) & ~np.isnan(naive_losses)
    naive = float(naive_losses[both].sum())
    return float(losses[both].sum()) / naive if naive > 0 else None

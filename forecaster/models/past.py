"""What a member of the ensemble may know: a chunk of series before one origin, by the clock on the wall, in logarithms."""

from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from forecaster.models.wallclock import WallClock
from forecaster.series import Floats, Signal

_LEAST_OFFSET, _MOST_OFFSET = 0.02, 1.0
_SIGMA_OF_STEP = 0.886  # sqrt(pi) / 2: the mean size of a difference of two Gaussians is 1.128 sigma


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Past:
    """A chunk of series cut into spans of 24 hours on the wall that end at the origin; slot 0 is the first bucket after it.

    logs[i, d, s]: log(load + offset[i]) of series i, s slots into the span that began d + 1 days before the origin, shape (series, days,
    per_day): row 0 is the newest, column 0 has the origin's time of day, NaN = not measured, or measured and not believed.
    offset: in the signal's unit, shape (series,). clock: where the origin lies on the wall.
    """

    names: tuple[str, ...]
    signal: Signal
    clock: WallClock
    logs: Floats = field(repr=False)
    offset: Floats = field(repr=False)

    @property
    def days(self) -> int:
        """How many spans there are, the oldest perhaps measured in part only."""
        return int(self.logs.shape[1])

    @property
    def lines(self) -> Floats:
        """The same logarithms from old to new, shape (series, days x per_day)."""
        lines: Floats = self.logs[:, ::-1].reshape(len(self.names), -1)
        return lines

    def earlier(self, days: int) -> Self:
        """What was known so many days before."""
        clock = replace(self.clock, local_s=self.clock.local_s - days * 86_400)
        return replace(self, clock=clock, logs=self.logs[:, days:])

    def only(self, rows: NDArray[np.intp]) -> Self:
        """The series of those rows."""
        return replace(self, names=tuple(self.names[i] for i in rows), logs=self.logs[rows], offset=self.offset[rows])


class Member(Protocol):
    """One model of the median, drawn for a whole chunk at once. Deterministic; knows its past and nothing else.

    A series must not depend on the others of its chunk.
    """

    @property
    def name(self) -> str:
        """As it stands in configurations, records and `review`."""

    def draw(self, past: Past, reach: int) -> Floats:
        """log(load + offset) of the slots 0 .. reach - 1 on the wall after the origin, shape (series, reach).

        A row of NaN is no opinion, as on a series with too little history for it.
        """


def log_offsets(lines: Floats) -> Floats:
    """What each series (series, n) adds to its load before the logarithm, so that loads near zero keep a sane ratio, shape (series,).

    The variance of the noise over the mean, from the mean step between neighbours: one request a bucket for Poisson counts, the size
    from which on noise grows slower than load; between 2 % and 100 % of the mean. 1 for a series that was never above zero.
    """
    known = ~np.isnan(lines)
    mean = np.where(known, lines, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    both = known[:, 1:] & known[:, :-1]
    steps = np.where(both, np.abs(np.diff(np.where(known, lines, 0.0), axis=1)), 0.0).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
    some = np.where(mean > 0, mean, 1.0)
    offsets: Floats = some * np.clip((_SIGMA_OF_STEP * steps / some) ** 2, _LEAST_OFFSET, _MOST_OFFSET)
    return np.where(mean > 0, offsets, 1.0)

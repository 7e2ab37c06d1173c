"""What the rows of a file say besides their numbers: some came twice, some stand behind later ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from connectors.sources.readings import Readings
from forecaster.detect.grid import bridged, runs
from forecaster.marks import Mark, MarkKind
from forecaster.series import Signal, Window
from forecaster.units import HOUR_S, epoch_s, from_epoch_s

Counts = NDArray[np.int64]
_APART_S = HOUR_S  # what lies closer together is one thing to tell


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Oddities:
    """How many rows of each bucket had the stamp of another row, and how many stand behind a later row; on the grid of the readings."""

    start: datetime
    step_s: int
    doubled: Counts = field(repr=False)
    late: Counts = field(repr=False)

    def marks(self, signal: Signal, window: Window, now: datetime) -> tuple[Mark, ...]:
        """A mark for each stretch of such rows in the buckets of the window that have ended by its end."""
        doubled = self._marks(MarkKind.DUPLICATE, self.doubled, "came again with a stamp that was there already", window)
        late = self._marks(MarkKind.LATE, self.late, "stood behind later ones", window)
        return tuple(Mark(kind=kind, span=span, signal=signal, at=now, detail=detail) for kind, span, detail in (*doubled, *late))

    def _marks(self, kind: MarkKind, counts: Counts, what: str, window: Window) -> Iterator[tuple[MarkKind, Window, str]]:
        first = max(0, (epoch_s(window.start) - epoch_s(self.start)) // self.step_s)
        last = max(first, (epoch_s(window.end) - epoch_s(self.start)) // self.step_s)
        known = counts[first:last]
        for begin, stop in runs(bridged(known > 0, _APART_S // self.step_s)):
            rows = int(known[begin:stop].sum())
            start, end = (from_epoch_s(epoch_s(self.start) + (first + at) * self.step_s) for at in (begin, stop))
            yield kind, Window(start=max(start, window.start), end=end), f"{rows} row{'s' * (rows != 1)} {what}"


def oddities(stamps_us: NDArray[np.int64], buckets: NDArray[np.int64], readings: Readings) -> Oddities:
    """Of rows in the order of the file: their stamps, and the bucket of the readings that each falls into. A file may run backwards."""
    n = readings.numbers.size
    ordered = np.argsort(stamps_us, kind="stable")
    again = ordered[1:][np.diff(stamps_us[ordered]) == 0]
    return Oddities(
        start=readings.start,
        step_s=readings.step_s,
        doubled=np.bincount(buckets[again], minlength=n),
        late=np.bincount(buckets[_behind(stamps_us)], minlength=n),
    )


def _behind(stamps_us: NDArray[np.int64]) -> NDArray[np.intp]:
    """The rows before which a later stamp stands; in a file with the newest row first, an earlier one."""
    steps = np.diff(stamps_us)
    forward = stamps_us if np.count_nonzero(steps > 0) >= np.count_nonzero(steps < 0) else -stamps_us
    return np.flatnonzero(forward < np.maximum.accumulate(forward))

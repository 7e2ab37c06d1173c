"""Everything that is found in a history, as one call."""

from datetime import datetime

from forecaster.detect.crowds import crowds
from forecaster.detect.grid import Grid, grid_of
from forecaster.detect.levels import levels
from forecaster.detect.missing import missing
from forecaster.detect.outages import outages
from forecaster.detect.plateaus import Companions, plateaus, served
from forecaster.detect.resets import resets
from forecaster.detect.stuck import stuck
from forecaster.marks import Mark, MarkKind
from forecaster.series import Series

_ALONE = Companions()


def detect(series: Series, now: datetime, companions: Companions = _ALONE) -> tuple[Mark, ...]:
    """The marks of what a history says that was not so, by start; nothing that was measured after `now` is looked at.

    Cost: about a millisecond a series of 8 weeks at 5 minutes.
    """
    whole = grid_of(series, now)
    if whole is None:
        return ()
    absent = list(missing(whole))
    grid = next((_since(series, mark.span.end, now) for mark in absent if mark.kind is MarkKind.LEADING_ZEROS), whole)
    broken = [*resets(grid), *served(stuck(grid), grid, companions)]
    clean: Grid = grid.without(broken) if broken else grid
    down = list(outages(clean))
    clean = clean.without(down) if down else clean
    found = [*absent, *broken, *down, *crowds(clean), *plateaus(clean, companions), *levels(clean)]
    return tuple(sorted(found, key=lambda mark: (mark.span.start, mark.span.end, mark.kind)))


def _since(series: Series, start: datetime, now: datetime) -> Grid:
    """The grid from the first traffic on: beside weeks of zeros before it, every load would be a crowd."""
    grid = grid_of(series.between(start, series.end), now)
    assert grid is not None  # noqa: S101  its first bucket is the first one above zero
    return grid

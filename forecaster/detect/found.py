"""Everything that is found in a history, as one call."""

from datetime import datetime

from forecaster.detect.crowds import crowds
from forecaster.detect.grid import Grid, grid_of
from forecaster.detect.levels import levels
from forecaster.detect.missing import missing
from forecaster.detect.outages import outages
from forecaster.detect.plateaus import Companions, plateaus
from forecaster.detect.resets import resets
from forecaster.detect.stuck import stuck
from forecaster.marks import Mark
from forecaster.series import Series

_ALONE = Companions()


def detect(series: Series, now: datetime, companions: Companions = _ALONE) -> tuple[Mark, ...]:
    """The marks of what a history says that was not so, by start; nothing that was measured after `now` is looked at.

    Cost: about a millisecond a series of 8 weeks at 5 minutes.
    """
    grid = grid_of(series, now)
    if grid is None:
        return ()
    broken = [*resets(grid), *stuck(grid)]
    clean: Grid = grid.without(broken) if broken else grid
    down = list(outages(clean))
    clean = clean.without(down) if down else clean
    found = [*missing(grid), *broken, *down, *crowds(clean), *plateaus(clean, companions), *levels(clean)]
    return tuple(sorted(found, key=lambda mark: (mark.span.start, mark.span.end, mark.kind)))

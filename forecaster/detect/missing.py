"""What was not there: long gaps, and zeros before the first request."""

from collections.abc import Iterator

import numpy as np

from forecaster.detect.grid import Grid, runs
from forecaster.marks import Mark, MarkKind
from forecaster.units import DAY_S, HOUR_S, MINUTE_S

SHORT_GAP_S = 30 * MINUTE_S
SHORT_GAP_BUCKETS = 2
"""A gap is short up to half an hour, or up to two buckets where they are longer."""
_DEPLOYED_S = DAY_S  # shorter than a day, zeros at the start of a history may be a night


def missing(grid: Grid) -> Iterator[Mark]:
    """A mark for each long gap between measured buckets, and one for a day or more of zeros before the first traffic."""
    load = grid.flat
    measured = ~np.isnan(load)
    short = max(SHORT_GAP_BUCKETS, int(SHORT_GAP_S // grid.step_s))
    for start, stop in runs(~measured):
        if start > 0 and stop < load.size and stop - start > short and measured[:start].any():
            yield grid.mark(MarkKind.GAP, start, stop, f"{(stop - start) * grid.step_s / HOUR_S:.1f} h were not measured")
    first, busy = int(np.argmax(measured)), int(np.argmax(load > 0))
    if (busy - first) * grid.step_s >= _DEPLOYED_S:
        days = (busy - first) * grid.step_s / DAY_S
        yield grid.mark(MarkKind.LEADING_ZEROS, first, busy, f"{days:.1f} days of zero before the first traffic")

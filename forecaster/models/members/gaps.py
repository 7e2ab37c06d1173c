"""Lines without gaps, for libraries that take none."""

import numpy as np

from forecaster.models.rows import medians, on_a_ring
from forecaster.series import Floats


def complete(days: Floats, season: int) -> Floats:
    """Days from old to new, shape (days, per_day), as one line in which an unmeasured slot repeats the season of `season` days before.

    That moves neither level nor season much. A slot of the first season takes the middle of its time of day over that season's days, or
    of all that was measured where that time of day never was.
    """
    if not np.isnan(days).any():
        return days.reshape(-1)
    usual = np.nan_to_num(on_a_ring(medians(days[None, :season]))[0], nan=float(np.nanmedian(days)))
    whole = days.copy()
    for day, row in enumerate(whole):
        np.copyto(row, whole[day - season] if day >= season else usual, where=np.isnan(row))
    return whole.reshape(-1)

"""Which of many replayed policies to recommend."""

import numpy as np

from forecaster.series import Floats

_ALIKE = 1.1
"""Where no policy is in time, up to this factor of the least lateness counts as equally late: the last requests of a flash crowd
are not worth a fleet that is several times as large."""


def cheapest_in_time(late_ratio: Floats, replica_hours: Floats, late_limit_ratio: float) -> int:
    """The policy with the least replica-hours among those at most `late_limit_ratio` late, or among the least late if none is.

    Arrays of shape (policies,); of equally cheap policies the least late one, of equal ones the first.
    """
    least = float(late_ratio.min())
    limit = late_limit_ratio if least <= late_limit_ratio else least * _ALIKE
    order = np.lexsort((late_ratio, np.where(late_ratio <= limit, replica_hours, np.inf)))
    return int(order[0])

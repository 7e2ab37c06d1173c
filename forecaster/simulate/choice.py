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


PRICES = (25.0, 50.0, 100.0, 200.0)
"""What a minute of late work is worth, in minutes of a replica: at the newsvendor's price p, capacity is held until it is needed with a
chance of 1 / p (Arrow, Harris, Marschak 1951). Dearer prices buy days that were bad once and will not come again: 400 and 800 cost more
at equal lateness on the traces that this was tried on."""


def price_in_time(
    late_ratio: Floats, late_min: Floats, paid_min: Floats, late_limit_ratio: float, prices: tuple[float, ...] = PRICES
) -> float:
    """The lowest of the prices at which the policy that costs least is in time, the highest if none is.

    A policy that is cheapest at some price is no fluke of a limit that one crowd moves. Arrays of shape (policies,): late_min is late work
    in minutes of a replica, paid_min the minutes that replicas are paid. prices: rising; one that a person named stands alone.
    """
    for price in prices:
        if late_ratio[np.argmin(paid_min + price * late_min)] <= late_limit_ratio:
            return price
    return prices[-1]

"""Load as it was at the same time of day or of the week: the members that cost nothing, and that every other one has to beat."""

import numpy as np

from forecaster.models.past import Past
from forecaster.models.rows import newest, on_a_ring
from forecaster.series import Floats

_WEEK = 7


class NaiveDay:
    """The last measured load at the same time of day.

    Reference: Hyndman and Athanasopoulos, Forecasting: principles and practice, 5.2. Cost: under 0.1 ms CPU a series.
    """

    name = "naive_day"

    def draw(self, past: Past, reach: int) -> Floats:
        """One day over and over; slots that were never measured are drawn linearly between their neighbours."""
        day = on_a_ring(newest(past.logs))
        return np.tile(day, -(-reach // past.clock.per_day))[:, :reach]


class NaiveWeek:
    """The last measured load at the same time of the same weekday; that of the day before where there is none.

    Reference: as NaiveDay. Cost: under 0.1 ms CPU a series.
    """

    name = "naive_week"

    def draw(self, past: Past, reach: int) -> Floats:
        """One week over and over."""
        daily = on_a_ring(newest(past.logs))
        weekdays = []
        for day in range(-(-reach // past.clock.per_day)):
            same = newest(past.logs[:, (_WEEK - 1 - day) % _WEEK :: _WEEK])
            weekdays.append(np.where(np.isnan(same), daily, same))
        return np.concatenate(weekdays, axis=1)[:, :reach]

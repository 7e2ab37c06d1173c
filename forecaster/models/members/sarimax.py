"""The cycle of the day or week by regression, with seasonal ARMA errors from statsmodels' SARIMAX."""

import numpy as np

from forecaster.models.members.coarse import coarse
from forecaster.models.members.cycles import without_cycle
from forecaster.models.members.quiet import quiet
from forecaster.models.past import Past
from forecaster.series import Floats

_GRID_S = 3_600
_MOST_DAYS, _LEAST_DAYS, _WEEKLY_FROM_DAYS = 28, 3, 14
_ORDER = (1, 0, 1)
_DAILY_ORDER = (1, 0, 0)
_MOST_STEPS = 20
_LEVEL_DAYS = 7


class Sarimax:
    """log(load) = sines of the day or week by regression + errors that remember the hour and the day before, on hourly means.

    SARIMAX(1,0,1)(1,0,0) by the day, around the mean of the last seven days; gaps are states that nobody saw. A weekly season inside of
    the filter would be 168 states, so the cycle is taken off first. The optimiser has 20 steps; where it has not converged by then its
    path is still one.

    Reference: Box and Jenkins 1970; statsmodels.tsa.statespace.SARIMAX. Cost: 0.25 CPU-s a series of 28 days, a hundred times
    Holt-Winters. Off by default for that. Worth switching on for a few dear series: its error was 0.73 of last week's load's over eight
    real traces, the least of all members that bring a library.
    """

    name = "sarimax"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than three days of history, on a week without load, or where the filter fails."""
        from statsmodels.tsa.statespace.sarimax import SARIMAX  # noqa: PLC0415  slow to import, and sets filters of warnings

        grid = coarse(past, _GRID_S, _MOST_DAYS)
        by_the_day = (*_DAILY_ORDER, grid.per_day) if grid.per_day > 1 else (0, 0, 0, 0)

        def path(line: Floats, slots: int) -> Floats:
            rest, cycle = without_cycle(line, slots, grid.step_s, weekly=line.size >= _WEEKLY_FROM_DAYS * grid.per_day)
            level = float(np.nanmean(rest[-_LEVEL_DAYS * grid.per_day :]))
            fitted = SARIMAX(rest - level, order=_ORDER, seasonal_order=by_the_day).fit(disp=False, maxiter=_MOST_STEPS)
            drawn: Floats = level + cycle + fitted.forecast(slots)
            return drawn

        with quiet():
            return grid.drawn(reach, _LEAST_DAYS, path)

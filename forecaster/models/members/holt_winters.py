"""Holt-Winters exponential smoothing with a weekly season and fixed smoothing, from statsmodels."""

import numpy as np

from forecaster.models.members.coarse import coarse
from forecaster.models.members.gaps import complete
from forecaster.models.members.quiet import quiet
from forecaster.models.past import Past
from forecaster.series import Floats
from forecaster.units import DAY_S

_GRID_S = 3_600
_MOST_DAYS = 28
_LEAST_DAYS = 2
_WEEK = 7
_LEVEL_MEMORY_S = DAY_S
_SEASON_GAIN = 0.35


class HoltWinters:
    """log(load) = level + weekly season, both by exponential smoothing; a daily season while history is under two weeks.

    The smoothing is fixed, the level's memory being one day whatever the step: fitting it to one series costs a hundred times more and
    gains nothing, and from half a day to four the error moves by 5 %. Older weeks than four would carry under a fifth of the season. An
    unmeasured slot repeats the season before it.

    Reference: Holt 1957, Winters 1960; statsmodels.tsa.holtwinters.ExponentialSmoothing. Cost: 2.7 CPU-ms a series of 28 days,
    whatever the step. On by default: it follows a level within a day, and weighs recent weeks most.
    """

    name = "holt_winters"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than two days of history."""
        from statsmodels.tsa.holtwinters import ExponentialSmoothing  # noqa: PLC0415  slow to import, and sets filters of warnings

        grid = coarse(past, _GRID_S, _MOST_DAYS)
        gains = {"smoothing_level": 1 - np.exp(-grid.step_s / _LEVEL_MEMORY_S)}

        def path(line: Floats, slots: int) -> Floats:
            days = line.reshape(-1, grid.per_day)
            season = _WEEK if len(days) >= 2 * _WEEK else 1
            period, whole = season * grid.per_day, complete(days, season)
            start = {"initialization_method": "known", "initial_level": whole[:period].mean()}
            if period == 1:  # one slot a day and under two weeks: the level is all there is
                fitted = ExponentialSmoothing(whole, **start).fit(**gains, optimized=False)
                return np.full(slots, fitted.level[-1])
            start |= {"seasonal": "add", "seasonal_periods": period, "initial_seasonal": _usual(whole, period)}
            fitted = ExponentialSmoothing(whole, **start).fit(**gains, smoothing_seasonal=_SEASON_GAIN, optimized=False)
            drawn: Floats = fitted.level[-1] + fitted.season[-period:][np.arange(slots) % period]
            return drawn

        with quiet():
            return grid.drawn(reach, _LEAST_DAYS, path)


def _usual(line: Floats, period: int) -> Floats:
    """The middle of each slot over all seasons, each less its mean, shape (period,), from the season of line[0] on.

    All of it is past. Started from the first season alone, two weeks of history would owe two thirds of their forecast to a first week
    that may have held a holiday.
    """
    part = line.size % period
    rows = line[part:].reshape(-1, period)
    usual: Floats = np.median(rows - rows.mean(axis=1, keepdims=True), axis=0)
    return np.roll(usual, part)

"""Holt-Winters exponential smoothing with a weekly season and fixed smoothing, of a whole chunk at once."""

import numpy as np

from forecaster.models.members.coarse import coarse
from forecaster.models.members.gaps import complete
from forecaster.models.past import Past
from forecaster.models.rows import median_last
from forecaster.series import Floats
from forecaster.units import DAY_S

_GRID_S = 1_800
_MOST_DAYS = 28
_LEAST_DAYS = 2
_WEEK = 7
_LEVEL_MEMORY_S = DAY_S
_SEASON_GAIN = 0.35


class HoltWinters:
    """log(load) = level + weekly season, both by exponential smoothing; a daily season while history is under two weeks.

    The smoothing is fixed, the level's memory being one day whatever the step: fitting it to one series costs a hundred times more and
    gains nothing, and from half a day to four the error moves by a few per cent. Older weeks than four would carry under a fifth of the
    season. An unmeasured slot repeats the season before it. The recursion is that of statsmodels' ExponentialSmoothing, which takes one
    series at a time; here a slot of all series is one step, and a test holds both to the same numbers (decision 11).

    Reference: Holt 1957, Winters 1960; statsmodels.tsa.holtwinters.ExponentialSmoothing. Cost: 0.2 CPU-ms a series of 28 days, whatever
    the step. On by default: it follows a level within a day, and weighs recent weeks most.
    """

    name = "holt_winters"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than two days of history."""
        grid = coarse(past, _GRID_S, _MOST_DAYS)
        gains = (1 - float(np.exp(-grid.step_s / _LEVEL_MEMORY_S)), _SEASON_GAIN)

        def paths(lines: Floats, slots: int) -> Floats:
            days = lines.shape[1] // grid.per_day
            season = _WEEK if days >= 2 * _WEEK else 1
            whole = np.stack([complete(line.reshape(days, -1), season) for line in lines])
            level, seasonal = smoothed(whole, season * grid.per_day, *gains)
            return level[:, None] + seasonal[:, np.arange(slots) % seasonal.shape[1]]

        return grid.drawn_alike(reach, _LEAST_DAYS, paths)


def smoothed(lines: Floats, period: int, level_gain: float, season_gain: float) -> tuple[Floats, Floats]:
    """Level and season after the last slot of each line (series, n): (series,) and (series, period), from the slot after it on.

    At one slot a period the level is all there is.
    """
    level = lines[:, :period].mean(axis=1)
    if period == 1:
        for slot in lines.T:
            level = level + level_gain * (slot - level)
        return level, np.zeros((len(lines), 1))
    season = _usual(lines, period).T.copy()
    for at, slot in enumerate(np.ascontiguousarray(lines.T)):
        here = season[at % period]
        above = slot - level
        level = level + level_gain * (above - here)
        season[at % period] = here + season_gain * (above - here)
    return level, np.roll(season, -(lines.shape[1] % period), axis=0).T


def _usual(lines: Floats, period: int) -> Floats:
    """The middle of each slot over all seasons, each less its mean, (series, period), from the season of the first slot on.

    All of it is past. Started from the first season alone, two weeks of history would owe two thirds of their forecast to a first week
    that may have held a holiday.
    """
    part = lines.shape[1] % period
    rows = lines[:, part:].reshape(len(lines), -1, period)
    usual = median_last(np.ascontiguousarray((rows - rows.mean(axis=2, keepdims=True)).transpose(0, 2, 1)))
    return np.roll(usual, part, axis=1)

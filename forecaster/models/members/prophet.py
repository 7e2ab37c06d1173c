"""Prophet with daily and weekly seasonality: the model that people expect to compare with."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecaster.models.members.coarse import Coarse, coarse
from forecaster.models.members.quiet import quiet
from forecaster.models.past import Past
from forecaster.series import Floats
from forecaster.units import WEEK_S

_GRID_S = 1_800  # four daily harmonics see nothing finer, and a fit takes a sixth of the time
_MOST_DAYS = 56
_LEAST_DAYS = 2
_WEEKLY_FROM_DAYS = 14
_LOGGERS = ("prophet", "prophet.models", "prophet.plot", "cmdstanpy")


class Prophet:
    """Prophet's trend and seasonality of log(load). The weekly season joins at two weeks of history.

    Times are naive, the only ones that Prophet takes: those of the clock on the wall, counted from the week of the origin so that the date
    does not steer the optimiser. Each fit runs in a child process of its own.

    Reference: Taylor and Letham 2018, Forecasting at scale. Cost: 0.12 CPU-s a series of 28 days,
    half of it in the child process. Off by default: as a member of the ensemble it adds 1 % or less. Its error was 0.90 of last week's
    load's over eight real traces, with its smooth week 2.4 on taxis. Worth switching on to compare with it.
    """

    name = "prophet"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than two days of history, or where Prophet fails."""
        grid = coarse(past, _GRID_S, _MOST_DAYS)
        origin_s = past.clock.local_s % WEEK_S
        with quiet(*_LOGGERS):
            return grid.drawn(reach, _LEAST_DAYS, lambda line, slots: _path(line, slots, grid, origin_s))


def _path(line: Floats, slots: int, grid: Coarse, origin_s: int) -> Floats:
    """One fit, and its values at the middles of slots."""
    from prophet import Prophet as Library  # noqa: PLC0415  imports for a second that others need not wait

    weekly = line.size >= _WEEKLY_FROM_DAYS * grid.per_day
    known = np.flatnonzero(~np.isnan(line))
    model = Library(daily_seasonality=grid.per_day > 1, weekly_seasonality=weekly, yearly_seasonality=False, uncertainty_samples=0)
    model.fit(pd.DataFrame({"ds": _middles(origin_s, known - line.size, grid.step_s), "y": line[known]}), seed=1)
    ahead = pd.DataFrame({"ds": _middles(origin_s, np.arange(slots), grid.step_s)})
    path: Floats = model.predict(ahead)["yhat"].to_numpy()
    return path


def _middles(origin_s: int, slots: NDArray[np.int64], step_s: int) -> pd.DatetimeIndex:
    """The middle of each slot, counted from the origin, as times of day and weekdays on the wall."""
    return pd.to_datetime((origin_s + slots * step_s + step_s // 2).astype("datetime64[s]"))

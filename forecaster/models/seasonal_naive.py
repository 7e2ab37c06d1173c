"""Same time yesterday or last week: the fallback, and the baseline that every other model has to beat."""

from datetime import datetime

import numpy as np

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast, Horizon, State
from forecaster.models.hindcast import Paths
from forecaster.models.issue import Request, issue
from forecaster.models.stamp import check_stamp, stamp
from forecaster.models.wallclock import History, filled
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S

_VERSION = 1
_WEEK = 7
_SCORED_DAYS = 14
_LEAST_SCORED_DAYS = 2


class SeasonalNaive:
    """The last measured load at the same time of day: of the day before, or of the same weekday where that was closer lately.

    Reference: Hyndman and Athanasopoulos, Forecasting: principles and practice, 5.2. Cost: about 0.01 CPU-s a series of 8 weeks at
    5 minutes, nearly all of it for the quantiles.
    """

    name = "seasonal_naive"
    minimum_history_s = 1 * DAY_S

    def fit(self, panel: Panel, now: datetime) -> State:
        """A stamp only: there is nothing to fit."""
        return stamp(self.name, _VERSION, panel, now)

    def forecast(self, panel: Panel, state: State, horizon: Horizon, levels: tuple[float, ...], calendar: Calendar) -> tuple[Forecast, ...]:
        """One forecast a series. Raises NotEnoughHistory below one day and StateIncompatible."""
        check_stamp(state, self.name, _VERSION, panel, horizon)
        request = Request(model=self.name, minimum_history_s=self.minimum_history_s, horizon=horizon, levels=levels, calendar=calendar)
        return issue(panel, request, _draw)


def _draw(history: History, origins: int, reach: int) -> Paths:
    days = history.days
    weekly = _weekly_is_closer(days, origins)
    ahead = -(-reach // history.clock.per_day)
    return Paths(median=np.stack([_path(days[k:], ahead, weekly=weekly[k])[:reach] for k in range(origins + 1)]))


def _path(days: Floats, ahead: int, *, weekly: bool) -> Floats:
    """The load of the days ahead of one origin, shape (ahead x slots,)."""
    daily = filled(_newest(days))
    if not weekly:
        return np.tile(daily, ahead)
    rows = [_newest(days[(_WEEK - 1 - day) % _WEEK :: _WEEK]) for day in range(ahead)]
    path: Floats = np.concatenate([np.where(np.isnan(row), daily, row) for row in rows])
    return path


def _newest(days: Floats) -> Floats:
    """The last measured load of each slot, NaN where there is none."""
    if not len(days):
        return np.full(days.shape[1], np.nan)
    newest: Floats = days[np.isnan(days).argmin(axis=0), np.arange(days.shape[1])]
    return newest


def _weekly_is_closer(days: Floats, origins: int) -> list[bool]:
    """For each origin, whether last week was closer than yesterday over the 14 days before it, of which 2 at least can be judged."""
    judged = max(0, len(days) - _WEEK)
    newest = days[:judged]
    yesterday = np.abs(newest - days[1 : judged + 1])
    last_week = np.abs(newest - days[_WEEK:])
    both = ~np.isnan(yesterday + last_week)
    gain = np.where(both, yesterday - last_week, 0.0).sum(axis=1)
    scored = both.any(axis=1)
    spans = [slice(origin, origin + _SCORED_DAYS) for origin in range(origins + 1)]
    return [bool(scored[span].sum() >= _LEAST_SCORED_DAYS and gain[span].sum() > 0) for span in spans]

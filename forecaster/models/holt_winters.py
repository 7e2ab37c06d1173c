"""Holt-Winters exponential smoothing with a weekly season and fixed smoothing, from statsmodels."""

import warnings
from datetime import datetime

import numpy as np

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast, Horizon, State
from forecaster.models.hindcast import Paths, log_offset
from forecaster.models.issue import Request, issue
from forecaster.models.stamp import check_stamp, stamp
from forecaster.models.wallclock import History, filled, middle
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S

_VERSION = 1
_WEEK = 7
_LEVEL_MEMORY_S = 2 * DAY_S
_SEASON_GAIN = 0.35


class HoltWinters:
    """log(load) = level + weekly season, both by exponential smoothing; a daily season while history is under two weeks.

    The smoothing is fixed, the level's memory being two days whatever the step, since fitting it to one series costs a hundred times
    more and gains nothing. One pass over history gives the paths of all origins: the state after a bucket knows nothing later.

    Reference: Holt 1957, Winters 1960; statsmodels.tsa.holtwinters.ExponentialSmoothing. Cost: about 0.1 CPU-s a series of 8 weeks
    at 5 minutes.
    """

    name = "holt_winters"
    minimum_history_s = 2 * DAY_S

    def fit(self, panel: Panel, now: datetime) -> State:
        """A stamp only: the pass over history is made where the zone is known, in `forecast`."""
        return stamp(self.name, _VERSION, panel, now)

    def forecast(self, panel: Panel, state: State, horizon: Horizon, levels: tuple[float, ...], calendar: Calendar) -> tuple[Forecast, ...]:
        """One forecast a series. Raises NotEnoughHistory below two days and StateIncompatible."""
        check_stamp(state, self.name, _VERSION, panel, horizon)
        request = Request(model=self.name, minimum_history_s=self.minimum_history_s, horizon=horizon, levels=levels, calendar=calendar)
        return issue(panel, request, _draw)


def _draw(history: History, origins: int, reach: int) -> Paths:
    per_day = history.clock.per_day
    days = -int(history.measured[0]) // per_day  # whole days only: the oldest one of `days` may be a part
    weekly = days >= 2 * _WEEK
    period = per_day * (_WEEK if weekly else 1)
    offset = log_offset(history.days)
    logs = np.log(history.line[-days * per_day :] + offset)
    level, season = _smoothed(_complete(logs, period, per_day), period, history.clock.step_s)
    steps = np.arange(reach) % period
    ends = logs.size - per_day * np.arange(origins + 1)
    median = np.stack([level[end - 1] + season[end - period + steps] for end in ends])
    return Paths(median=np.exp(median) - offset, notes=() if weekly else (_young(history, days),))


def _smoothed(logs: Floats, period: int, step_s: int) -> tuple[Floats, Floats]:
    """Level and season after each bucket, shape (n,) each. Without a season, at one bucket a day, the level is all there is."""
    from statsmodels.tsa.holtwinters import ExponentialSmoothing  # noqa: PLC0415  imports for a second that others need not wait

    first = logs[:period]
    start = {"initialization_method": "known", "initial_level": first.mean()}
    if period > 1:
        start |= {"seasonal": "add", "seasonal_periods": period, "initial_seasonal": first - first.mean()}
    gains = {"smoothing_level": 1 - np.exp(-step_s / _LEVEL_MEMORY_S)} | ({"smoothing_seasonal": _SEASON_GAIN} if period > 1 else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of starts that were not optimised, which is what was asked for
        fitted = ExponentialSmoothing(logs, **start).fit(**gains, optimized=False)
    return np.asarray(fitted.level), np.asarray(fitted.season) if period > 1 else np.zeros(logs.size)


def _complete(logs: Floats, period: int, per_day: int) -> Floats:
    """History without gaps: an unmeasured bucket repeats the season before it, which moves neither level nor season much.

    In the first season it takes the middle of its time of day over that season's days.
    """
    rows = logs.reshape(-1, per_day).copy()
    season = period // per_day
    usual = filled(middle(rows[:season]))
    usual = np.nan_to_num(usual, nan=float(np.nanmedian(logs)))
    for day in range(len(rows)):
        before = rows[day - season] if day >= season else usual
        rows[day] = np.where(np.isnan(rows[day]), before, rows[day])
    return rows.reshape(-1)


def _young(history: History, days: int) -> Reason:
    detail = f"{history.name} has {days} days of history, under two weeks: holt_winters forecasts it with a daily season only"
    return Reason(code=Code.YOUNG_HISTORY, detail=detail)

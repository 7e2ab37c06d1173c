"""Prophet with daily and weekly seasonality: the model that people expect to compare with."""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.errors import StateIncompatible
from forecaster.forecast import Forecast, Horizon, State
from forecaster.models.hindcast import Paths, log_offset
from forecaster.models.issue import Request, issue
from forecaster.models.stamp import check_covers, check_model
from forecaster.models.wallclock import History
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S, epoch_s

_VERSION = 1
_ORIGINS = 7  # one fit each: a week of errors for eight times the cost of one fit
_TRAIN_STEP_S = 1_800  # four daily harmonics see nothing finer, and a fit takes a sixth of the time
_WEEKLY_FROM_DAYS = 14
_LARGEST_EXPONENT = 700.0  # exp(709) is the end of float64; a path up there is refused as diverged
_LOGGERS = ("prophet", "prophet.models", "cmdstanpy")


@dataclass(frozen=True, slots=True)
class ProphetModel:
    """Prophet's trend and seasonality, of log(load) unless `log` is off; the quantiles are ours, from hindcasts of a week.

    `fit` trains one Prophet on what was known at `now` and one on what was known on each of the seven days before, so that `forecast`
    only evaluates them. Times are naive UTC, the only ones Prophet takes; the weekly season joins at two weeks of history.

    Reference: Taylor and Letham 2018, Forecasting at scale. Cost: about 1 CPU-s a series of 8 weeks for the eight fits, each in a
    child process of its own.
    """

    name = "prophet"
    minimum_history_s = 2 * DAY_S

    log: bool = True

    def fit(self, panel: Panel, now: datetime) -> State:
        """Trained models as JSON, without their training data: about 5 kB each."""
        end = min(panel.mean.shape[1], (epoch_s(now) - epoch_s(panel.start)) // panel.step_s)
        series = {name: _fitted(mean[:end], panel, log=self.log) for name, mean in zip(panel.names, panel.mean, strict=True)}
        payload = {"fitted_s": epoch_s(now), "log": self.log, "series": series}
        return State(model=self.name, version=_VERSION, payload=json.dumps(payload).encode())

    def forecast(self, panel: Panel, state: State, horizon: Horizon, levels: tuple[float, ...], calendar: Calendar) -> tuple[Forecast, ...]:
        """One forecast a series. Raises NotEnoughHistory below two days, ModelFailed where it diverged, and StateIncompatible."""
        series = self._stored(state, panel, horizon)
        request = Request(
            model=self.name,
            minimum_history_s=self.minimum_history_s,
            horizon=horizon,
            levels=levels,
            calendar=calendar,
            origins=_ORIGINS,
        )

        def draw(history: History, origins: int, reach: int) -> Paths:
            return _drawn(series[history.name], history, epoch_s(horizon.start), (origins + 1, reach), log=self.log)

        return issue(panel, request, draw)

    def _stored(self, state: State, panel: Panel, horizon: Horizon) -> dict[str, dict[str, Any]]:
        """The fitted models of each series."""
        check_model(state, self.name, _VERSION)
        try:
            payload = json.loads(state.payload)
            fitted_s, log, series = int(payload["fitted_s"]), bool(payload["log"]), dict(payload["series"])
        except (ValueError, KeyError, TypeError) as error:
            msg = f"the stored state of {self.name} cannot be read: fit again"
            raise StateIncompatible(msg) from error
        check_covers(self.name, tuple(series), panel, fitted_s, horizon)
        if log != self.log:
            msg = f"the state of {self.name} was fitted with log={log} and cannot be used with log={self.log}: fit again"
            raise StateIncompatible(msg)
        return series


def _fitted(mean: Floats, panel: Panel, *, log: bool) -> dict[str, Any]:
    """The offset of the logarithm, and one trained model a day back for as long as half of the minimum history was measured."""
    per_day = max(1, DAY_S // panel.step_s)
    if not np.nansum(mean) > 0:
        return {"offset": 0.0, "weekly": False, "models": []}
    offset = log_offset(mean)
    load = np.log(mean + offset) if log else mean
    known = [load[: max(0, mean.size - day * per_day)] for day in range(_ORIGINS + 1)]
    enough = [part for part in known if np.count_nonzero(~np.isnan(part)) >= per_day]
    span = np.flatnonzero(~np.isnan(mean))
    weekly = bool(span[-1] - span[0] + 1 >= _WEEKLY_FROM_DAYS * per_day)
    return {"offset": offset, "weekly": weekly, "models": [_trained(part, panel, weekly=weekly) for part in enough]}


def _trained(load: Floats, panel: Panel, *, weekly: bool) -> str:
    """One Prophet as JSON."""
    from prophet import Prophet  # noqa: PLC0415  imports for a second that others need not wait
    from prophet.serialize import model_to_json  # noqa: PLC0415

    frame = _frame(load, panel)
    with _quiet():
        model = Prophet(daily_seasonality=panel.step_s < DAY_S, weekly_seasonality=weekly, yearly_seasonality=False, uncertainty_samples=0)
        model.fit(frame, seed=1)
        # Prediction needs neither the training data nor the trend on it, and the store should not carry them.
        model.history, model.history_dates = frame.head(1), frame["ds"].head(1)
        model.params.pop("trend", None)
        return str(model_to_json(model))


def _frame(load: Floats, panel: Panel) -> pd.DataFrame:
    """Means over half an hour at their middles, as Prophet's columns `ds` and `y`, unmeasured ones left out."""
    group = max(1, _TRAIN_STEP_S // panel.step_s)
    rows = np.pad(load, (-load.size % group, 0), constant_values=np.nan).reshape(-1, group)
    known = ~np.isnan(rows)
    end_s = epoch_s(panel.start) + load.size * panel.step_s
    middles_s = end_s - group * panel.step_s * (np.arange(len(rows), 0, -1) - 0.5)
    some = known.any(axis=1)
    means = np.where(known, rows, 0.0).sum(axis=1)[some] / known.sum(axis=1)[some]
    return pd.DataFrame({"ds": _instants(middles_s[some]), "y": means})


def _instants(times_s: NDArray[np.floating]) -> pd.DatetimeIndex:
    return pd.to_datetime(np.round(times_s).astype("datetime64[s]"))


def _drawn(fitted: dict[str, Any], history: History, start_s: int, shape: tuple[int, int], *, log: bool) -> Paths:
    """The stored models' paths from the horizon's start and the days before it, shape (origins + 1, reach)."""
    from prophet.serialize import model_from_json  # noqa: PLC0415

    clock = history.clock
    median = np.full(shape, np.nan)
    middles_s = start_s + clock.step_s * (np.arange(shape[1]) + 0.5)
    for day, stored in enumerate(fitted["models"][: shape[0]]):
        with _quiet():
            path = model_from_json(stored).predict(pd.DataFrame({"ds": _instants(middles_s - day * DAY_S)}))["yhat"].to_numpy()
        median[day] = np.exp(np.minimum(path, _LARGEST_EXPONENT)) - fitted["offset"] if log else path
    return Paths(median=median, notes=() if fitted["weekly"] else (_young(history),))


def _young(history: History) -> Reason:
    detail = f"{history.name} has under two weeks of history: prophet forecasts it with a daily season only"
    return Reason(code=Code.YOUNG_HISTORY, detail=detail)


@contextmanager
def _quiet() -> Iterator[None]:
    """Prophet and its backend log each fit twice and warn of their own use of pandas; neither is news for anybody."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled

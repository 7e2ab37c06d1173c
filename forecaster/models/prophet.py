"""Prophet with daily and weekly seasonality: the model that people expect to compare with."""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime

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
from forecaster.units import DAY_S, WEEK_S, epoch_s

_VERSION = 1
_ORIGINS = 7  # one fit each: a week of errors for eight times the cost of one fit
_TRAIN_STEP_S = 1_800  # four daily harmonics see nothing finer, and a fit takes a sixth of the time
_WEEKLY_FROM_DAYS = 14
_LEAST_ROWS = 2  # Prophet refuses a single one
_LARGEST_EXPONENT = 700.0  # exp(709) is the end of float64; a path up there is refused as diverged
_LOGGERS = ("prophet", "prophet.models", "prophet.plot", "cmdstanpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """One series: loads are in multiples of `offset`, times are counted from `anchor_s`; one Prophet as JSON a day back."""

    offset: float
    anchor_s: int
    weekly: bool
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProphetModel:
    """Prophet's trend and seasonality, of log(load) unless `log` is off; the quantiles are ours, from hindcasts of a week.

    `fit` trains one Prophet on what was known at `now` and one on what was known on each of the seven days before, so that `forecast`
    only evaluates them. Times are naive UTC, the only ones Prophet takes, counted from the week of the fit, and loads are in multiples
    of a share of their mean: then neither the date nor the unit steers the optimiser. The weekly season joins at two weeks of history.

    Reference: Taylor and Letham 2018, Forecasting at scale. Cost: about 1 CPU-s a series of 8 weeks for the eight fits, each in a
    child process of its own.
    """

    name = "prophet"
    minimum_history_s = 2 * DAY_S

    log: bool = True

    def fit(self, panel: Panel, now: datetime) -> State:
        """Trained models as JSON, without their training data: about 5 kB each."""
        end = min(panel.mean.shape[1], (epoch_s(now) - epoch_s(panel.start)) // panel.step_s)
        series = {name: asdict(_fitted(mean[:end], panel, log=self.log)) for name, mean in zip(panel.names, panel.mean, strict=True)}
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

    def _stored(self, state: State, panel: Panel, horizon: Horizon) -> dict[str, _Fitted]:
        """The fitted models of each series."""
        check_model(state, self.name, _VERSION)
        try:
            payload = json.loads(state.payload)
            fitted_s, log = int(payload["fitted_s"]), bool(payload["log"])
            series = {name: _Fitted(**fitted) for name, fitted in payload["series"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            msg = f"the stored state of {self.name} cannot be read: fit again"
            raise StateIncompatible(msg) from error
        check_covers(self.name, tuple(series), panel, fitted_s, horizon)
        if log != self.log:
            msg = f"the state of {self.name} was fitted with log={log} and cannot be used with log={self.log}: fit again"
            raise StateIncompatible(msg)
        return series


def _fitted(mean: Floats, panel: Panel, *, log: bool) -> _Fitted:
    """Trained for as many days back as half of the minimum history was measured before."""
    per_day = max(1, DAY_S // panel.step_s)
    end_s = epoch_s(panel.start) + mean.size * panel.step_s
    anchor_s = end_s // WEEK_S * WEEK_S
    if not np.nansum(mean) > 0:
        return _Fitted(offset=0.0, anchor_s=anchor_s, weekly=False, models=())
    offset = log_offset(mean)
    load = np.log(mean / offset + 1) if log else mean / offset
    models = []
    for day in range(_ORIGINS + 1):
        known = load[: max(0, mean.size - day * per_day)]
        if np.count_nonzero(~np.isnan(known)) >= max(_LEAST_ROWS, per_day):
            frame = _frame(known, end_s - day * DAY_S - anchor_s, panel.step_s)
            models.append(_trained(frame, daily=per_day > 1, weekly=_spans_weeks(known, per_day)))
    return _Fitted(offset=offset, anchor_s=anchor_s, weekly=_spans_weeks(load, per_day), models=tuple(models))


def _spans_weeks(load: Floats, per_day: int) -> bool:
    measured = np.flatnonzero(~np.isnan(load))
    return bool(measured[-1] - measured[0] + 1 >= _WEEKLY_FROM_DAYS * per_day)


def _trained(frame: pd.DataFrame, *, daily: bool, weekly: bool) -> str:
    """One Prophet as JSON."""
    with _quiet():
        from prophet import Prophet  # noqa: PLC0415  imports for a second that others need not wait
        from prophet.serialize import model_to_json  # noqa: PLC0415

        model = Prophet(daily_seasonality=daily, weekly_seasonality=weekly, yearly_seasonality=False, uncertainty_samples=0)
        model.fit(frame, seed=1)
        # Prediction needs neither the training data nor the trend on it, and the store should not carry them.
        model.history, model.history_dates = frame.head(1), frame["ds"].head(1)
        model.params.pop("trend", None)
        return str(model_to_json(model))


def _frame(load: Floats, end_s: int, step_s: int) -> pd.DataFrame:
    """Means over half an hour at their middles, as Prophet's columns `ds` and `y`, unmeasured ones left out."""
    group = max(1, _TRAIN_STEP_S // step_s)
    rows = np.pad(load, (-load.size % group, 0), constant_values=np.nan).reshape(-1, group)
    known = ~np.isnan(rows)
    some = known.any(axis=1)
    middles_s = end_s - group * step_s * (np.arange(len(rows), 0, -1) - 0.5)
    means = np.where(known, rows, 0.0).sum(axis=1)[some] / known.sum(axis=1)[some]
    return pd.DataFrame({"ds": _instants(middles_s[some]), "y": means})


def _instants(times_s: NDArray[np.floating]) -> pd.DatetimeIndex:
    return pd.to_datetime(np.round(times_s).astype("datetime64[s]"))


def _drawn(fitted: _Fitted, history: History, start_s: int, shape: tuple[int, int], *, log: bool) -> Paths:
    """The stored models' paths from the horizon's start and the days before it, shape (origins + 1, reach)."""
    with _quiet():
        from prophet.serialize import model_from_json  # noqa: PLC0415

    if not fitted.models:
        msg = f"prophet was fitted before {history.name} had enough history: fit again"
        raise StateIncompatible(msg)
    median = np.full(shape, np.nan)
    middles_s = start_s - fitted.anchor_s + history.clock.step_s * (np.arange(shape[1]) + 0.5)
    for day, stored in enumerate(fitted.models[: shape[0]]):
        with _quiet():
            path = model_from_json(stored).predict(pd.DataFrame({"ds": _instants(middles_s - day * DAY_S)}))["yhat"].to_numpy()
        median[day] = fitted.offset * (np.exp(np.minimum(path, _LARGEST_EXPONENT)) - 1 if log else path)
    return Paths(median=median, notes=() if fitted.weekly else (_young(history),))


def _young(history: History) -> Reason:
    detail = f"{history.name} has under two weeks of history: prophet forecasts it with a daily season only"
    return Reason(code=Code.YOUNG_HISTORY, detail=detail)


@contextmanager
def _quiet() -> Iterator[None]:
    """Prophet and its backend log each fit twice, miss their plotting library and warn of their own use of pandas: no news for anybody."""
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

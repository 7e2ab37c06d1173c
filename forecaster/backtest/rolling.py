"""One 24-hour forecast at each origin, from nothing but what was known then."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np

from forecaster.backtest.settings import Settings
from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import DailyPeak, Forecast, Horizon
from forecaster.history import prepare_alone
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Window, panel_of
from forecaster.units import DAY_S

_NAME = "trace"
_LAST_RESORT = "last-known-day"


def forecasts(series: Series, origins: tuple[datetime, ...], settings: Settings) -> Iterator[Forecast]:
    """The forecast issued at each origin, in order. Raises NotEnoughHistory where nothing at all was measured before one."""
    for origin in origins:
        yield forecast_at(series, origin, settings)


def forecast_at(series: Series, origin: datetime, settings: Settings) -> Forecast:
    """The next 24 hours as forecast at `origin`: by the model, else the fallback, else from the last day that was measured.

    Raises NotEnoughHistory when nothing was measured before `origin`.
    """
    horizon = _horizon(series.step_s, origin, settings.lead_time_s)
    known = prepare_alone(series, origin, settings.history_s)
    panel = panel_of({_NAME: known})
    levels = settings.forecast_levels
    issued = forecast_chunk(panel, horizon, levels, Calendar(), model(settings.model), model(settings.fallback))[0]
    match issued:
        case Forecast():
            return issued
        case NotEnoughHistory() | ModelFailed():
            return last_resort(series.known_at(origin), horizon, levels, str(issued))
        case _:
            raise issued


def last_resort(known: Series, horizon: Horizon, levels: tuple[float, ...], why: str) -> Forecast:
    """Quantiles of the last day's worth of measured buckets, flat over the horizon; of its maximum, the largest of them at each level.

    For outages and the first hours of a trace, when no model has enough to go by: rough, finite, and high rather than low.
    Raises NotEnoughHistory when nothing was measured.
    """
    measured = np.flatnonzero(~np.isnan(known.mean))[-(DAY_S // known.step_s) :]
    if not measured.size:
        msg = "nothing was measured before the first forecast: start the trace where the traffic starts"
        raise NotEnoughHistory(msg)
    quantiles = np.quantile(known.mean[measured], levels)
    values = np.repeat(quantiles[:, None], horizon.steps, axis=1)
    largest = np.maximum(np.asarray(quantiles), known.mean[measured].max())
    day = Window(start=horizon.start, end=horizon.end)
    peak = DailyPeak(day=horizon.start.date(), zone="UTC", covers=day, levels=levels, values=largest, at=horizon.start)
    first = known.start + timedelta(seconds=int(measured[0]) * known.step_s)
    return Forecast(
        signal=known.signal,
        issued_at=horizon.issued_at,
        start=horizon.start,
        step_s=horizon.step_s,
        levels=levels,
        values=values,
        window_max=values,
        window_s=horizon.window_steps * horizon.step_s,
        daily_peaks=(peak,),
        model=_LAST_RESORT,
        trained_on=Window(start=first, end=horizon.issued_at),
        coverage=(None,) * len(levels),
        notes=(Reason(code=Code.YOUNG_HISTORY, detail=why),),
    )


def _horizon(step_s: int, origin: datetime, lead_time_s: float) -> Horizon:
    lead_time = LeadTime(warm_s=lead_time_s, cold_s=lead_time_s)
    return Horizon(issued_at=origin, start=origin, step_s=step_s, steps=DAY_S // step_s, window_steps=lead_time.window_steps(step_s))

"""One 24-hour forecast at each origin, from nothing but what was known then."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.backtest.settings import Settings
from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import DailyPeak, Forecast, Horizon, Issued, Request, State
from forecaster.history import prepare_alone
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import DEFAULT_MEMBERS, DEFAULT_MODEL, model
from forecaster.models.chunk import forecast_chunk
from forecaster.models.learning import is_due, learn, learned_of
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Window, panel_of
from forecaster.units import DAY_S

_NAME = "trace"
_LAST_RESORT = "last-known-day"


def forecasts(series: Series, origins: tuple[datetime, ...], settings: Settings) -> Iterator[Forecast]:
    """The forecast issued at each origin, in order. Raises NotEnoughHistory where nothing at all was measured before one."""
    memory = Memory()
    for origin in origins:
        issued, memory = forecast_at(series, origin, settings, memory)
        yield issued


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one origin leaves to the next: what was kept of the series, and what was learned of the fleet, which is this one series."""

    kept: State | None = None
    learned: State | None = None


def forecast_at(series: Series, origin: datetime, settings: Settings, memory: Memory) -> tuple[Forecast, Memory]:
    """The next 24 hours as forecast at `origin`: by the model, else the fallback, else from the last day that was measured.

    Raises NotEnoughHistory when nothing was measured before `origin`.
    """
    request = Request(horizon=_horizon(series.step_s, origin, settings.lead_time_s), levels=settings.forecast_levels, calendar=Calendar())
    panel = panel_of({_NAME: prepare_alone(series, origin, settings.history_s)})
    if is_due(memory.learned, origin, DEFAULT_MEMBERS if settings.model == DEFAULT_MODEL else (settings.model,)):
        memory = replace(memory, learned=learn(panel, origin, request.calendar))
    main = model(settings.model, learned=learned_of(memory.learned, origin))
    issued = forecast_chunk(panel, (memory.kept,), request, main, model(settings.fallback))[0]
    match issued:
        case Issued():
            return issued.forecast, replace(memory, kept=issued.state)
        case NotEnoughHistory() | ModelFailed():
            return last_resort(series.known_at(origin), request.horizon, request.levels, str(issued)), memory
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

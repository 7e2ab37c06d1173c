"""A series that was never above zero."""

from datetime import timedelta

import numpy as np

from forecaster.forecast import DailyPeak, Forecast, Issued, Request
from forecaster.reasons import Code, Reason
from forecaster.series import Panel, Window


def zero(panel: Panel, row: int, request: Request, model: str) -> Issued:
    """A forecast of zero that says so; nothing is kept."""
    horizon, levels = request.horizon, len(request.levels)
    name = panel.names[row]
    peaks = tuple(
        DailyPeak(day=day, zone=request.calendar.zone, covers=covers, levels=request.levels, values=np.zeros(levels), at=covers.start)
        for day, covers in request.calendar.local_days(Window(start=horizon.start, end=horizon.end))
    )
    first = int(np.argmax(~np.isnan(panel.mean[row])))
    detail = f"{name} was never above zero in its history and is forecast as zero"
    nothing = np.zeros((levels, horizon.steps))
    forecast = Forecast(
        signal=panel.signal,
        issued_at=horizon.issued_at,
        start=horizon.start,
        step_s=horizon.step_s,
        levels=request.levels,
        values=nothing,
        window_max=nothing,
        window_s=horizon.window_steps * horizon.step_s,
        daily_peaks=peaks,
        model=model,
        trained_on=Window(start=panel.start + timedelta(seconds=first * panel.step_s), end=min(panel.end, horizon.start)),
        coverage=(None,) * levels,
        notes=(Reason(code=Code.FLAT_ZERO, detail=detail),),
    )
    return Issued(forecast=forecast, state=None)

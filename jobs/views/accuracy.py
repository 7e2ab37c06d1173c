"""How good a past day's forecast was, by what was measured since."""

from dataclasses import dataclass
from datetime import date

from forecaster.forecast import DailyPeak, Forecast
from forecaster.score import BIAS, COVERAGE, WAPE
from forecaster.series import Series, Window
from jobs.views.days import local_day
from jobs.views.kept import Kept

MEDIAN, UPPER = 0.5, 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A forecast against what came, over `covers`; None = nothing was measured there, or nothing but zeros.

    median_error_ratio: sum of |median - load| over the sum of the load. bias_ratio: the same without the absolute value; above 0 =
    the forecast was high. above_upper_ratio: share of buckets above P95, 0.05 if the level is honest. peak: what was forecast of it.
    """

    forecast: Forecast
    covers: Window
    median_error_ratio: float | None
    bias_ratio: float | None
    above_upper_ratio: float | None
    peak: DailyPeak | None


def scored(kept: Kept, day: date, measured: Series) -> Scored | None:
    """The forecast that stood when a local day began against that day; None when none was kept, or on another grid than `measured`.

    Where none had been made by then, the first one made during the day is scored from there on.
    """
    covers = local_day(kept.workload.calendar, day)
    forecast = kept.forecast(measured.signal, covers.start) or kept.first_forecast(measured.signal, covers)
    if forecast is None or forecast.step_s != measured.step_s:
        return None
    start, end = max(covers.start, forecast.start, measured.start), min(covers.end, forecast.end, measured.end)
    if end <= start:
        return None
    part = Window(start=start, end=end)
    actual = measured.between(part.start, part.end).mean
    median, upper = (over(forecast, level, part).mean for level in (MEDIAN, UPPER))
    below = COVERAGE(actual, upper)
    return Scored(
        forecast=forecast,
        covers=part,
        median_error_ratio=WAPE(actual, median),
        bias_ratio=BIAS(actual, median),
        above_upper_ratio=None if below is None else 1 - below,
        peak=next((peak for peak in forecast.daily_peaks if peak.day == day), None),
    )


def over(forecast: Forecast, level: float, window: Window) -> Series:
    """A forecast at one level over the buckets that lie wholly inside a window."""
    values = forecast.at_level(level)
    whole = Series(signal=forecast.signal, start=forecast.start, step_s=forecast.step_s, mean=values, peak=values)
    return whole.between(window.start, window.end)

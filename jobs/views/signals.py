"""One forecast signal before a day: tomorrow's forecast against what was measured, and yesterday's forecast against what came."""

from dataclasses import dataclass
from datetime import date, timedelta

from forecaster.forecast import DailyPeak, Forecast
from forecaster.series import Series, Signal
from jobs.views.accuracy import Scored, scored
from jobs.views.days import MeasuredDay, local_day, measured_days
from jobs.views.kept import Kept

_WEEK_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReview:
    """One forecast signal; None = not known.

    tomorrow, today: what the newest forecast says of these local days; whole: whether it covers all of tomorrow. yesterday,
    last_week: what was measured of the day before today and of the day a week before tomorrow. measured: everything since then.
    """

    signal: Signal
    forecast: Forecast | None
    today: DailyPeak | None
    tomorrow: DailyPeak | None
    whole: bool
    yesterday: MeasuredDay | None
    last_week: MeasuredDay | None
    scored: Scored | None
    measured: Series


def review_signal(kept: Kept, signal: Signal, tomorrow: date) -> SignalReview:
    """The signal as far as the store knows it."""
    calendar = kept.workload.calendar
    today, yesterday, week_ago = (tomorrow - timedelta(days=days) for days in (1, 2, _WEEK_DAYS))
    measured = kept.history(signal, local_day(calendar, week_ago).start)
    marks = kept.marks(signal, measured.start)
    days = {day.day: day.under(marks) for day in measured_days(measured, calendar) if day.peak is not None}
    forecast = kept.forecast(signal, kept.now)
    peaks = {peak.day: peak for peak in forecast.daily_peaks} if forecast is not None else {}
    expected = peaks.get(tomorrow)
    return SignalReview(
        signal=signal,
        forecast=forecast,
        today=peaks.get(today),
        tomorrow=expected,
        whole=expected is not None and expected.covers == local_day(calendar, tomorrow),
        yesterday=days.get(yesterday),
        last_week=days.get(week_ago),
        scored=scored(kept, yesterday, measured),
        measured=measured,
    )


def change_ratio(expected: DailyPeak | None, before: MeasuredDay | None) -> float | None:
    """How much larger the median of a peak is than a measured one; None where either is not known well enough, or was not the demand."""
    if expected is None or before is None or not before.comparable or not before.peak:
        return None
    return expected.at_level(0.5) / before.peak - 1

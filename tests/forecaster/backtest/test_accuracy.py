"""Forecasts are scored on what was measured, beside the load of yesterday and of last week."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.backtest.accuracy import LEVELS, accuracy, peaks_of
from forecaster.forecast import DailyPeak, Forecast
from forecaster.series import Floats, Series, Signal, Window

MIDNIGHT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)


def forecast(day: int, median: Floats) -> Forecast:
    start = MIDNIGHT + day * DAY
    values = np.outer([1.0, 1.5, 2.0, 4.0], median)
    whole = Window(start=start, end=start + DAY)
    peak = DailyPeak(day=start.date(), zone="UTC", covers=whole, levels=LEVELS, values=values.max(axis=1), at=start)
    return Forecast(
        signal=Signal.RPM,
        issued_at=start,
        start=start,
        step_s=3_600,
        levels=LEVELS,
        values=values,
        window_max=values,
        window_s=7_200,
        daily_peaks=(peak,),
        model="flat",
        trained_on=Window(start=start - DAY, end=start),
        coverage=(None,) * len(LEVELS),
    )


def hourly(days: list[Floats], start: datetime = MIDNIGHT) -> Series:
    mean = np.concatenate(days)
    return Series(signal=Signal.RPM, start=start, step_s=3_600, mean=mean, peak=mean)


def day(load: float) -> Floats:
    return np.full(24, float(load))


def test_the_model_is_scored_at_each_level() -> None:
    found = accuracy(hourly([day(10), day(10), day(12)]), [forecast(2, day(10))], ())
    assert found.model.pinball == pytest.approx((0.5 * 2, 0.1 * 3, 0.05 * 8, 0.01 * 28))
    assert found.model.coverage == (0, 1, 1, 1)
    assert found.model.wape == pytest.approx(2 / 12)


def test_yesterday_and_last_week_are_scored_on_the_same_buckets() -> None:
    week = [day(load) for load in (10, 20, 30, 40, 50, 60, 70, 12)]
    found = accuracy(hourly(week), [forecast(7, day(12))], ())
    assert found.naive_week.wape == pytest.approx(2 / 12)
    assert found.naive_day.wape is not None
    assert found.naive_day.wape > 2


def test_a_naive_bucket_that_was_not_measured_is_taken_from_the_day_before_it() -> None:
    holed = day(99)
    holed[:] = np.nan
    found = accuracy(hourly([day(10), day(10), holed, day(10)]), [forecast(3, day(10))], ())
    assert found.naive_day.wape == 0


def test_naive_quantiles_are_those_of_the_errors_before_the_origin() -> None:
    """Every day doubled: the median is yesterday's load as it was, the quantiles above it twice that."""
    found = accuracy(hourly([day(10), day(20), day(40), day(80)]), [forecast(3, day(80))], ())
    assert found.naive_day.wape == 0.5
    assert found.naive_day.pinball == (20, 0, 0, 0)
    assert found.naive_day.coverage == (0, 1, 1, 1)


def test_what_was_not_measured_is_not_scored() -> None:
    half = day(10)
    half[12:] = np.nan
    found = accuracy(hourly([day(10), half]), [forecast(1, day(10))], ())
    assert found.model.wape == 0


def test_a_day_without_measurements_has_no_peak() -> None:
    series = hourly([day(10), np.append(day(7)[:-1], 9.0), day(np.nan)])
    forecasts = [forecast(1, day(10)), forecast(2, day(10))]
    peaks = peaks_of(series, forecasts)
    assert [peak.actual for peak in peaks] == [9.0, None]
    found = accuracy(series, forecasts, peaks)
    assert found.peaks.days == 1
    assert found.peaks.bias == pytest.approx(1 / 9)
    assert found.peaks.coverage == (1, 1, 1, 1)
    assert found.peaks.overshoot[1] == pytest.approx(6 / 9)


def test_a_series_that_begins_within_a_day_is_cut_at_the_same_midnights() -> None:
    series = hourly([day(10)[5:], day(10), day(12)], start=MIDNIGHT + timedelta(hours=5))
    found = accuracy(series, [forecast(2, day(12))], ())
    assert found.model.wape == 0
    assert found.naive_day.wape == pytest.approx(2 / 12)

"""When forecasts are issued, and which traces cannot be replayed at all."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.backtest.origins import early_origins, origins
from forecaster.backtest.origins import first_origin as first_origin_of
from forecaster.errors import TraceRejected
from forecaster.trace import Trace

MIDNIGHT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)


def hourly(hours: int, start: datetime = MIDNIGHT) -> Trace:
    return Trace(start=start, bucket_s=3_600, counts=np.ones(hours))


def first_origin(trace: Trace) -> datetime:
    return first_origin_of(trace, trace.series())


def test_a_long_trace_is_forecast_from_its_fifteenth_day_on() -> None:
    assert first_origin(hourly(60 * 24)) == MIDNIGHT + 14 * DAY


def test_a_short_trace_is_forecast_from_the_midnight_after_its_half() -> None:
    assert first_origin(hourly(7 * 24)) == MIDNIGHT + 4 * DAY


def test_a_trace_that_begins_in_the_day_waits_for_a_midnight() -> None:
    assert first_origin(hourly(60 * 24, MIDNIGHT + timedelta(hours=4))) == MIDNIGHT + 15 * DAY


def test_a_half_that_ends_at_a_midnight_needs_no_further_day() -> None:
    assert first_origin(hourly(8 * 24)) == MIDNIGHT + 4 * DAY


def test_there_is_one_origin_a_midnight_and_none_at_the_end() -> None:
    assert origins(MIDNIGHT, MIDNIGHT + 2 * DAY) == (MIDNIGHT, MIDNIGHT + DAY)
    assert origins(MIDNIGHT, MIDNIGHT + 2 * DAY + timedelta(minutes=1)) == (MIDNIGHT, MIDNIGHT + DAY, MIDNIGHT + 2 * DAY)


def test_early_origins_have_a_day_of_measurements_behind_them() -> None:
    trace = hourly(8 * 24)
    assert early_origins(trace.series(), first_origin(trace)) == tuple(MIDNIGHT + day * DAY for day in (1, 2, 3))
    counts = np.ones(8 * 24)
    counts[:30] = np.nan
    late = Trace(start=MIDNIGHT, bucket_s=3_600, counts=counts)
    assert early_origins(late.series(), first_origin(late)) == (MIDNIGHT + 3 * DAY,)


def test_two_days_leave_no_early_origin() -> None:
    trace = hourly(2 * 24)
    assert first_origin(trace) == MIDNIGHT + DAY
    assert early_origins(trace.series(), first_origin(trace)) == ()


def test_a_trace_that_ends_before_its_first_origin_is_rejected() -> None:
    with pytest.raises(TraceRejected, match="too short for one forecast after half of it: give at least two whole days"):
        first_origin(hourly(24))
    with pytest.raises(TraceRejected, match="too short"):
        first_origin(Trace(start=MIDNIGHT + DAY / 2, bucket_s=3_600, counts=np.ones(24)))  # a midnight in its middle, half a day before it


def test_a_trace_with_nothing_measured_before_the_first_origin_is_rejected() -> None:
    counts = np.full(8 * 24, np.nan)
    counts[5 * 24 :] = 7
    with pytest.raises(TraceRejected, match="no bucket of 3600 s was measured before the first forecast at 2024-05-10T00:00:00Z"):
        first_origin(Trace(start=MIDNIGHT, bucket_s=3_600, counts=counts))
    with pytest.raises(TraceRejected, match="no bucket of 3600 s was measured"):
        first_origin(Trace(start=MIDNIGHT, bucket_s=3_600, counts=np.full(8 * 24, np.nan)))


def test_k14_a_trace_without_a_request_before_the_first_origin_is_rejected() -> None:
    with pytest.raises(TraceRejected, match="no request was counted before the first forecast"):
        first_origin(Trace(start=MIDNIGHT, bucket_s=3_600, counts=np.zeros(8 * 24)))


def test_minutes_too_sparse_for_any_bucket_of_five_are_rejected() -> None:
    counts = np.full(4 * 1_440, np.nan)
    counts[::7] = 3
    with pytest.raises(TraceRejected, match="no bucket of 300 s was measured"):
        first_origin(Trace(start=MIDNIGHT, bucket_s=60, counts=counts))

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.trace import Trace

START = datetime(2026, 3, 2, tzinfo=UTC)
NAN = float("nan")


def trace_of(counts: list[float], bucket_s: int) -> Trace:
    return Trace(start=START, bucket_s=bucket_s, counts=np.asarray(counts))


def test_rpm_is_the_count_over_the_minutes_of_the_bucket() -> None:
    assert trace_of([300.0], 300).rpm.tolist() == [60.0]
    assert trace_of([10.0, 20.0], 30).rpm.tolist() == [20.0, 40.0]


def test_finer_than_five_minutes_is_forecast_as_five_minute_means() -> None:
    series = trace_of([float(i) for i in range(10)], 60).series()
    assert (series.step_s, series.mean.tolist()) == (300, [2.0, 7.0])


def test_buckets_that_straddle_five_minutes_are_cut_into_minutes() -> None:
    series = trace_of([20.0, 40.0, 60.0, 80.0, 100.0], 120).series()
    assert series.mean.tolist() == [pytest.approx((10 * 2 + 20 * 2 + 30) / 5), pytest.approx((30 + 40 * 2 + 50 * 2) / 5)]


def test_coarser_buckets_are_forecast_as_they_are() -> None:
    assert trace_of([1.0, 2.0], 3_600).series().step_s == 3_600


def test_minute_load_is_linear_between_stamps_and_across_gaps() -> None:
    first, load = trace_of([300.0, NAN, 600.0], 300).minute_load()
    assert first == START
    assert load.tolist() == pytest.approx([60 + 6 * m for m in range(10)] + [120.0] * 5)


def test_minute_load_of_finer_buckets_is_their_mean() -> None:
    _, load = trace_of([10.0, 20.0, 30.0, 30.0], 30).minute_load()
    assert load.tolist() == [30.0, 60.0]


def test_a_trace_without_any_measured_bucket_has_no_load() -> None:
    with pytest.raises(ValueError, match="no bucket"):
        trace_of([NAN, NAN], 60).minute_load()


def test_a_bucket_that_does_not_divide_a_day_is_refused() -> None:
    with pytest.raises(ValueError, match="divide a day"):
        Trace(start=datetime(1970, 1, 1, tzinfo=UTC), bucket_s=420, counts=np.array([1.0]))


def test_the_end_is_the_end_of_the_last_bucket() -> None:
    assert trace_of([1.0, 2.0], 1_800).end == START + timedelta(hours=1)

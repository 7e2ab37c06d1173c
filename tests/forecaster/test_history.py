"""What a model is given."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.history import gaps, prepare
from forecaster.reasons import Code
from forecaster.series import Series, Signal
from tests.traces import MONDAY, series_of

NAN = np.nan
DAY_S = 86_400
FOREVER_S = 10_000 * DAY_S


def prepared(load: list[float], *, step_s: int = 300) -> list[float]:
    return [float(value) for value in prepare(series_of(load, step_s=step_s), MONDAY, FOREVER_S).mean]


def test_only_the_span_before_now_is_kept() -> None:
    load = series_of([1.0, 2.0, 3.0, 4.0])
    known = prepare(load, MONDAY - timedelta(minutes=30), 2 * 3_600)  # the last bucket ends after now
    assert known.mean.tolist() == [3.0]
    assert prepare(load, MONDAY, 2 * 3_600).mean.tolist() == [3.0, 4.0]


def test_gaps_up_to_half_an_hour_are_drawn_through() -> None:
    assert prepared([1, *[NAN] * 6, 8]) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_longer_gaps_stay_unknown() -> None:
    np.testing.assert_array_equal(prepared([1, *[NAN] * 7, 9]), [1, *[NAN] * 7, 9])


def test_of_coarse_buckets_two_may_be_missing() -> None:
    assert prepared([1, NAN, NAN, 4], step_s=3_600) == [1, 2, 3, 4]
    np.testing.assert_array_equal(prepared([1, NAN, NAN, NAN, 5], step_s=3_600), [1, NAN, NAN, NAN, 5])


def test_gaps_at_the_ends_stay_unknown() -> None:
    np.testing.assert_array_equal(prepared([NAN, 1, 2, NAN]), [NAN, 1, 2, NAN])


def test_zeros_before_the_first_traffic_are_unknown_and_later_ones_are_zero() -> None:
    np.testing.assert_array_equal(prepared([0, 0, 5, 0, 0, 6]), [NAN, NAN, 5, 0, 0, 6])


def test_a_gap_between_such_zeros_and_traffic_is_not_drawn_through() -> None:
    np.testing.assert_array_equal(prepared([0, NAN, 5]), [NAN, NAN, 5])


def test_a_service_without_any_traffic_stays_zero() -> None:
    assert prepared([0, 0, 0]) == [0, 0, 0]


def test_peaks_are_drawn_through_like_means() -> None:
    load = Series(
        signal=Signal.RPM,
        start=MONDAY,
        step_s=300,
        mean=np.array([1.0, NAN, 3.0]),
        peak=np.array([10.0, NAN, 30.0]),
    )
    assert prepare(load, MONDAY + timedelta(hours=1), FOREVER_S).peak.tolist() == [10, 20, 30]


def test_gaps_are_told_with_their_number_sum_and_longest() -> None:
    load = series_of([1.0, NAN, 2.0, NAN, NAN, NAN, 3.0, NAN])
    (reason,) = gaps(load)
    assert reason.code is Code.GAPS_IN_HISTORY
    assert reason.detail == "3 gap(s) of 5.0 h in all, the longest of 3.0 h from 2026-03-01T19:00:00Z: left out, not zero"


@pytest.mark.parametrize("load", [[], [1.0, 2.0], [NAN, NAN, 1.0], [NAN, NAN]])
def test_what_lies_before_the_first_measurement_is_no_gap(load: list[float]) -> None:
    assert gaps(series_of(load)) == ()


@given(st.lists(st.one_of(st.just(NAN), st.just(0.0), st.floats(0, 1e6)), max_size=60), st.integers(1, 90))
def test_preparing_keeps_every_measurement_but_leading_zeros_and_invents_none_beyond_its_neighbours(load: list[float], steps: int) -> None:
    known = prepare(series_of(load, step_s=300), MONDAY, 300.0 * steps)
    raw = np.array(load[-steps:], dtype=np.float64)
    assert len(known) == raw.size
    kept = ~np.isnan(raw) & ~np.isnan(known.mean)
    np.testing.assert_array_equal(known.mean[kept], raw[kept])
    lost = ~np.isnan(raw) & np.isnan(known.mean)
    assert (raw[lost] == 0).all()
    if (raw > 0).any():
        assert np.nanmax(known.mean) <= np.nanmax(raw)

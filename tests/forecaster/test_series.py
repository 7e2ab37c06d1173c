from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.series import Series, Signal, Window, empty_series, panel_of

START = datetime(2026, 3, 2, tzinfo=UTC)
NAN = float("nan")


def series_of(values: list[float], step_s: int = 60, start: datetime = START) -> Series:
    array = np.asarray(values, dtype=np.float64)
    return Series(signal=Signal.RPM, start=start, step_s=step_s, mean=array, peak=array)


@pytest.mark.parametrize("value", [-1.0, float("inf"), float("-inf")])
def test_values_that_are_no_load_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="mean must be finite and at least 0 requests/min"):
        series_of([1.0, value])


def test_mean_and_peak_are_measured_together() -> None:
    with pytest.raises(ValueError, match="measured in the same buckets"):
        Series(signal=Signal.RPM, start=START, step_s=60, mean=np.array([1.0, NAN]), peak=np.array([1.0, 2.0]))


def test_a_grid_that_is_not_aligned_to_the_epoch_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of the step of 300 s"):
        series_of([1.0], step_s=300, start=START + timedelta(minutes=1))


def test_a_series_cannot_be_changed_and_does_not_follow_its_input() -> None:
    values = np.array([1.0, 2.0])
    series = Series(signal=Signal.RPM, start=START, step_s=60, mean=values, peak=values)
    values[0] = 9.0
    assert series.mean[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        series.mean[0] = 3.0


@pytest.mark.parametrize(("seconds", "known"), [(0, 0), (59, 0), (60, 1), (61, 1), (180, 3), (999, 3)])
def test_a_bucket_is_known_at_its_end_not_before(seconds: int, known: int) -> None:
    assert len(series_of([1.0, 2.0, 3.0]).known_at(START + timedelta(seconds=seconds))) == known


@given(st.integers(-500, 500), st.integers(0, 900))
def test_between_holds_exactly_the_buckets_that_lie_wholly_inside(first_s: int, span_s: int) -> None:
    series = series_of([float(i) for i in range(6)])
    start, end = START + timedelta(seconds=first_s), START + timedelta(seconds=first_s + span_s)
    inside = [i for i in range(6) if start <= START + timedelta(seconds=60 * i) and START + timedelta(seconds=60 * (i + 1)) <= end]
    assert series.between(start, end).mean.tolist() == [float(i) for i in inside]


@given(st.integers(-4, 4), st.lists(st.just(float("nan")) | st.floats(0, 9), min_size=0, max_size=6))
def test_a_later_measurement_replaces_what_it_measured_and_nothing_else(offset: int, later: list[float]) -> None:
    known = series_of([1.0, float("nan"), 3.0])
    fresh = replace(series_of(later), start=START + timedelta(seconds=offset * known.step_s))
    expected = known.mean.copy()
    for i, load in enumerate(later, start=offset):
        if 0 <= i < len(known) and not np.isnan(load):
            expected[i] = load
    assert known.updated(fresh) == replace(known, mean=expected, peak=expected)


def test_a_coarser_bucket_keeps_mean_and_largest_minute_and_needs_half_of_its_minutes() -> None:
    coarse = series_of([1.0, 2.0, 3.0, 4.0, 10.0, NAN, NAN, NAN, 5.0, 7.0]).coarser(300)
    assert coarse.mean[0] == 4.0
    assert coarse.peak[0] == 10.0
    assert np.isnan(coarse.mean[1])


def test_a_coarser_series_is_aligned_even_when_the_finer_one_starts_inside_a_bucket() -> None:
    coarse = series_of([6.0, 6.0, 6.0, 1.0, 1.0], start=START + timedelta(minutes=2)).coarser(300)
    assert coarse.start == START
    assert coarse.mean[0] == 6.0
    assert np.isnan(coarse.mean[1])


def test_unknown_is_never_zero_in_a_coarser_bucket() -> None:
    assert np.isnan(series_of([NAN] * 5).coarser(300).mean).all()


def test_an_empty_series_is_all_unknown() -> None:
    series = empty_series(Signal.RPM, Window(start=START, end=START + timedelta(hours=1)), 300)
    assert (len(series), series.measured_ratio) == (12, 0.0)


def test_a_panel_takes_series_of_one_grid_only() -> None:
    with pytest.raises(ValueError, match="one signal and grid"):
        panel_of({"a": series_of([1.0]), "b": series_of([1.0, 2.0])})
    assert panel_of({"a": series_of([1.0]), "b": series_of([2.0])}).mean.tolist() == [[1.0], [2.0]]


def test_series_are_equal_by_value_with_unknown_equal_to_unknown() -> None:
    assert series_of([1.0, NAN]) == series_of([1.0, NAN])
    assert series_of([1.0, NAN]) != series_of([1.0, 0.0])

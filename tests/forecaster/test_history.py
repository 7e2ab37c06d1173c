"""What a model is given."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.history import gaps, prepare, prepare_alone
from forecaster.marks import Mark, MarkKind
from forecaster.reasons import Code
from forecaster.series import Series, Signal, Window
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


def marked(load: list[float], kind: MarkKind, first: float, stop: float, *, signal: Signal = Signal.RPM, per_day: int = 24) -> list[float]:
    """Prepared with one mark on the buckets [first, stop)."""
    step_s = DAY_S // per_day
    measured = series_of(load, step_s=step_s)
    edges = (measured.start + timedelta(seconds=edge * step_s) for edge in (first, stop))
    mark = Mark(kind=kind, span=Window(start=next(edges), end=next(edges)), signal=signal, at=MONDAY)
    return [float(value) for value in prepare(measured, MONDAY, FOREVER_S, [mark]).mean]


def test_what_is_marked_is_left_out_and_a_short_span_is_drawn_through() -> None:
    assert marked([1, 900, 3], MarkKind.RESET, 1, 2) == [1, 2, 3]
    np.testing.assert_array_equal(marked([1, 0, 0, 0, 5], MarkKind.OUTAGE, 1, 4), [1, NAN, NAN, NAN, 5])


def test_a_bucket_that_a_mark_touches_in_part_is_left_out() -> None:
    np.testing.assert_array_equal(marked([1, 2, 3, 4, 5, 6], MarkKind.MANUAL, 1.5, 4.5), [1, NAN, NAN, NAN, NAN, 6])


def test_a_mark_of_another_signal_or_of_a_level_changes_nothing() -> None:
    assert marked([1, 2, 3], MarkKind.OUTAGE, 1, 2, signal=Signal.TOKENS) == [1, 2, 3]
    assert marked([1, 2, 3], MarkKind.LEVEL_SHIFT, 0, 3) == [1, 2, 3]


def test_a_mark_beyond_the_span_changes_nothing() -> None:
    assert marked([1, 2, 3], MarkKind.OUTAGE, -9, -2) == [1, 2, 3]
    assert marked([1, 2, 3], MarkKind.OUTAGE, 4, 9) == [1, 2, 3]


def test_a_lower_bound_stays_where_it_is_above_other_days_and_goes_where_it_is_below() -> None:
    load = [10.0, 50, 12, 60, 11, 55, 20, 40]
    np.testing.assert_array_equal(marked(load, MarkKind.CENSORED, 6, 8, per_day=2), [10, 50, 12, 60, 11, 55, 20, NAN])


def test_a_lower_bound_without_other_days_is_the_best_that_is_known() -> None:
    assert marked([10, 50, 12, 40], MarkKind.CENSORED, 0, 4, per_day=2) == [10, 50, 12, 40]


def test_a_lower_bound_is_compared_with_its_own_weekday_where_that_was_measured() -> None:
    weeks = [10.0, 10, 10, 10, 10, 90, 90] * 2 + [10.0, 10, 10, 10, 10, 90, 60]
    assert np.isnan(marked(weeks, MarkKind.CENSORED, 20, 21, per_day=1)[-1])
    assert marked([10.0] * 20 + [60], MarkKind.CENSORED, 20, 21, per_day=1)[-1] == 60


def test_zeros_before_the_first_traffic_that_is_believed_go() -> None:
    np.testing.assert_array_equal(marked([0, 7, 0, 0, 5], MarkKind.MANUAL, 1, 2), [NAN, NAN, NAN, NAN, 5])


def test_alone_a_history_is_prepared_with_what_is_found_in_it() -> None:
    load = [*([100.0, 110, 120, 110] * 72 * 3), 100_000.0, 100.0]
    known = prepare_alone(series_of(load, step_s=300), MONDAY, FOREVER_S)
    assert np.nanmax(known.mean) == 120
    assert not np.isnan(known.mean).any()


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

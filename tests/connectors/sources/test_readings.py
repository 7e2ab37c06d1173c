"""Raw numbers onto the grid that was asked for, for any grid and any window."""

from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from connectors.sources.readings import Readings, series_of
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from forecaster.units import from_epoch_s

QUERY = Query(signal=Signal.RPM, expression="load", unit=Unit.PER_MINUTE)
BASE_S = 1_715_472_000
STEPS = st.sampled_from([10, 15, 30, 45, 60, 90, 120, 300, 900, 3_600])
NUMBERS = st.lists(st.one_of(st.floats(0, 1e6), st.sampled_from([np.nan, np.inf, -np.inf, -1.0])), max_size=60)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Readings, Window, int]:
    native_s, step_s = draw(STEPS), draw(STEPS)
    start_s = BASE_S // native_s * native_s + native_s * draw(st.integers(-20, 20))
    readings = Readings(start=from_epoch_s(start_s), step_s=native_s, numbers=np.asarray(draw(NUMBERS), dtype=float))
    first_s = BASE_S // step_s * step_s + step_s * draw(st.integers(-20, 20))
    start = from_epoch_s(first_s)
    return readings, Window(start=start, end=start + timedelta(seconds=step_s * draw(st.integers(1, 60)))), step_s


@given(asked())
def test_the_answer_covers_the_window_exactly_with_usable_numbers_only(case: tuple[Readings, Window, int]) -> None:
    readings, window, step_s = case
    series = series_of(QUERY, readings, window, step_s)
    assert (series.start, series.end, series.step_s) == (window.start, window.end, step_s)
    usable = readings.numbers[np.isfinite(readings.numbers) & (readings.numbers >= 0)]
    measured = series.mean[~np.isnan(series.mean)]
    if measured.size:
        assert usable.min() * (1 - 1e-9) <= measured.min()
        assert measured.max() <= usable.max() * (1 + 1e-9)
        assert np.nanmax(series.peak) <= usable.max() * (1 + 1e-9)


@given(asked())
def test_the_peak_is_never_below_the_mean(case: tuple[Readings, Window, int]) -> None:
    series = series_of(QUERY, *case)
    measured = ~np.isnan(series.mean)
    assert (series.peak[measured] >= series.mean[measured] * (1 - 1e-9)).all()


@given(asked(), st.integers(1, 60))
def test_a_longer_window_changes_no_bucket_that_was_known(case: tuple[Readings, Window, int], more: int) -> None:
    readings, window, step_s = case
    longer = Window(start=window.start, end=window.end + timedelta(seconds=step_s * more))
    short, whole = series_of(QUERY, readings, window, step_s), series_of(QUERY, readings, longer, step_s)
    same_end = whole.between(window.start, window.end)
    ended = _wholly_ended(readings, window, short)
    np.testing.assert_array_equal(short.mean[ended], same_end.mean[ended])


@given(asked())
def test_what_had_not_ended_by_the_end_of_the_window_plays_no_part(case: tuple[Readings, Window, int]) -> None:
    readings, window, step_s = case
    ended = int((window.end - readings.start).total_seconds() // readings.step_s)
    past = Readings(start=readings.start, step_s=readings.step_s, numbers=readings.numbers[: max(0, ended)])
    assert series_of(QUERY, readings, window, step_s) == series_of(QUERY, past, window, step_s)


def _wholly_ended(readings: Readings, window: Window, series: Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which buckets end before any reading, or any minute, that the end of the window cuts."""
    cut_s = window.end.timestamp() - max(readings.step_s, 60) * 2
    return series.times_s() + series.step_s <= cut_s


def test_a_share_of_hits_above_all_of_them_is_a_broken_number_and_not_measured() -> None:
    query = Query(signal=Signal.PREFIX_HITS, expression="hits", unit=Unit.COUNT)
    readings = Readings(start=from_epoch_s(BASE_S), step_s=60, numbers=np.asarray([0.0, 0.4, 1.0, 1.01, 40.0, -0.1]))
    window = Window(start=readings.start, end=readings.start + timedelta(minutes=6))
    np.testing.assert_array_equal(series_of(query, readings, window, 60).mean, [0.0, 0.4, 1.0, np.nan, np.nan, np.nan])

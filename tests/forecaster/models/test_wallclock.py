"""The grid on which days repeat."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed
from forecaster.forecast import Horizon
from forecaster.models.wallclock import History, filled, histories, middle
from tests.traces import MONDAY, horizon, panel, series_of

PARIS = Calendar(zone="Europe/Paris")
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)  # 02:00 becomes 03:00
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)  # 03:00 becomes 02:00 again


def history(load: list[float], ahead: Horizon, calendar: Calendar | None = None) -> History:
    return histories(panel(series_of(load, end=ahead.start, step_s=ahead.step_s)), ahead, calendar or Calendar())[0]


def test_the_newest_day_comes_first_and_column_zero_is_the_horizons_time_of_day() -> None:
    ahead = horizon(start=MONDAY + timedelta(hours=6), step_s=21_600, steps=4)
    days = history([float(i) for i in range(10)], ahead).days
    np.testing.assert_array_equal(days, [[6, 7, 8, 9], [2, 3, 4, 5], [np.nan, np.nan, 0, 1]])


def test_the_line_is_the_days_from_old_to_new() -> None:
    found = history([1.0, 2.0, 3.0, 4.0, 5.0], horizon(step_s=43_200, steps=2))
    np.testing.assert_array_equal(found.line, [np.nan, 1, 2, 3, 4, 5])
    assert found.measured.tolist() == [-5, -4, -3, -2, -1]


def test_what_ended_before_the_panel_did_is_unmeasured() -> None:
    ahead = horizon(step_s=43_200, steps=2)
    late = panel(series_of([1.0, 2.0], end=MONDAY - timedelta(days=1), step_s=43_200))
    np.testing.assert_array_equal(histories(late, ahead, Calendar())[0].days, [[np.nan, np.nan], [1, 2]])


def test_the_hour_that_spring_skips_is_skipped_ahead_and_unmeasured_behind() -> None:
    before = horizon(start=SPRING - timedelta(hours=2), steps=4)
    assert history([1.0] * 24, before, PARIS).clock.future.tolist() == [0, 1, 3, 4]
    after = horizon(start=SPRING + timedelta(hours=2), steps=1)
    np.testing.assert_array_equal(history([1.0, 2.0, 3.0, 4.0], after, PARIS).line[-5:], [1, 2, np.nan, 3, 4])


def test_the_hour_that_autumn_repeats_is_forecast_twice_and_averaged_behind() -> None:
    before = horizon(start=AUTUMN - timedelta(hours=2), steps=4)
    assert history([1.0] * 24, before, PARIS).clock.future.tolist() == [0, 1, 1, 2]
    after = horizon(start=AUTUMN + timedelta(hours=2), steps=1)
    np.testing.assert_array_equal(history([1.0, 2.0, 4.0, 5.0], after, PARIS).line[-3:], [1, 3, 5])


def test_a_start_inside_of_a_repeated_hour_never_reaches_behind_itself() -> None:
    inside = horizon(start=AUTUMN - timedelta(minutes=30), step_s=900, steps=6)
    assert history([1.0] * 96, inside, PARIS).clock.future.tolist() == [0, 1, 0, 0, 0, 1]


def test_weekends_are_local() -> None:
    saturday_in_auckland = datetime(2026, 3, 6, 12, tzinfo=UTC)  # Friday noon in UTC
    clock = history([1.0] * 24, horizon(start=saturday_in_auckland), Calendar(zone="Pacific/Auckland")).clock
    assert clock.weekend(np.array([-24, 0, 24, 48])).tolist() == [False, True, True, False]


def test_midnight_is_the_first_slot_of_the_next_local_day() -> None:
    clock = history([1.0] * 24, horizon(start=MONDAY + timedelta(hours=20)), PARIS).clock
    assert clock.midnight == 3


@pytest.mark.parametrize(("step_s", "asked_s"), [(3_600, 1_800), (420, 420)])
def test_steps_that_differ_or_do_not_divide_a_day_are_refused(step_s: int, asked_s: int) -> None:
    start = datetime.fromtimestamp(step_s * asked_s * 4_000, UTC)
    ahead = Horizon(issued_at=start, start=start, step_s=asked_s, steps=2, window_steps=1)
    load = panel(series_of([1.0, 2.0], end=start, step_s=step_s))
    with pytest.raises(ModelFailed, match="one step that divides a day"):
        histories(load, ahead, Calendar())


def test_unmeasured_slots_of_a_day_are_drawn_between_neighbours_over_midnight_too() -> None:
    np.testing.assert_allclose(filled(np.array([np.nan, 2.0, np.nan, 4.0])), [3, 2, 3, 4])
    np.testing.assert_array_equal(filled(np.array([np.nan, np.nan])), [np.nan, np.nan])


def test_the_middle_of_a_column_is_the_median_of_what_was_measured() -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((9, 40)) < 0.4, np.nan, rng.random((9, 40)))
    rows[:, 0] = np.nan
    np.testing.assert_array_equal(middle(rows)[1:], np.nanmedian(rows[:, 1:], axis=0))
    assert np.isnan(middle(rows)[0])
    assert np.isnan(middle(rows[:0])).all()

"""Holidays are learned from each series' own past ones, and never taken for Sundays."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.models.drawing import drawn
from forecaster.models.holidays import adjustments, effects, holidays_around, without
from forecaster.models.past import Past, past_of
from forecaster.series import Floats, Panel, Signal

PARIS = Calendar(zone="Europe/Paris", country="FR")
ORIGIN = datetime(2026, 5, 20, 7, 30, tzinfo=UTC)  # 1, 8 and 14 May were holidays, the 25th will be one
MAY = {day: date(2026, 5, day).toordinal() - date(1970, 1, 1).toordinal() for day in range(1, 32)}
WEEK = np.array([1.0, 1.0, 1.0, 1.0, 0.9, 0.35, 0.25])


def past(*, factors: tuple[float, ...], days: int = 56, step_s: int = 900, calendar: Calendar = PARIS) -> Past:
    """One series a factor: its load on holidays over that on the same weekday else."""
    start = ORIGIN - timedelta(days=days)
    times = [start + timedelta(seconds=step_s * i) for i in range(days * 86_400 // step_s)]
    local = [calendar.local(at) for at in times]
    free = calendar.holidays(local[0].date(), local[-1].date())
    base = np.array([WEEK[at.weekday()] * (60 + 40 * np.sin(at.hour / 24 * 2 * np.pi)) for at in local])
    noise = np.random.default_rng(1).lognormal(0, 0.05, (len(factors), len(times)))
    on_holiday = np.array([at.date() in free for at in local])
    mean = base * noise * np.where(on_holiday, np.array(factors)[:, None], 1.0)
    names = tuple(f"series-{i}" for i in range(len(factors)))
    panel = Panel(signal=Signal.RPM, start=start, step_s=step_s, names=names, mean=mean, peak=mean)
    return past_of(panel, ORIGIN, calendar)


def local_times(known: Past, slots: NDArray[np.int64]) -> list[datetime]:
    return [datetime(1970, 1, 1) + timedelta(seconds=int(known.clock.local_s + s * known.clock.step_s)) for s in slots]  # noqa: DTZ001 - wall time


def test_k18_a_holiday_is_not_taken_for_a_sunday() -> None:
    batch, office, shop = effects(known := past(factors=(1.0, 0.3, 1.6)), holidays_around(known, PARIS, 0))
    assert batch == pytest.approx(0, abs=0.03)
    assert office == pytest.approx(np.log(0.3) * 3 / 4, abs=0.1)
    assert shop == pytest.approx(np.log(1.6) * 3 / 4, abs=0.1)


class EveryDay:
    """A member that draws the mean of all days."""

    name = "every_day"

    def draw(self, past: Past, reach: int) -> Floats:
        return np.tile(np.nanmean(past.logs, axis=1), (1, 7))[:, :reach]


def test_a_coming_holiday_is_forecast_by_what_holidays_did_to_each_series() -> None:
    known = past(factors=(1.0, 0.3))
    slots = np.arange(6 * 96)
    batch, office = np.exp(drawn((EveryDay(),), known, slots.size, PARIS).paths[:, 0])
    on_holiday = np.array([at.date() == date(2026, 5, 25) for at in local_times(known, slots)])
    assert (office / batch)[on_holiday] == pytest.approx(0.3**0.75, rel=0.1)
    assert (office / batch)[~on_holiday] == pytest.approx(1, rel=0.1)


def test_the_holidays_of_a_past_reach_to_the_end_of_the_horizon() -> None:
    known = past(factors=(1.0,), days=28)
    near, far = (holidays_around(known, PARIS, reach=days * 96) for days in (3, 6))
    assert near == {MAY[1], MAY[8], MAY[14]}
    assert far == near | {MAY[25]}
    assert holidays_around(known, Calendar(zone="Europe/Paris"), reach=576) == frozenset()


def test_one_holiday_counts_half_and_more_count_for_more() -> None:
    known = past(factors=(0.3,))
    days = [MAY[1], MAY[8], MAY[14]]
    sizes = [abs(effects(known, frozenset(days[:n]))[0]) for n in range(4)]
    assert sizes[0] == 0
    assert sizes[1] < sizes[2] < sizes[3] < -np.log(0.3)


def test_other_holidays_are_no_measure_for_a_holiday() -> None:
    known = past(factors=(0.3,), days=21)  # 1 and 8 May are both Fridays: the 15th alone is an ordinary one
    assert effects(known, frozenset({MAY[1], MAY[8]}))[0] == pytest.approx(np.log(0.3) * 2 / 3, abs=0.1)


def test_a_holiday_without_an_ordinary_day_to_compare_with_says_nothing() -> None:
    assert effects(past(factors=(0.3,), days=6), frozenset({MAY[14]}))[0] == 0


def test_a_past_without_holidays_is_handed_back_as_it_is() -> None:
    known = past(factors=(1.0, 1.0))
    assert without(known, frozenset()) is known
    assert without(known, frozenset({MAY[25]})) is known
    assert not effects(known, frozenset()).any()
    assert not adjustments(known, np.array([1.0, 2.0]), frozenset(), 500).any()


@pytest.mark.parametrize("step_s", [300, 900, 1_800])
def test_exactly_the_local_days_of_holidays_are_left_out(step_s: int) -> None:
    known = past(factors=(1.0,), step_s=step_s)
    left = without(known, frozenset({MAY[8], MAY[14]}))
    slots = np.flatnonzero(np.isnan(left.lines[0]) & ~np.isnan(known.lines[0])) - left.lines.shape[1]
    hidden = local_times(known, slots)
    assert {at.date() for at in hidden} == {date(2026, 5, 8), date(2026, 5, 14)}
    assert len(hidden) == 2 * 86_400 // step_s
    assert np.array_equal(known.lines[0][slots[0] - 1], left.lines[0][slots[0] - 1])


@pytest.mark.parametrize(("days", "kept"), [(4, True), (5, False)])
def test_a_series_that_would_keep_less_than_three_days_keeps_its_holidays(days: int, *, kept: bool) -> None:
    known = past(factors=(1.0,), days=days)
    left = without(known, frozenset({MAY[18], MAY[17]}))
    assert np.array_equal(left.logs, known.logs, equal_nan=True) == kept


def test_the_adjustment_stands_on_the_slots_of_holidays_alone() -> None:
    known = past(factors=(1.0, 0.3))
    added = adjustments(known, np.array([0.0, -0.9]), frozenset({MAY[25]}), 7 * 96)
    assert added.shape == (2, 7 * 96)
    assert not added[0].any()
    assert set(added[1]) == {0.0, -0.9}
    assert {at.date() for at in local_times(known, np.flatnonzero(added[1]))} == {date(2026, 5, 25)}
    assert np.count_nonzero(added[1]) == 96


def test_unmeasured_days_and_zeros_leave_every_effect_finite() -> None:
    known = past(factors=(0.0, 0.3, 0.3))
    known.logs.flags.writeable = True
    known.logs[1] = np.nan
    found = effects(known, holidays_around(known, PARIS, 0))
    assert np.isfinite(found).all()
    assert found[0] < np.log(0.3)
    assert found[1] == 0


@given(hour=st.integers(0, 23), days=st.integers(1, 30))
def test_a_past_seen_from_any_hour_and_of_any_length_is_cut_alike(hour: int, days: int) -> None:
    start = ORIGIN.replace(hour=hour, minute=0) - timedelta(days=days)
    mean = np.ones((1, days * 24))
    panel = Panel(signal=Signal.RPM, start=start, step_s=3_600, names=("a",), mean=mean, peak=mean)
    known = past_of(panel, start + timedelta(days=days), PARIS)
    flags = frozenset({MAY[8], MAY[14], MAY[18]})
    left = without(known, flags)
    assert left.logs.shape == known.logs.shape
    assert effects(known, flags) == pytest.approx(0)
    slots = np.flatnonzero(np.isnan(left.lines[0]) & ~np.isnan(known.lines[0])) - left.lines.shape[1]
    assert {at.date().day for at in local_times(known, slots)} <= {8, 14, 18}

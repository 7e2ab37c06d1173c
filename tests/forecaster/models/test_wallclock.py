"""The grid on which days repeat."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.models.issuing import future_slots
from forecaster.models.wallclock import wall_slots
from forecaster.series import Series
from forecaster.units import epoch_s
from tests.asking import asked
from tests.contracts.members import past
from tests.traces import MONDAY, horizon, series_of

PARIS = Calendar(zone="Europe/Paris")
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)  # 02:00 becomes 03:00
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)  # 03:00 becomes 02:00 again


def future(start: datetime, steps: int, step_s: int = 3_600) -> list[int]:
    slots: list[int] = future_slots(asked(horizon(start=start, step_s=step_s, steps=steps), calendar=PARIS)).tolist()
    return slots


def hourly(load: list[float], end: datetime) -> Series:
    return series_of(load, end=end)


def test_the_hour_that_spring_skips_is_skipped_ahead() -> None:
    assert future(SPRING - timedelta(hours=2), 4) == [0, 1, 3, 4]


def test_the_hour_that_autumn_repeats_is_forecast_twice() -> None:
    assert future(AUTUMN - timedelta(hours=2), 4) == [0, 1, 1, 2]


def test_a_start_inside_of_a_repeated_hour_never_reaches_behind_itself() -> None:
    assert future(AUTUMN - timedelta(minutes=30), 6, 900) == [0, 1, 0, 0, 0, 1]


def test_buckets_before_a_change_of_the_clock_lie_an_hour_off_in_elapsed_time() -> None:
    slots = wall_slots(PARIS, epoch_s(SPRING + timedelta(hours=2)), 3_600, np.arange(-4, 1))
    assert slots.tolist() == [-5, -4, -2, -1, 0]


def test_weekends_are_local() -> None:
    saturday_in_auckland = datetime(2026, 3, 6, 12, tzinfo=UTC)  # Friday noon in UTC, an hour past midnight there
    clock = past(hourly([1.0] * 24, saturday_in_auckland), at=saturday_in_auckland, zone="Pacific/Auckland").clock
    assert clock.weekend(np.array([-24, 0, 24, 48])).tolist() == [False, True, True, False]


def test_midnight_is_the_first_slot_of_the_next_local_day() -> None:
    at = MONDAY + timedelta(hours=20)
    assert past(hourly([1.0] * 24, at), at=at, zone="Europe/Paris").clock.midnight == 3
    assert past(hourly([1.0] * 24, MONDAY), at=MONDAY).clock.midnight == 0


@pytest.mark.parametrize(("zone", "hours"), [("Asia/Kathmandu", 5.75), ("Australia/Adelaide", 10.5), ("Pacific/Kiritimati", 14)])
def test_days_are_those_of_the_zone(zone: str, hours: float) -> None:
    local_midnight = MONDAY - timedelta(hours=hours)
    clock = past(series_of([1.0] * 96, end=local_midnight, step_s=900), at=local_midnight, zone=zone).clock
    monday = (MONDAY - datetime(1970, 1, 1, tzinfo=UTC)).days
    assert clock.days(np.array([-1, 0, 95, 96])).tolist() == [monday - 1, monday, monday, monday + 1]

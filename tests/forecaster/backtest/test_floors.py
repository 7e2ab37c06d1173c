"""Floors of a replay come from the real demand, plan, correct and guard, and from nothing that was not known yet."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.backtest.floors import MOST_STEP_S, Line, floor_step_s, line_of
from forecaster.forecast import DailyPeak, Forecast
from forecaster.series import Floats, Series, Signal, Window
from forecaster.workload import Policy
from tests.forecaster.nowcasts import nowcast_of

MIDNIGHT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)
STEP_S = 3_600
HOUR = STEP_S // MOST_STEP_S  # floors
LEVELS = (0.05, 0.5, 0.95, 0.99)


def forecast(day: int, median: float) -> Forecast:
    """A flat day; P95 is twice the median."""
    start = MIDNIGHT + day * DAY
    quantiles = np.array([0.5, 1.0, 2.0, 3.0]) * median
    values = np.repeat(quantiles[:, None], 24, axis=1)
    whole = Window(start=start, end=start + DAY)
    peak = DailyPeak(day=start.date(), zone="UTC", covers=whole, levels=LEVELS, values=quantiles, at=start)
    return Forecast(
        signal=Signal.RPM,
        issued_at=start,
        start=start,
        step_s=STEP_S,
        levels=LEVELS,
        values=values,
        window_max=values,
        window_s=2 * STEP_S,
        daily_peaks=(peak,),
        model="flat",
        trained_on=Window(start=start - DAY, end=start),
        coverage=(None,) * len(LEVELS),
    )


def live(mean: Floats) -> Series:
    return Series(signal=Signal.RPM, start=MIDNIGHT - DAY, step_s=STEP_S, mean=mean, peak=mean)


def line(policy: Policy | None = None) -> Line:
    return line_of(policy or Policy(minimum=1, hold_s=0), replica_rpm=10, lead_time_s=600)


def test_a_quiet_day_follows_the_plan_at_its_level() -> None:
    days = line().days([forecast(0, 100), forecast(1, 50)], live(np.full(72, 60.0)))
    assert line().floors(days, [0.95, 0.99]).tolist() == [20] * 24 * HOUR + [15] * 24 * HOUR


def test_a_surge_raises_the_floor_once_its_bucket_has_ended() -> None:
    load = np.full(72, 100.0)
    load[24 + 10] = 400.0
    floors = line().floors(line().days([forecast(0, 100)], live(load)), [0.95])
    assert floors[: 11 * HOUR].max() == 20
    assert floors[11 * HOUR] >= 40


def test_nothing_after_a_step_moves_its_floor() -> None:
    calm, stormy = np.full(72, 100.0), np.full(72, 100.0)
    stormy[24 + 10 :] = 900.0
    forecasts = [forecast(0, 100), forecast(1, 100)]
    floors = [line().floors(line().days(forecasts, live(load)), [0.5, 0.5]) for load in (calm, stormy)]
    assert np.array_equal(floors[0][: 11 * HOUR], floors[1][: 11 * HOUR])
    assert (floors[1][11 * HOUR :] > floors[0][11 * HOUR :]).all()


def test_k02_an_outage_never_lowers_the_floor() -> None:
    load = np.full(72, 100.0)
    load[24 + 6 : 24 + 18] = np.nan
    days = line().days([forecast(0, 100), forecast(1, 100)], live(load))
    floors = line().floors(days, [0.95, 0.5])
    assert (np.diff(floors[6 * HOUR : 18 * HOUR]) >= 0).all()


def test_floors_end_with_the_trace() -> None:
    days = line().days([forecast(0, 100), forecast(1, 100)], live(np.full(24 + 24 + 7, 100.0)))
    assert line().floors(days, [0.95, 0.95]).size == (24 + 7) * HOUR


def test_a_mode_that_waits_for_people_is_replayed_as_if_nobody_had_to() -> None:
    waiting = Policy(minimum=1, hold_s=0)
    days = line(waiting).days([forecast(0, 100)], live(np.full(72, 60.0)))
    assert line(waiting).floors(days, [0.95]).tolist() == [20] * 24 * HOUR


def test_bounds_of_the_policy_hold_in_the_replay() -> None:
    bounded = line(Policy(minimum=3, maximum=12, hold_s=0))
    days = bounded.days([forecast(0, 100), forecast(1, 1)], live(np.full(72, 5.0)))
    floors = bounded.floors(days, [0.95, 0.95])
    assert floors.max() == 12
    assert floors.min() == 3


def test_a_plan_that_has_expired_gives_way_to_the_fallback() -> None:
    """It holds six hours, the next one comes after a day."""
    brief = line(Policy(minimum=1, hold_s=0, expiry_s=6 * STEP_S, fallback=17))
    days = brief.days([forecast(0, 100), forecast(1, 100)], live(np.full(72, 60.0)))
    assert brief.floors(days, [0.95, 0.95]).tolist() == ([20] * 6 * HOUR + [17] * 18 * HOUR) * 2


def test_a_held_floor_is_lowered_once_nothing_has_wanted_it_for_so_long() -> None:
    held = line(Policy(minimum=1, hold_s=2 * STEP_S))
    days = held.days([forecast(0, 100), forecast(1, 50)], live(np.full(72, 60.0)))
    floors = held.floors(days, [0.95, 0.95])
    assert floors[24 * HOUR : 30 * HOUR].tolist() == [20] * (2 * HOUR + 1) + [10] * (4 * HOUR - 1)


@pytest.mark.parametrize(
    ("forecast_s", "floor_s"), [(60, 60), (300, 300), (360, 180), (600, 300), (900, 300), (1_800, 300), (3_600, 300), (86_400, 300)]
)
def test_floors_are_decided_at_least_every_five_minutes_and_a_whole_number_of_times_a_step(forecast_s: int, floor_s: int) -> None:
    assert floor_step_s(forecast_s) == floor_s
    assert forecast_s % floor_step_s(forecast_s) == 0


def learned(median: float, *, weights: tuple[float, ...]) -> list[Forecast]:
    """Two days of which deviations were learned, with next to no noise."""
    said = nowcast_of(weights=weights, spread=(-9.0, 0.0))
    return [replace(forecast(day, median), nowcast=said) for day in (0, 1)]


def test_within_an_hour_floors_follow_the_medians_way_from_stamp_to_stamp() -> None:
    """The median rises from 100 at ten to 400 at eleven, and a floor looks an hour and its own five minutes ahead."""
    ramp = learned(100, weights=(0.0, 0.0, 0.0))[0]
    values = ramp.values.copy()
    values[:, 11:] *= 4.0
    rising = line().days([replace(ramp, values=values, window_max=values)], live(np.full(48, 100.0)))
    floors = line().floors(rising, [0.5])
    assert set(floors[: 9 * HOUR].tolist()) == {10}
    assert floors[9 * HOUR : 10 * HOUR].tolist() == [13, 15, 18, 20, 23, 25, 28, 30, 33, 35, 38, 40]


def test_a_quiet_hour_lowers_the_floor_below_the_plans_once_it_has_ended() -> None:
    load = np.full(72, 100.0)
    load[24 + 10 :] = 60.0
    followed, deaf = (line().days(learned(100, weights=w), live(load)) for w in ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    floors, stood = (line().floors(days, [0.5, 0.5]) for days in (followed, deaf))
    assert floors[11 * HOUR - 1] == 10
    assert floors[11 * HOUR : 24 * HOUR].tolist() == [7] * 13 * HOUR
    assert set(stood.tolist()) == {10}


def test_in_an_outage_the_plan_stands_whatever_was_learned() -> None:
    load = np.full(72, 60.0)
    load[24 + 6 : 24 + 18] = np.nan
    floors = line().floors(line().days(learned(100, weights=(1.0, 0.0, 0.0)), live(load)), [0.5, 0.5])
    assert (np.diff(floors[2 * HOUR : 18 * HOUR]) >= 0).all()
    assert floors[10 * HOUR] == 10

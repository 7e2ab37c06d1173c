"""Floors of a replay come from the real demand, plan, correct and guard, and from nothing that was not known yet."""

from datetime import UTC, datetime, timedelta

import numpy as np

from forecaster.backtest.floors import Line, line_of
from forecaster.forecast import DailyPeak, Forecast
from forecaster.series import Floats, Series, Signal, Window
from forecaster.workload import Policy

MIDNIGHT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)
STEP_S = 3_600
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
    assert line().floors(days, [0.95, 0.99]).tolist() == [20] * 24 + [15] * 24


def test_a_surge_raises_the_floor_once_its_bucket_has_ended() -> None:
    load = np.full(72, 100.0)
    load[24 + 10] = 400.0
    floors = line().floors(line().days([forecast(0, 100)], live(load)), [0.95])
    assert floors[10] == 20
    assert floors[11] >= 40


def test_nothing_after_a_step_moves_its_floor() -> None:
    calm, stormy = np.full(72, 100.0), np.full(72, 100.0)
    stormy[24 + 10 :] = 900.0
    forecasts = [forecast(0, 100), forecast(1, 100)]
    floors = [line().floors(line().days(forecasts, live(load)), [0.5, 0.5]) for load in (calm, stormy)]
    assert np.array_equal(floors[0][:11], floors[1][:11])
    assert (floors[1][11:] > floors[0][11:]).all()


def test_k02_an_outage_never_lowers_the_floor() -> None:
    load = np.full(72, 100.0)
    load[24 + 6 : 24 + 18] = np.nan
    days = line().days([forecast(0, 100), forecast(1, 100)], live(load))
    floors = line().floors(days, [0.95, 0.5])
    assert (np.diff(floors[6:18]) >= 0).all()


def test_floors_end_with_the_trace() -> None:
    days = line().days([forecast(0, 100), forecast(1, 100)], live(np.full(24 + 24 + 7, 100.0)))
    assert line().floors(days, [0.95, 0.95]).size == 24 + 7


def test_a_mode_that_waits_for_people_is_replayed_as_if_nobody_had_to() -> None:
    waiting = Policy(minimum=1, hold_s=0)
    days = line(waiting).days([forecast(0, 100)], live(np.full(72, 60.0)))
    assert line(waiting).floors(days, [0.95]).tolist() == [20] * 24


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
    assert brief.floors(days, [0.95, 0.95]).tolist() == ([20] * 6 + [17] * 18) * 2


def test_a_held_floor_is_lowered_once_nothing_has_wanted_it_for_so_long() -> None:
    held = line(Policy(minimum=1, hold_s=2 * STEP_S))
    days = held.days([forecast(0, 100), forecast(1, 50)], live(np.full(72, 60.0)))
    floors = held.floors(days, [0.95, 0.95])
    assert floors[24:30].tolist() == [20, 20, 20, 10, 10, 10]

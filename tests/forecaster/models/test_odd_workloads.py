"""Loads that are no smooth day: each is forecast, sanely, with margins that mean about what they say."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from forecaster.forecast import Forecast
from forecaster.models.catalogue import DEFAULT_MODEL, model
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S
from tests.asking import asked, issued
from tests.traces import MONDAY, horizon, panel, series_of

SEEDS = 3
AHEAD_DAYS = 2
FIVE_MINUTES_S = 300


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """Of each bucket: the day, counted from a Monday, the hour, and whether it is a weekend's."""

    day: NDArray[np.int64]
    hour: Floats
    weekend: NDArray[np.bool_]


Rate: TypeAlias = Callable[[Clock, np.random.Generator], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd:
    """A load, what is known of it, and what is asked of its forecasts.

    covered: least and most mean share of buckets at or below P95. peak: the most by which the median of tomorrow's peak may be off, as
    a ratio. error: of the median, as a share of the load.
    """

    rate: Rate
    step_s: int = FIVE_MINUTES_S
    days: int = 28
    measured: Callable[[Clock], NDArray[np.bool_]] = lambda clock: np.ones(clock.day.size, dtype=bool)
    covered: tuple[float, float] = (0.9, 1.0)
    peak: float = 0.15
    error: float = 0.15


def usual(clock: Clock, rng: np.random.Generator) -> Floats:
    """A service by day, busier on workdays, counted."""
    rate = 300 * (1.2 - np.cos(clock.hour / 24 * 2 * np.pi)) * np.where(clock.weekend, 0.5, 1.0)
    return rng.poisson(rate) / 5.0


def on_by_day(clock: Clock, rng: np.random.Generator) -> Floats:
    return np.where((clock.hour >= 8) & (clock.hour < 20), 1_000.0, 0.0) * rng.lognormal(0, 0.05, clock.hour.size)


def workday_batch(clock: Clock, rng: np.random.Generator) -> Floats:
    on = (clock.hour >= 1) & (clock.hour < 6) & ~clock.weekend
    return np.where(on, 500.0, 0.0) * rng.lognormal(0, 0.05, clock.hour.size)


def twenty_minutes(clock: Clock, rng: np.random.Generator) -> Floats:
    return np.where((clock.hour >= 3) & (clock.hour < 3.3), 800.0, 0.0) * rng.lognormal(0, 0.05, clock.hour.size)


def opening_hours(clock: Clock, rng: np.random.Generator) -> Floats:
    opened = (clock.hour >= 9) & (clock.hour < 18) & (clock.day % 7 < 6)
    return np.where(opened, rng.poisson(40 * (1 + np.sin((clock.hour - 9) / 9 * np.pi) * opened)), 0.0)


def hardly_any(clock: Clock, rng: np.random.Generator) -> Floats:
    return rng.poisson(0.05, clock.hour.size).astype(np.float64)


def growing(clock: Clock, rng: np.random.Generator) -> Floats:
    return usual(clock, rng) * 1.03**clock.day


def by_day(clock: Clock, rng: np.random.Generator) -> Floats:
    return np.where(clock.weekend, 500.0, 1_000.0) * rng.lognormal(0, 0.05, clock.day.size)


def without_a_weekend(clock: Clock) -> NDArray[np.bool_]:
    return (clock.day < 5) | (clock.day >= 7)


def one_hour_a_day(clock: Clock) -> NDArray[np.bool_]:
    return (clock.hour >= 10) & (clock.hour < 11)


ODD = {
    "on by day and off by night": Odd(rate=on_by_day),
    "batch on workdays": Odd(rate=workday_batch),
    "twenty minutes a night": Odd(rate=twenty_minutes),
    "closed hours": Odd(rate=opening_hours),
    "a request in twenty buckets": Odd(rate=hardly_any, peak=0.6, error=1.2),
    "hours": Odd(rate=usual, step_s=HOUR_S, covered=(0.8, 1.0)),
    "minutes": Odd(rate=usual, step_s=60, days=14),
    "two weeks and a day without one weekend": Odd(rate=usual, step_s=900, days=15, measured=without_a_weekend),
    "three percent more a day": Odd(rate=growing, step_s=900, covered=(0.8, 1.0)),
    "days": Odd(rate=by_day, step_s=DAY_S, covered=(0.8, 1.0)),
}
UNKNOWABLE = {
    "one day": Odd(rate=usual, days=1),
    "one hour a day": Odd(rate=usual, measured=one_hour_a_day),
}


def loads(odd: Odd, seed: int) -> tuple[Floats, Floats]:
    """What is known, and what comes."""
    seconds = np.arange((odd.days + AHEAD_DAYS) * DAY_S // odd.step_s) * odd.step_s
    clock = Clock(day=seconds // DAY_S, hour=seconds % DAY_S / HOUR_S, weekend=seconds // DAY_S % 7 >= 5)
    load, known = odd.rate(clock, np.random.default_rng(seed)), odd.days * DAY_S // odd.step_s
    return np.where(odd.measured(clock), load, np.nan)[:known], load[known:]


def forecast(odd: Odd, known: Floats) -> Forecast:
    start = MONDAY + timedelta(days=odd.days)
    ahead = horizon(start=start, step_s=odd.step_s, steps=AHEAD_DAYS * DAY_S // odd.step_s)
    return issued(model(DEFAULT_MODEL), panel(series_of(known, end=start, step_s=odd.step_s)), asked(ahead))[0].forecast


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest) -> Odd:
    return ODD[request.param]


@pytest.mark.parametrize("name", [*ODD, *UNKNOWABLE])
def test_no_quantile_is_above_three_times_what_was_ever_seen_nor_is_all_of_it_zero(name: str) -> None:
    case = (ODD | UNKNOWABLE)[name]
    known, _ = loads(case, 0)
    found = forecast(case, known)
    assert found.values.max() <= 3 * np.nanmax(known)
    assert found.at_level(0.95).max() > 0.5 * np.nanmax(known) or name == "a request in twenty buckets"
    assert found.at_level(0.95).max() > 0


def test_margins_errors_and_peaks_are_about_what_they_say(odd: Odd) -> None:
    covered, errors, peaks = [], [], []
    for seed in range(SEEDS):
        known, came = loads(odd, seed)
        found, tomorrow = forecast(odd, known), came[: DAY_S // odd.step_s].max()
        covered.append(np.mean(came <= found.at_level(0.95)))
        errors.append(np.abs(found.at_level(0.5) - came).sum() / came.sum())
        peaks.append(found.daily_peaks[0].at_level(0.5) / tomorrow)
        assert found.daily_peaks[0].at_level(0.99) >= 0.95 * tomorrow or odd.rate is hardly_any
    assert odd.covered[0] <= np.mean(covered) <= odd.covered[1]
    assert np.mean(errors) <= odd.error
    assert abs(np.median(peaks) - 1) <= odd.peak


def test_what_is_off_at_night_is_forecast_as_off_and_on_in_the_very_bucket() -> None:
    for rate, least in ((on_by_day, 800.0), (twenty_minutes, 600.0), (workday_batch, 400.0), (opening_hours, 25.0)):
        case = Odd(rate=rate)
        known, came = loads(case, 0)
        median = forecast(case, known).at_level(0.5)
        off = came == 0
        assert median[off].max() < 0.02 * np.nanmax(known)
        assert median[~off].min() > least


def test_a_batch_of_twenty_minutes_is_no_reason_to_stand_by_for_twice_its_peak() -> None:
    case = ODD["twenty minutes a night"]
    known, came = loads(case, 1)
    found = forecast(case, known)
    assert found.daily_peaks[0].at_level(0.95) < 1.2 * came.max()
    assert np.mean(found.at_level(0.99)) < 1.3 * np.mean(came)


def test_closed_days_of_the_week_stay_closed() -> None:
    for rate, days in ((workday_batch, 26), (opening_hours, 27)):  # a Saturday, a Sunday
        case = Odd(rate=rate, days=days)
        known, came = loads(case, 0)
        assert came[: DAY_S // case.step_s].max() == 0
        median = forecast(case, known).at_level(0.5)[: DAY_S // case.step_s]
        assert median.max() < 0.05 * known.max()


def test_growth_is_followed_and_not_run_ahead_of() -> None:
    case = ODD["three percent more a day"]
    known, came = loads(case, 2)
    ratio = forecast(case, known).at_level(0.5).sum() / came.sum()
    assert 0.9 < ratio < 1.1


def test_l17_a_single_day_is_repeated_with_a_wide_margin_and_it_says_so() -> None:
    case = UNKNOWABLE["one day"]
    known, came = loads(case, 0)
    found = forecast(case, known)
    assert np.abs(found.at_level(0.5) - came).sum() < 0.1 * came.sum()
    assert np.mean(came <= found.at_level(0.95)) > 0.95
    assert found.at_level(0.95).mean() > 1.3 * found.at_level(0.5).mean()
    assert "what weekdays and weekends do to it is not known yet" in found.notes[0].detail


def test_of_hours_that_were_never_measured_the_measured_one_is_all_there_is_to_say() -> None:
    case = UNKNOWABLE["one hour a day"]
    known, came = loads(case, 0)
    found = forecast(case, known)
    measured = slice(10 * 12, 11 * 12)
    assert np.abs(found.at_level(0.5) - came)[measured].mean() < 0.1 * came[measured].mean()
    assert found.at_level(0.5).min() > 0.5 * came[measured].mean()

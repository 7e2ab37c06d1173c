"""What the default model makes of a load: the repeating stays, the rest goes."""

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast, Horizon
from forecaster.models.profile import Profile
from forecaster.series import Series
from tests.traces import horizon, packaged_trace, panel, series_of, usual_rpm

LEVELS = (0.05, 0.5, 0.9, 0.95, 0.99)


def forecast(load: Series, steps: int = 24, ahead: Horizon | None = None) -> Forecast:
    profile, known = Profile(), panel(load)
    ahead = ahead or horizon(start=load.end, step_s=load.step_s, steps=steps)
    return profile.forecast(known, profile.fit(known, ahead.start), ahead, LEVELS, Calendar())[0]


def test_a_spike_at_a_fixed_minute_of_every_day_stays() -> None:
    load = usual_rpm(28, step_s=300).mean.copy()
    load[100::288] = 3_000
    answer = forecast(series_of(load, step_s=300), steps=288).at_level(0.5)
    assert answer[100] > 2_000
    assert answer[99] < 400


def test_a_spike_of_one_weekday_stays_on_that_weekday() -> None:
    load = usual_rpm(28).mean.copy()
    load[9 :: 24 * 7] = 3_000  # every Monday at nine
    answer = forecast(series_of(load), steps=24 * 7).at_level(0.5)
    assert answer[9] > 1_000
    assert answer[9 + 24 :: 24].max() < 400


def test_a_flash_crowd_that_came_once_does_not_come_again() -> None:
    load = usual_rpm(28).mean.copy()
    load[24 * 21 + 9] = 30_000
    usual = forecast(usual_rpm(28)).at_level(0.5)
    np.testing.assert_allclose(forecast(series_of(load)).at_level(0.5), usual, rtol=0.1)


def test_noise_of_single_slots_is_smoothed_away() -> None:
    load = usual_rpm(28, step_s=300, noise_ratio=0.3)
    answer = forecast(load, steps=288).at_level(0.5)
    expected = usual_rpm(29, step_s=300, noise_ratio=0.0, end=load.end + (load.end - load.start) / 28).mean[-288:]
    assert np.abs(answer / expected - 1).mean() < 0.05


def test_the_last_hours_move_the_next_ones_and_fade() -> None:
    load = usual_rpm(28, noise_ratio=0.02).mean.copy()
    usual = forecast(series_of(load), steps=48).at_level(0.5)
    load[-3:] *= 1.08
    ratio = forecast(series_of(load), steps=48).at_level(0.5) / usual
    assert 1.03 < ratio[0] < 1.08
    assert 1 < ratio[40] < 1.02


def test_a_launch_that_multiplies_the_load_is_followed() -> None:
    load = usual_rpm(10, noise_ratio=0.02).mean.copy()
    usual = forecast(series_of(load)).at_level(0.5)
    load[-24 * 4 :] *= 50
    answer = forecast(series_of(load))
    np.testing.assert_allclose(answer.at_level(0.5) / usual, 50, rtol=0.5)
    assert answer.at_level(0.99).max() <= 3 * load.max()


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_the_packaged_week_is_covered_at_the_stated_level(factor: float) -> None:
    """The last three days of the Azure week from the ones before: between 85 and 100 % of buckets lie below P95."""
    load = packaged_trace().series()
    per_day = 288
    below = []
    for day in (4, 5, 6):
        known = series_of(load.mean[: day * per_day] * factor, end=load.start + day * (load.end - load.start) / 7, step_s=300)
        actual = load.mean[day * per_day : (day + 1) * per_day] * factor
        below.append((actual <= forecast(known, steps=per_day).at_level(0.95)).mean())
    assert 0.85 <= np.mean(below) <= 1

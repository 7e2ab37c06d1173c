"""What members may know, and how it is cut into days."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.errors import ModelFailed
from forecaster.models.past import Past, log_offsets
from forecaster.series import Floats
from tests.contracts.members import past
from tests.traces import MONDAY, series_of, usual_rpm

SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)  # 02:00 becomes 03:00 in Paris
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)  # 03:00 becomes 02:00 again


def loads(known: Past, logs: Floats) -> Floats:
    """In the signal's unit again, of the first series."""
    found: Floats = np.exp(logs[0]) - known.offset[0]
    return found


def assert_loads(found: Floats, expected: object) -> None:
    np.testing.assert_allclose(found, np.array(expected, dtype=np.float64), rtol=1e-7, atol=1e-9)


def known(load: list[float], *, at: datetime = MONDAY, step_s: int = 3_600, zone: str = "UTC") -> Past:
    return past(series_of(load, end=at, step_s=step_s), at=at, zone=zone)


def test_the_newest_day_comes_first_and_column_zero_has_the_origins_time_of_day() -> None:
    of_six = known([float(i) for i in range(10)], at=MONDAY + timedelta(hours=6), step_s=21_600)
    assert_loads(loads(of_six, of_six.logs), [[6, 7, 8, 9], [2, 3, 4, 5], [np.nan, np.nan, 0, 1]])


def test_lines_are_the_days_from_old_to_new() -> None:
    halves = known([1.0, 2.0, 3.0, 4.0, 5.0], step_s=43_200)
    assert_loads(loads(halves, halves.lines), [np.nan, 1, 2, 3, 4, 5])


def test_what_ended_before_the_origin_leaves_the_last_slots_unmeasured() -> None:
    late = past(series_of([1.0, 2.0], end=MONDAY - timedelta(days=1), step_s=43_200))
    assert_loads(loads(late, late.logs), [[np.nan, np.nan], [1, 2]])


def test_the_hour_that_spring_skips_is_unmeasured() -> None:
    after = known([1.0, 2.0, 3.0, 4.0], at=SPRING + timedelta(hours=2), zone="Europe/Paris")
    assert_loads(loads(after, after.lines)[-5:], [1, 2, np.nan, 3, 4])


def test_the_two_passes_of_the_hour_that_autumn_repeats_are_averaged() -> None:
    after = known([1.0, 2.0, 4.0, 5.0], at=AUTUMN + timedelta(hours=2), zone="Europe/Paris")
    assert_loads(loads(after, after.lines)[-3:], [1, 3, 5])


def test_a_pass_that_was_not_measured_leaves_the_other_one() -> None:
    after = known([1.0, np.nan, 4.0, 5.0], at=AUTUMN + timedelta(hours=2), zone="Europe/Paris")
    assert_loads(loads(after, after.lines)[-3:], [1, 4, 5])


def test_a_step_that_does_not_divide_a_day_is_refused() -> None:
    with pytest.raises(ModelFailed, match=r"step of 420 s has no whole number of buckets a day: choose one that divides it"):
        known([1.0, 2.0], at=datetime.fromtimestamp(420 * 4_000_000, UTC), step_s=420)


def test_local_days_run_from_midnight_to_midnight_and_today_is_row_zero() -> None:
    at = MONDAY + timedelta(hours=12)
    of_noon = known([float(i) for i in range(10)], at=at, step_s=21_600)
    days, early = of_noon.by_midnight(9)
    assert early == 2
    assert_loads(loads(of_noon, days)[:3], [[8, 9, np.nan, np.nan], [4, 5, 6, 7], [0, 1, 2, 3]])


def test_at_a_midnight_row_zero_is_yesterday() -> None:
    days, early = known([1.0, 2.0, 3.0, 4.0], step_s=43_200).by_midnight(9)
    assert early == 0
    assert days.shape == (1, 2, 2)


def test_what_was_known_at_midnight_is_what_is_known_at_that_midnight() -> None:
    load = usual_rpm(9, end=MONDAY + timedelta(hours=17))
    later, then = past(load, at=MONDAY + timedelta(hours=17)).at_midnight(), past(load, at=MONDAY)
    assert later.clock.local_s == then.clock.local_s
    days = min(later.days, then.days)
    for one, other in zip(loads(later, later.logs)[:days], loads(then, then.logs)[:days], strict=True):
        np.testing.assert_allclose(one, other)


def test_what_was_known_days_ago_is_the_same_without_those_days() -> None:
    load = usual_rpm(9)
    earlier, then = past(load).earlier(3), past(load, at=MONDAY - timedelta(days=3))
    assert earlier.clock.local_s == then.clock.local_s
    assert_loads(loads(earlier, earlier.logs), loads(then, then.logs))


def test_some_series_of_a_past_are_what_they_were() -> None:
    both = past(usual_rpm(3, seed=1), usual_rpm(3, seed=2))
    second = both.only(np.array([1]))
    assert second.names == ("b",)
    np.testing.assert_array_equal(second.logs[0], both.logs[1])


def test_the_offset_follows_the_noise_of_a_load_within_bounds() -> None:
    rng = np.random.default_rng(3)
    calm, counts, wild, nothing = np.full(2_000, 50.0), rng.poisson(30.0, 2_000) * 1.0, rng.lognormal(0, 4, 2_000), np.zeros(2_000)
    found = log_offsets(np.stack((calm, counts, wild, nothing)))
    assert found[0] == pytest.approx(0.02 * 50)
    assert found[1] == pytest.approx(1.0, rel=0.1)  # one request a bucket
    assert found[2] == pytest.approx(wild.mean())
    assert found[3] == 1

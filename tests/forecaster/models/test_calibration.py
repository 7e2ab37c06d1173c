"""Quantiles learned from errors: what they promise is what comes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from forecaster.models.calibration import (
    SIGMA,
    adapted,
    day_weights,
    effective,
    informative,
    normal,
    recency,
    sigmas,
    spread,
    student_ratio,
)
from forecaster.series import Floats

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
P05, P50, P95, P99 = 0, 2, 5, 6
DAYS = 28


def errors_of(
    series: int, days: int, slots: int, seed: int, sigma: float | Floats = 0.2, *, together: float = 0.0, along: float = 0.0
) -> Floats:
    """Log errors, the newest day first. together: the share of the variance that a whole day has in common. along: an AR(1) within days."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(series, days, slots))
    for slot in range(1, slots):
        noise[:, :, slot] = along * noise[:, :, slot - 1] + np.sqrt(1 - along**2) * noise[:, :, slot]
    day = rng.normal(size=(series, days, 1))
    found: Floats = sigma * (np.sqrt(1 - together) * noise + np.sqrt(together) * day)
    return found


def alike(days: int, series: int) -> Floats:
    """Weights of days of one kind from a series that had all its history."""
    return np.tile(recency(days), (series, 1))


def quantiles(
    errors: Floats, *, ahead: int = 1, prior: float = SIGMA, weights: Floats | None = None, steps: Floats | None = None
) -> Floats:
    """At all slots of a day, (series, levels, slots)."""
    series, days, slots = errors.shape
    known = spread(
        errors,
        alike(days, series) if weights is None else weights,
        LEVELS,
        np.full(series, prior),
        np.zeros((series, LEVELS.size)) if steps is None else steps,
    )
    return known.quantiles(np.arange(slots), np.full(slots, ahead))


def shares_below(sample: Floats) -> Floats:
    """The share of the newest day's errors at or below each level that the days before it gave, over all series."""
    below = sample[:, 0][:, None] <= quantiles(sample[:, 1:])
    found: Floats = below.mean(axis=(0, 2))
    return found


@pytest.mark.parametrize("slots", [24, 96, 288])
def test_stated_levels_are_met_by_errors_to_come(slots: int) -> None:
    np.testing.assert_allclose(shares_below(errors_of(200, DAYS + 1, slots, 1)), LEVELS, atol=0.02)


def test_errors_that_last_for_hours_are_covered_too() -> None:
    np.testing.assert_allclose(shares_below(errors_of(300, DAYS + 1, 96, 2, along=0.95)), LEVELS, atol=0.03)


@pytest.mark.parametrize("days", [7, 14, DAYS])
def test_days_that_err_as_a_whole_are_covered_too(days: int) -> None:
    """Then n days are n errors, not n times the slots of a day."""
    found = shares_below(errors_of(600, days + 1, 24, 3, together=0.8))
    np.testing.assert_allclose(found[P50:P99], LEVELS[P50:P99], atol=0.03)
    assert 0.965 <= found[P99] <= 1


def test_a_noisy_hour_has_a_wide_spread_and_a_calm_one_a_narrow_one() -> None:
    found = quantiles(errors_of(1, DAYS, 48, 4, np.where(np.arange(48) < 24, 0.05, 0.5)))[0, P95]
    assert found[40] > 4 * found[8]


def test_an_hour_that_is_always_higher_is_raised() -> None:
    sample = errors_of(1, DAYS, 48, 5, 0.02)
    sample[:, :, 30:] += 0.5
    median = quantiles(sample)[0, P50]
    assert median[40] > 0.35
    assert abs(median[8]) < 0.05


def test_fewer_days_say_less() -> None:
    few, many = (np.ptp(quantiles(errors_of(200, days, 24, 6))[:, [P05, P95]], axis=1).mean() for days in (1, DAYS))
    assert few > 1.02 * many


def test_where_nothing_is_known_the_prior_speaks_as_a_gaussian() -> None:
    nothing = np.full((2, DAYS, 24), np.nan)
    found = quantiles(nothing, prior=0.25, ahead=0)
    np.testing.assert_allclose(found[0, P50], 0, atol=1e-12)
    np.testing.assert_allclose(found[0, P95], 0.25 * 1.645, rtol=0.15)
    assert (quantiles(nothing, prior=0.5)[:, P95] > 1.8 * quantiles(nothing, prior=0.25)[:, P95]).all()


def test_a_young_series_leans_on_the_prior_and_an_old_one_does_not() -> None:
    for days, least, most in ((1, 1.25, 3.0), (DAYS, 1.0, 1.06)):
        sample = errors_of(30, days, 24, 7, 0.05)
        wide, narrow = (quantiles(sample, prior=prior)[:, P95].mean() for prior in (0.5, 0.05))
        assert least < wide / narrow < most


def test_with_few_steps_a_day_high_levels_go_to_the_largest_error_seen() -> None:
    """The (N + 1) rule: of 19 errors the 95th percentile is the largest one, not the one at 0.81."""
    sample = np.linspace(-0.9, 0.9, 19)[None, :, None]
    assert quantiles(sample, weights=np.ones((1, 19)))[0, P95, 0] > 0.9


def test_what_one_day_had_in_common_is_spread_and_hardly_a_habit() -> None:
    """Members have followed that day already: to move the next one by it again would count it twice."""
    for moved in (-0.4, 0.4):
        found = quantiles(errors_of(20, 1, 24, 15, 0.05) + moved)[:, [P05, P50, P95]].mean(axis=(0, 2))
        assert 0 < found[1] / moved < 0.3
        assert np.ptp(found) > 0.8


def test_what_days_of_another_kind_say_leaves_the_prior_standing() -> None:
    """A day of weight a tenth is a tenth of a day, not a whole one for want of a better."""
    sample = errors_of(20, 3, 24, 16, 0.02)
    full, slight = (quantiles(sample, weights=np.full((20, 3), weight))[:, P95].mean() for weight in (1.0, 0.03))
    assert full < 0.15
    assert slight > 0.25


def test_further_days_ahead_are_wider_and_no_higher() -> None:
    sample = errors_of(20, 14, 24, 8)
    near, far = (quantiles(sample, ahead=ahead) for ahead in (1, 3))
    assert np.ptp(far[:, [P05, P95]], axis=1).mean() > 1.03 * np.ptp(near[:, [P05, P95]], axis=1).mean()
    np.testing.assert_allclose(far[:, P50], near[:, P50], atol=1e-9)


def test_errors_that_are_not_known_are_not_errors_of_zero() -> None:
    """Two days on which all lay a tenth below: by the share that two days are trusted, and no level of the next day near zero."""
    sample = np.full((1, DAYS, 24), np.nan)
    sample[:, :2] = -0.1
    assert quantiles(sample, prior=1e-6)[0].max() < -0.01
    holed = errors_of(100, DAYS + 1, 24, 9)
    holed[:, 1:][np.random.default_rng(9).random((100, DAYS, 24)) < 0.6] = np.nan
    np.testing.assert_allclose(shares_below(holed), LEVELS, atol=0.02)


# weights of days


def kind(days: int, every: int = 7) -> NDArray[np.bool_]:
    """Days of one kind: one in seven."""
    found: NDArray[np.bool_] = np.arange(days) % every == 0
    return found


def test_days_of_the_same_kind_say_more_and_so_weekends_have_errors_of_their_own() -> None:
    """Saturdays err four times as much: their P95 is wider than that of workdays, by less than four, since all days are heard."""
    saturday = kind(DAYS)
    sample = errors_of(1, DAYS, 24, 10, 0.05)
    sample[:, saturday] *= 4
    history = np.full((1, DAYS), 56.0)
    on_saturday, on_workday = (quantiles(sample, weights=day_weights(history, saturday == kind_))[0, P95].mean() for kind_ in (True, False))
    assert 1.3 < on_saturday / on_workday < 4


def test_recent_days_say_more() -> None:
    assert recency(21)[[0, 10, 20]].tolist() == [1, 0.5, 0.25]


def test_what_was_said_on_little_history_says_less() -> None:
    weights = day_weights(np.array([[30.0, 2.0, 0.0, -1.0]]), np.ones(4, dtype=bool))[0]
    assert weights[0] == 1
    assert 0 < weights[1] < 0.1
    assert weights[2:].tolist() == [0, 0]


def test_the_newest_day_of_any_age_counts_fully() -> None:
    assert day_weights(np.array([[1.0, 0.0]]), np.ones(2, dtype=bool))[0, 0] == 1


def test_days_that_say_a_tenth_are_tenths_of_days() -> None:
    np.testing.assert_allclose(informative(np.array([[1.0, 1, 0, 0], [0.1, 0.1, 0.1, 0.1], [0, 0, 0, 0]])), [2, 0.4, 0])


def test_the_number_of_equal_days_is_that_of_kish() -> None:
    found = effective(np.array([[1.0, 1, 1, 1], [1, 0, 0, 0], [1, 0.5, 0.25, 0]]))
    np.testing.assert_allclose(found, [4, 1, 1.75**2 / 1.3125])


# the adaptive step


def test_a_level_that_was_missed_is_raised_and_one_that_held_too_much_is_lowered() -> None:
    covered = np.tile([[0.05, 0.25, 0.5, 0.6, 1.0, 0.5, np.nan]], (1, 1))
    moved = adapted(np.zeros((1, LEVELS.size)), covered, LEVELS)[0]
    np.testing.assert_allclose(moved, [0, 0, 0, 0.003, -0.002, 0.009, 0], atol=1e-12)


@pytest.mark.parametrize("covered", [0.0, 1.0])
def test_however_long_it_misses_a_level_moves_by_half_of_its_distance_to_the_end_at_most(covered: float) -> None:
    steps = np.zeros((1, LEVELS.size))
    for _ in range(500):
        steps = adapted(steps, np.full((1, LEVELS.size), covered), LEVELS)
    assert (np.abs(steps[0]) <= np.minimum(LEVELS, 1 - LEVELS) / 2 + 1e-12).all()
    assert (np.sign(steps[0]) == (1 if covered == 0 else -1)).all()


def test_a_step_up_raises_its_quantile() -> None:
    sample, steps = errors_of(1, DAYS, 24, 11), np.zeros((1, LEVELS.size))
    steps[0, P95] = 0.02
    plain, raised = (quantiles(sample, steps=each) for each in (np.zeros_like(steps), steps))
    assert (raised[0, P95] > plain[0, P95]).all()
    np.testing.assert_array_equal(np.delete(raised, P95, axis=1), np.delete(plain, P95, axis=1))


def test_steps_bring_coverage_back_where_errors_grow() -> None:
    """Errors that grow by 4 % a day: each day's quantiles from the days before, with and without steps."""
    growing = errors_of(40, 90, 24, 12)[:, ::-1] * 1.04 ** np.arange(90)[None, :, None]
    shares = []
    for rate in (0, 1):
        steps, below = np.zeros((40, LEVELS.size)), []
        for day in range(30, 90):
            found = quantiles(growing[:, day - 28 : day][:, ::-1], steps=steps)
            covered = (growing[:, day][:, None] <= found).mean(axis=2)
            below.append(covered[:, P95].mean())
            steps = adapted(steps, covered, LEVELS) * rate
        shares.append(np.mean(below[20:]))
    assert shares[0] + 0.01 < shares[1] <= 0.95


def test_a_series_without_errors_has_no_step_of_another() -> None:
    sample, steps = errors_of(2, DAYS, 24, 14), np.zeros((2, LEVELS.size))
    sample[1] = np.nan
    steps[0] = np.minimum(LEVELS, 1 - LEVELS) / 2
    np.testing.assert_array_equal(quantiles(sample, steps=steps)[1], quantiles(sample)[1])


# sizes and tails


def test_the_size_of_errors_is_a_gaussians_sigma_or_unknown() -> None:
    sample = errors_of(2, DAYS, 24, 13, 0.3)
    sample[1] = np.nan
    found = sigmas(sample, np.ones((2, DAYS)))
    assert found[0] == pytest.approx(0.3, rel=0.05)
    assert np.isnan(found[1])


@pytest.mark.parametrize(
    ("level", "freedom", "quantile"), [(0.95, 4, 2.132), (0.99, 4, 3.747), (0.95, 10, 1.812), (0.99, 30, 2.457), (0.75, 10, 0.700)]
)
def test_students_quantiles_are_those_of_the_table(level: float, freedom: float, quantile: float) -> None:
    levels = np.array([level])
    assert normal(levels)[0] * student_ratio(levels, np.array([float(freedom)]))[0, 0] == pytest.approx(quantile, rel=0.011)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 9), st.sampled_from((1, 2, 24, 48, 288))),
    seed=st.integers(0, 99),
    missing=st.floats(0, 1),
    size=st.sampled_from((0.0, 1e-12, 0.3, 9.0)),
    moved=st.floats(-0.5, 0.5),
)
def test_quantiles_are_finite_and_in_order_whatever_is_missing(
    shape: tuple[int, int, int], seed: int, missing: float, size: float, moved: float
) -> None:
    rng = np.random.default_rng(seed)
    sample = np.where(rng.random(shape) < missing, np.nan, rng.standard_t(2, shape) * size)
    steps = np.tile(np.minimum(LEVELS, 1 - LEVELS) * moved, (shape[0], 1))
    found = quantiles(sample, steps=steps)
    assert np.isfinite(found).all()
    assert (np.diff(found[:, :, :], axis=1) >= -1e-9).all()

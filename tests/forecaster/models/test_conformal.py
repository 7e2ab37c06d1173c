"""Quantiles learnt from errors: what they promise is what comes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.models.conformal import peak_spread, spread
from forecaster.series import Floats

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def errors_of(origins: int, steps: int, seed: int, sigma: float | Floats = 0.2) -> Floats:
    return np.random.default_rng(seed).normal(0, sigma, (origins, steps))


def test_stated_levels_are_met_by_errors_to_come() -> None:
    """200 series of 28 days: the next day's errors lie below each level as often as it says."""
    below = np.zeros(len(LEVELS))
    for seed in range(200):
        sample = errors_of(29, 24, seed)
        below += (sample[0] <= spread(sample[1:], 24, LEVELS).quantiles).mean(axis=1)
    np.testing.assert_allclose(below / 200, LEVELS, atol=0.02)


def test_days_that_err_as_a_whole_are_covered_too() -> None:
    """Within a day all hours err alike, so that 14 days are 14 errors and not 336."""
    below = np.zeros(len(LEVELS))
    for seed in range(400):
        sample = np.repeat(errors_of(15, 1, seed), 24, axis=1)
        below += (sample[0] <= spread(sample[1:], 24, LEVELS).quantiles).mean(axis=1)
    np.testing.assert_allclose((below / 400)[2:], LEVELS[2:], atol=0.04)


def test_a_noisy_hour_has_a_wide_spread_and_a_calm_one_a_narrow_one() -> None:
    sigma = np.where(np.arange(48) < 24, 0.05, 0.5)
    quantiles = spread(errors_of(28, 48, 1, sigma), 48, LEVELS).quantiles
    assert quantiles[5, 40] > 4 * quantiles[5, 8]


def test_an_hour_that_is_always_higher_is_raised() -> None:
    sample = errors_of(28, 48, 2, 0.02)
    sample[:, 30:] += 0.5
    quantiles = spread(sample, 48, LEVELS).quantiles
    assert quantiles[2, 40] > 0.35
    assert abs(quantiles[2, 8]) < 0.05


def test_fewer_days_say_less() -> None:
    widths = np.zeros(4)
    for seed in range(50):
        sample = errors_of(28, 24, seed)
        widths += [np.ptp(spread(sample[:days], 24, (0.05, 0.95)).quantiles, axis=0).mean() for days in (0, 1, 4, 28)]
    assert widths[0] > widths[1] > widths[2] > widths[3]


def test_one_step_a_day_moves_high_levels_to_the_largest_error_seen() -> None:
    """The (N + 1) rule: of 19 errors the 95th percentile is the largest one, not the one at 0.81."""
    sample = np.linspace(-0.9, 0.9, 19)[:, None]
    assert spread(sample, 1, (0.5, 0.95)).quantiles[1, 0] > 0.9


def test_further_days_ahead_are_wider() -> None:
    quantiles = spread(errors_of(14, 72, 4), 24, (0.05, 0.95)).quantiles
    assert np.ptp(quantiles[:, 48:], axis=0).mean() > 1.03 * np.ptp(quantiles[:, :24], axis=0).mean()


def test_l16_when_errors_grow_the_quantiles_follow_within_a_week() -> None:
    sample = np.concatenate((errors_of(7, 24, 5, 0.5), errors_of(21, 24, 5, 0.05)))
    grown, shrunk = (spread(rows, 24, LEVELS).quantiles[5].mean() for rows in (sample, sample[::-1]))
    assert grown > 1.5 * shrunk
    below = errors_of(400, 24, 6, 0.5) <= grown
    assert below.mean() > 0.85


def test_coverage_is_not_known_before_three_origins_and_near_the_level_later() -> None:
    assert spread(errors_of(2, 24, 6), 24, LEVELS).coverage() == (None,) * len(LEVELS)
    coverage = [share for share in spread(errors_of(28, 24, 6), 24, LEVELS).coverage() if share is not None]
    np.testing.assert_allclose(coverage, LEVELS, atol=0.03)


def test_a_peak_is_raised_by_what_peaks_were_above_the_path() -> None:
    """The largest of 24 noisy hours is above the largest of the expected ones on nearly every day."""
    sample = np.random.default_rng(8).normal(0, 0.2, (28, 24)).max(axis=1)[:, None]
    quantiles = peak_spread(sample, (0.5, 0.95))[0]
    assert quantiles[0] == pytest.approx(float(np.median(sample)), abs=0.05)
    assert quantiles[1] > 0.5


def test_stated_levels_of_peaks_are_met_by_peaks_to_come() -> None:
    below = np.zeros(len(LEVELS))
    for seed in range(600):
        sample = errors_of(22, 1, seed)
        below += sample[0, 0] <= peak_spread(sample[1:], LEVELS)[0]
    np.testing.assert_allclose(below / 600, LEVELS, atol=0.05)


def test_a_day_that_was_never_hindcast_borrows_from_the_others() -> None:
    sample = np.column_stack((errors_of(10, 1, 9, 0.1), np.full(10, np.nan)))
    near, far = peak_spread(sample, (0.05, 0.95))
    assert np.ptp(far) == pytest.approx(np.ptp(near), rel=0.6)
    assert np.ptp(peak_spread(sample[:, 1:], (0.05, 0.95))[0]) > 2 * np.ptp(far)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(0, 9), st.integers(1, 50)),
    per_day=st.sampled_from((1, 24, 48)),
    seed=st.integers(0, 99),
    missing=st.floats(0, 1),
    size=st.sampled_from((0.0, 1e-12, 0.3, 9.0)),
)
def test_quantiles_are_finite_and_in_order_whatever_is_missing(
    shape: tuple[int, int], per_day: int, seed: int, missing: float, size: float
) -> None:
    rng = np.random.default_rng(seed)
    sample = np.where(rng.random(shape) < missing, np.nan, rng.standard_t(2, shape) * size)
    for quantiles in (spread(sample, per_day, LEVELS).quantiles, peak_spread(sample, LEVELS).T):
        assert np.isfinite(quantiles).all()
        assert (np.diff(quantiles, axis=0) >= -1e-9).all()

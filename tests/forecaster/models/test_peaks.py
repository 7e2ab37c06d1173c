"""The largest load of a day, from what earlier ones were above the path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.models.peaks import blended, measured_max, peak_spread
from forecaster.series import Floats

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
P05, P50, P95 = 0, 2, 5


def quantiles(errors: Floats, *, prior: float = 0.25, ahead: int = 1, levels: Floats = LEVELS) -> Floats:
    """From equally weighted days (series, days)."""
    return peak_spread(errors, np.ones(errors.shape), levels, np.full(len(errors), prior), ahead)


def test_stated_levels_are_met_by_peaks_to_come() -> None:
    sample = np.random.default_rng(1).normal(0, 0.2, (2_000, 22))
    below = (sample[:, :1] <= quantiles(sample[:, 1:])).mean(axis=0)
    np.testing.assert_allclose(below, LEVELS, atol=0.03)


def test_a_peak_is_raised_by_what_peaks_were_above_the_path() -> None:
    """The largest of 24 noisy hours is above the largest of the expected ones on nearly every day."""
    sample = np.random.default_rng(8).normal(0, 0.2, (1, 28, 24)).max(axis=2)
    found = quantiles(sample)[0]
    assert found[P50] == pytest.approx(float(np.median(sample)), abs=0.05)
    assert found[P95] > 0.5


def test_without_a_day_the_prior_speaks() -> None:
    found = quantiles(np.full((1, 10), np.nan), prior=0.25)[0]
    assert found[P50] == pytest.approx(0, abs=1e-9)
    assert 0.25 * 1.6 < found[P95] < 0.25 * 3.5


def test_days_that_are_not_known_change_nothing() -> None:
    sample = np.random.default_rng(2).normal(0.1, 0.1, (1, 9))
    holed = np.concatenate((sample, np.full((1, 19), np.nan)), axis=1)
    np.testing.assert_allclose(quantiles(holed), quantiles(sample))


def test_fewer_days_and_days_further_ahead_are_wider() -> None:
    sample = np.random.default_rng(3).normal(0, 0.1, (200, 28))
    width = [np.ptp(quantiles(sample[:, :days], ahead=ahead)[:, [P05, P95]], axis=1).mean() for days, ahead in ((28, 1), (28, 5), (4, 1))]
    assert width[0] < width[1]
    assert width[0] < width[2]


def test_one_day_alone_moves_the_median_by_less_than_half_of_it() -> None:
    assert quantiles(np.full((1, 1), 0.3))[0, P50] == pytest.approx(0.3 / 2.5, abs=0.03)


def test_heavier_days_say_more() -> None:
    errors = np.array([[0.5, 0.5, 0.5, 0.0, 0.0, 0.0]])
    first = np.array([[1.0, 1, 1, 0.1, 0.1, 0.1]])
    sizes = [peak_spread(errors, weights, LEVELS, np.array([0.1]), 1)[0, P50] for weights in (first, first[:, ::-1])]
    assert sizes[0] > 0.35
    assert sizes[1] < 0.1


def test_on_short_histories_yesterdays_peak_has_a_say_that_fades() -> None:
    path, before = np.zeros(4), np.ones(4)
    found = blended(path, before, np.array([0.0, 1.0, 2.0, 28.0]))
    assert found[0] == 1
    assert (np.diff(found) < 0).all()
    assert found[-1] < 0.01


def test_a_peak_of_yesterday_that_was_not_measured_has_none() -> None:
    assert blended(np.array([3.0]), np.array([np.nan]), np.array([1.0]))[0] == 3


def test_a_maximum_is_known_where_four_fifths_were_measured() -> None:
    rows = np.arange(20.0).reshape(2, 10)
    rows[0, :2] = rows[1, :3] = np.nan
    np.testing.assert_array_equal(measured_max(rows), [9, np.nan])


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 28)),
    seed=st.integers(0, 99),
    missing=st.floats(0, 1),
    size=st.sampled_from((0.0, 1e-12, 0.3, 9.0)),
    ahead=st.integers(1, 14),
)
def test_quantiles_are_finite_and_in_order_whatever_is_missing(
    shape: tuple[int, int], seed: int, missing: float, size: float, ahead: int
) -> None:
    rng = np.random.default_rng(seed)
    found = quantiles(np.where(rng.random(shape) < missing, np.nan, rng.standard_t(2, shape) * size), ahead=ahead)
    assert np.isfinite(found).all()
    assert (np.diff(found, axis=1) >= -1e-9).all()

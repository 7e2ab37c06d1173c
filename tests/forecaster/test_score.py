"""Metrics: small sums done by hand, and what is not measured counts for nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.score import BIAS, COVERAGE, OVERSHOOT, PINBALL, WAPE, Metric

ACTUAL = np.array([100.0, 50.0, np.nan, 10.0])
FORECAST = np.array([90.0, 60.0, 1e9, 10.0])


def test_pinball_weighs_a_shortfall_with_the_level_and_an_excess_with_the_rest() -> None:
    assert PINBALL(ACTUAL, FORECAST, 0.9) == pytest.approx((0.9 * 10 + 0.1 * 10 + 0) / 3)


def test_pinball_of_the_median_is_half_the_absolute_error() -> None:
    assert PINBALL(ACTUAL, FORECAST, 0.5) == pytest.approx(20 / 2 / 3)


def test_wape_is_the_absolute_error_over_the_load() -> None:
    assert WAPE(ACTUAL, FORECAST) == pytest.approx(20 / 160)


def test_an_actual_that_equals_the_quantile_is_covered() -> None:
    assert COVERAGE(ACTUAL, FORECAST) == pytest.approx(2 / 3)


def test_a_last_digit_is_no_load_above_the_quantile() -> None:
    assert COVERAGE(np.array([100.0]), np.array([100.0 - 1e-5])) == 1
    assert COVERAGE(np.array([100.0]), np.array([99.9])) == 0


def test_bias_has_a_sign_and_overshoot_forgives_what_was_too_low() -> None:
    low = np.array([80.0, 50.0, 0.0, 10.0])
    assert BIAS(ACTUAL, low) == pytest.approx(-20 / 160)
    assert OVERSHOOT(ACTUAL, low) == 0
    assert OVERSHOOT(ACTUAL, FORECAST) == pytest.approx(10 / 160)


@pytest.mark.parametrize("metric", [PINBALL, WAPE, COVERAGE, BIAS, OVERSHOOT])
def test_nothing_measured_is_unknown_not_perfect(metric: Metric) -> None:
    assert metric(np.full(3, np.nan), np.ones(3)) is None


@pytest.mark.parametrize("metric", [WAPE, BIAS, OVERSHOOT])
def test_k14_a_ratio_to_no_load_at_all_is_unknown(metric: Metric) -> None:
    assert metric(np.zeros(3), np.ones(3)) is None


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        PINBALL(np.ones(2), np.ones(3), 0.5)


loads = st.lists(st.floats(0, 1e6), min_size=1, max_size=30)


@given(actual=loads, level=st.floats(0.01, 0.99))
def test_no_constant_forecast_beats_the_empirical_quantile(actual: list[float], level: float) -> None:
    values = np.array(actual)
    best = PINBALL(values, np.full(values.size, np.quantile(values, level, method="inverted_cdf")), level)
    assert best is not None
    for other in (0.0, float(values.mean()), float(values.max())):
        loss = PINBALL(values, np.full(values.size, other), level)
        assert loss is not None
        assert best <= loss * (1 + 1e-9) + 1e-6

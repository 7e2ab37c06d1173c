"""What was said against what came, by hand."""

import numpy as np
import pytest

from forecaster.forecast import SCORED_LEVELS
from forecaster.models.scoring import covered, drift, member_losses, naive_quantiles, pinball
from forecaster.series import Floats

NAN = np.nan
NO_OFFSET = np.array([1e-9])


def flat(*days: float, slots: int = 24) -> Floats:
    """Loads of one series, the newest day first, the same at every slot."""
    return np.repeat(np.array([days])[..., None], slots, axis=2)


def test_pinball_is_the_mean_over_levels_and_measured_slots() -> None:
    """Median 10 and P90 20 against 14, then not measured: (0.5 x 4 + 0.1 x 6) / 2."""
    quantiles = np.array([[[10.0, 10.0], [20.0, 20.0]]])
    assert pinball(quantiles, np.array([[14.0, NAN]]), np.array([0.5, 0.9]))[0] == pytest.approx((2.0 + 0.6) / 2)


def test_load_above_a_level_costs_the_level_and_below_it_the_rest() -> None:
    quantile = np.full((1, 1, 1), 10.0)
    assert pinball(quantile, np.array([[11.0]]), np.array([0.9]))[0] == pytest.approx(0.9)
    assert pinball(quantile, np.array([[9.0]]), np.array([0.9]))[0] == pytest.approx(0.1)


def test_where_nothing_was_measured_nothing_is_scored() -> None:
    nothing = np.full((1, 3), NAN)
    quantiles = np.ones((1, 2, 3))
    assert np.isnan(pinball(quantiles, nothing, np.array([0.5, 0.9]))).all()
    assert np.isnan(covered(quantiles, nothing)).all()
    assert np.isnan(drift(np.ones((1, 3)), nothing, NO_OFFSET)).all()
    assert np.isnan(member_losses(np.ones((1, 1, 2, 3)), nothing[:, None])).all()


def test_coverage_is_the_share_of_measured_slots_at_or_below() -> None:
    quantiles = np.array([[[10.0] * 4, [20.0] * 4]])
    assert covered(quantiles, np.array([[5.0, 10.0, 15.0, NAN]])).tolist() == [[2 / 3, 1]]


def test_a_constant_load_is_at_its_quantiles_whatever_the_last_digit_says() -> None:
    assert covered(np.full((1, 1, 4), np.nextafter(np.float32(100), np.float32(0))), np.full((1, 4), 100.0)).tolist() == [[1.0]]
    assert covered(np.full((1, 1, 4), 99.9), np.full((1, 4), 100.0)).tolist() == [[0.0]]


def test_drift_is_the_mean_log_error_and_has_its_sign() -> None:
    assert drift(np.full((1, 2), 10.0), np.array([[20.0, 10.0]]), NO_OFFSET)[0] == pytest.approx(np.log(2) / 2)
    assert drift(np.full((1, 1), 10.0), np.array([[5.0]]), NO_OFFSET)[0] == pytest.approx(-np.log(2))


def test_the_offset_keeps_a_night_without_load_from_being_infinitely_wrong() -> None:
    assert drift(np.zeros((1, 1)), np.array([[0.0]]), np.array([1.0]))[0] == 0
    assert drift(np.array([[9.0]]), np.array([[0.0]]), np.array([1.0]))[0] == pytest.approx(-np.log(10))


def test_members_are_compared_by_half_hours() -> None:
    """Of four slots in two parts: 10 and 20 came, the member said 12 and 20."""
    actual = np.array([[[8.0, 12.0, 20.0, 20.0]]])
    assert member_losses(np.array([[[[12.0, 20.0]]]]), actual)[0, 0, 0] == pytest.approx(1)


def test_a_part_of_which_less_than_half_was_measured_is_not_compared() -> None:
    actual = np.array([[[10.0, NAN, NAN, NAN, 20.0, 20.0]]])
    assert member_losses(np.array([[[[99.0, 19.0]]]]), actual)[0, 0, 0] == pytest.approx(1)


def test_a_member_that_was_not_drawn_has_no_loss() -> None:
    losses = member_losses(np.array([[[[NAN], [11.0]]]]), np.array([[[10.0]]]))
    assert np.isnan(losses[0, 0, 0])
    assert losses[0, 0, 1] == pytest.approx(1)


# what anybody has for nothing


def test_the_naive_median_is_the_load_of_the_day_before() -> None:
    found = naive_quantiles(flat(99, 20, 20, 20), 0, NO_OFFSET)
    assert found.shape == (1, len(SCORED_LEVELS), 24)
    np.testing.assert_allclose(found[0], 20)


def test_it_is_that_of_the_week_before_where_weeks_repeat_better() -> None:
    week = [10.0, 20, 30, 40, 50, 60, 70]
    found = naive_quantiles(flat(*(week * 3)), 0, NO_OFFSET)
    np.testing.assert_allclose(found[0, 0], 10, rtol=1e-6)


def test_its_levels_are_those_of_the_errors_before_and_never_lower_than_its_median() -> None:
    """Every day doubled, so an error of a factor of two is all that it knows."""
    growing = naive_quantiles(flat(160, 80, 40, 20, 10), 0, NO_OFFSET)[0, :, 0]
    np.testing.assert_allclose(growing, [80, 160, 160, 160])
    falling = naive_quantiles(flat(10, 20, 40, 80), 0, NO_OFFSET)[0, :, 0]
    np.testing.assert_allclose(falling, 20)


def test_it_knows_nothing_of_the_day_itself_or_later() -> None:
    days = np.random.default_rng(1).lognormal(3, 1, (1, 20, 24))
    changed = days.copy()
    changed[:, :3] *= 50
    np.testing.assert_array_equal(naive_quantiles(changed, 2, NO_OFFSET), naive_quantiles(days, 2, NO_OFFSET))


def test_without_a_day_before_it_says_nothing() -> None:
    assert np.isnan(naive_quantiles(flat(10, NAN, 10), 0, NO_OFFSET)).all()
    assert np.isnan(naive_quantiles(flat(10), 0, NO_OFFSET)).all()

"""Who says how much."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.models.weights import weights
from forecaster.series import Floats

SCORED_DAYS = 14


def shares(losses: Floats | list[list[float]], *, opinion: list[bool] | None = None, priors: list[float] | None = None) -> list[float]:
    """Of one series, from losses (days, members)."""
    table = np.array(losses, dtype=np.float64)
    members = table.shape[1]
    found = weights(table[None], np.array([opinion or [True] * members]), np.array(priors or [1.0] * members))
    assert found.shape == (1, members)
    share: list[float] = found[0].tolist()
    return share


def always(*losses: float) -> Floats:
    """Members that lost the same every day."""
    return np.tile(losses, (SCORED_DAYS, 1))


def test_before_any_score_everybody_has_his_prior() -> None:
    np.testing.assert_allclose(shares(np.full((3, 3), np.nan), priors=[1, 2, 5]), [1 / 8, 2 / 8, 5 / 8])


def test_who_was_better_says_more() -> None:
    best, middle, worst = shares(always(1.0, 1.2, 1.4))
    assert best > 3 * middle > 9 * worst > 0


def test_a_member_without_a_score_says_as_much_as_an_average_one() -> None:
    losses = always(0.9, np.nan, 1.1)
    good, unscored, bad = shares(losses)
    assert good > unscored > bad
    assert shares(losses, priors=[1, 0.1, 1])[1] < unscored


def test_who_has_no_opinion_says_nothing() -> None:
    assert shares(always(1.0, 1.0), opinion=[True, False]) == [1, 0]


def test_where_nobody_has_an_opinion_nobody_says_anything() -> None:
    assert shares(always(1.0, 1.0), opinion=[False, False]) == [0, 0]


def test_recent_days_count_more_than_old_ones() -> None:
    turned = np.array([[1.0, 1.3]] * 5 + [[1.3, 1.0]] * 9)
    assert shares(turned)[0] > 0.6


def test_what_lies_two_weeks_back_is_forgotten() -> None:
    old = np.concatenate((np.full((SCORED_DAYS, 2), np.nan), always(1.0, 9.0)))
    np.testing.assert_allclose(shares(old), [0.5, 0.5])


def test_a_day_on_which_all_fail_alike_moves_nothing() -> None:
    calm = always(1.0, 1.1)
    outage = calm.copy()
    outage[0] = [5_000, 5_500]
    np.testing.assert_allclose(shares(outage), shares(calm))


def test_a_day_on_which_one_member_alone_was_drawn_says_nothing() -> None:
    alone = np.full((2, 2), np.nan)
    alone[:, 0] = 9.0
    np.testing.assert_allclose(shares(alone), [0.5, 0.5])


def test_a_perfect_day_divides_nothing_by_zero() -> None:
    assert shares([[0.0, 0.0]]) == [0.5, 0.5]
    assert shares([[0.0, 1.0]] * 5) == pytest.approx([1, 0], abs=1e-6)


def test_one_lucky_day_hands_nobody_everything() -> None:
    """Half as much loss on a single day: more than its prior, and not all."""
    lucky, other = shares([[0.5, 1.0]])
    assert 0.5 < lucky < 0.999
    assert other > 0


def test_the_unit_of_a_load_moves_no_weight() -> None:
    losses = always(1.0, 1.2, 1.4)
    np.testing.assert_allclose(shares(losses * 8_000), shares(losses))


@given(
    st.lists(st.lists(st.one_of(st.just(np.nan), st.floats(0, 1e9)), min_size=3, max_size=3), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_shares_lie_between_nothing_and_all_and_add_up_to_one_where_somebody_has_an_opinion(
    losses: list[list[float]], opinion: list[bool]
) -> None:
    found = shares(losses, opinion=opinion, priors=[0.3, 4.0, 1.5])
    assert all(0 <= share <= 1 for share in found)
    assert all(share == 0 for share, speaks in zip(found, opinion, strict=True) if not speaks)
    np.testing.assert_allclose(sum(found), float(any(opinion)))

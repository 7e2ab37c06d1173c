"""Rules of how the score of a costly member, drawn on few days, is told."""

import numpy as np
import pytest

from forecaster.models.sampling import loss_ratio


def test_a_sampled_score_is_the_loss_over_the_naive_one_of_the_same_days() -> None:
    assert loss_ratio(np.array([np.nan, 3.0, 1.0]), np.array([9.0, 4.0, 4.0])) == 0.5


@pytest.mark.parametrize(("losses", "naive"), [([np.nan, 1.0], [1.0, np.nan]), ([0.0], [0.0]), ([], [])])
def test_a_member_without_a_common_day_is_not_scored(losses: list[float], naive: list[float]) -> None:
    assert loss_ratio(np.array(losses), np.array(naive)) is None

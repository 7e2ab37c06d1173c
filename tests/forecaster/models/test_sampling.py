"""Rules of which costly member is drawn when, and of how its score is told."""

import numpy as np
import pytest

from forecaster.models.sampling import COSTLY, is_sampled, loss_ratio
from tests.contracts.members import ALL

NAMES = tuple(f"team-{i}/chat" for i in range(700))


@pytest.mark.parametrize("member", sorted(COSTLY))
def test_a_costly_member_is_drawn_on_one_day_of_every_week(member: str) -> None:
    for name in NAMES[:50]:
        days = [day for day in range(738_000, 738_028) if is_sampled(name, member, day)]
        assert len(days) == 4
        assert set(np.diff(days)) == {7}


@pytest.mark.parametrize("member", sorted(COSTLY))
def test_a_fleet_spreads_a_costly_member_over_the_week(member: str) -> None:
    a_day = [sum(is_sampled(name, member, day) for name in NAMES) for day in range(7)]
    assert sum(a_day) == len(NAMES)
    assert min(a_day) > 60
    assert max(a_day) < 140


def test_any_other_member_is_drawn_on_all_days() -> None:
    assert all(is_sampled("chat", "naive_week", day) for day in range(14))


def test_costly_members_are_members() -> None:
    assert set(ALL) >= COSTLY


def test_a_sampled_score_is_the_loss_over_the_naive_one_of_the_same_days() -> None:
    assert loss_ratio(np.array([np.nan, 3.0, 1.0]), np.array([9.0, 4.0, 4.0])) == 0.5


@pytest.mark.parametrize(("losses", "naive"), [([np.nan, 1.0], [1.0, np.nan]), ([0.0], [0.0]), ([], [])])
def test_a_member_without_a_common_day_is_not_scored(losses: list[float], naive: list[float]) -> None:
    assert loss_ratio(np.array(losses), np.array(naive)) is None

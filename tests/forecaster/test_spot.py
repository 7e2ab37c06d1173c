"""Replicas that may be taken away: what is away on average is asked for on top."""

from dataclasses import replace

import pytest

from forecaster.reasons import Code
from forecaster.spot import away, present
from tests.values import pool_of


def test_a_pool_that_nobody_takes_from_is_as_it_was() -> None:
    pool = pool_of()
    assert present(pool) is pool
    assert away(pool) is None


def test_what_is_preempted_while_another_gets_ready_is_away() -> None:
    pool = replace(pool_of(rpm=10, concurrency=4, lead_s=1_200), preempted_per_hour=0.3)
    found = away(pool)
    assert found is not None
    assert found.ratio == pytest.approx(0.1)
    assert present(pool).capacity.rpm == pytest.approx(9)
    assert present(pool).capacity.concurrency == pytest.approx(3.6)
    assert present(pool).capacity.tokens is None
    assert found.reason.code is Code.SPOT_LOSSES
    assert found.reason.detail == (
        "preempted 0.3 times an hour, and 20 min until another is ready: 0.1 of each replica is away on average, and asked for on top"
    )


def test_a_pool_that_is_hardly_ever_there_does_not_ask_for_the_whole_cloud() -> None:
    found = away(replace(pool_of(lead_s=3_600), preempted_per_hour=50))
    assert found is not None
    assert found.ratio == 0.9


def test_a_rate_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pool\.preempted_per_hour must be at least 0"):
        replace(pool_of(), preempted_per_hour=-1)

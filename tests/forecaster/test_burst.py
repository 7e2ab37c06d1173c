"""Bursts inside of a bucket: learned from minutes where they are known, counted by requests, neutral unless asked for."""

from dataclasses import replace

import numpy as np
import pytest

from forecaster.burst import BURST_LEVELS, Burst, learn_burst, with_burst_headroom
from forecaster.demand import carry_of
from forecaster.series import Series, Signal
from forecaster.workload import Policy
from tests.traces import MONDAY, packaged_trace
from tests.values import pool_of

DAYS = 4
PER_DAY = 288


def series_of(mean: np.ndarray, peak: np.ndarray) -> Series:
    return Series(signal=Signal.RPM, start=MONDAY, step_s=300, mean=mean, peak=peak)


def poisson(rpm: float, days: int = DAYS) -> Series:
    minutes = np.random.default_rng(5).poisson(rpm, (days * PER_DAY, 5)).astype(np.float64)
    return series_of(minutes.mean(axis=1), minutes.max(axis=1))


def ratios(history: Series) -> tuple[float, ...]:
    found = learn_burst(history)
    assert found is not None
    return found.ratios


def test_the_fewer_requests_a_minute_the_larger_its_bursts() -> None:
    many, few = ratios(poisson(5_000)), ratios(poisson(20))
    assert many[-1] < 1.1
    assert few[0] > 1.2
    assert all(a < b for a, b in zip(many, few, strict=True))


def test_a_bucket_counts_by_its_requests() -> None:
    """A busy half of the day at 1.1 and an idle one at 4: nearly all requests see 1.1."""
    mean = np.tile(np.repeat([1_000.0, 1.0], PER_DAY // 2), DAYS)
    peak = mean * np.tile(np.repeat([1.1, 4.0], PER_DAY // 2), DAYS)
    assert ratios(series_of(mean, peak)) == pytest.approx((1.1,) * len(BURST_LEVELS))


def test_unmeasured_and_empty_buckets_say_nothing() -> None:
    history = poisson(50)
    mean, peak = history.mean.copy(), history.peak.copy()
    mean[10:200], peak[10:200] = np.nan, np.nan
    mean[300:400], peak[300:400] = 0.0, 0.0
    assert all(np.isfinite(ratios(series_of(mean, peak))))


@pytest.mark.parametrize("days", [0, 1])
def test_less_than_two_days_teach_nothing(days: int) -> None:
    assert learn_burst(poisson(50, days)) is None


def test_where_minutes_are_not_resolved_or_nothing_came_there_is_nothing_to_learn() -> None:
    mean = np.full(DAYS * PER_DAY, 50.0)
    assert learn_burst(series_of(mean, mean)) is None
    assert learn_burst(series_of(0 * mean, 0 * mean)) is None


def test_headroom_is_neutral_without_a_burst_and_a_factor_on_the_policys_own_with_one() -> None:
    burst = Burst(levels=(0.5, 0.9), ratios=(1.1, 1.5), days=7)
    policy = Policy(headroom_ratio=1.2)
    assert with_burst_headroom(policy, None) is policy
    assert with_burst_headroom(policy, burst, 0.7).headroom_ratio == pytest.approx(1.2 * 1.3)
    pool = pool_of()
    bare, more = (carry_of(pool.capacity, Signal.RPM, each) for each in (policy, with_burst_headroom(policy, burst, 0.9)))
    assert bare / more == pytest.approx(1.5)


def test_headroom_moves_the_floor_of_a_pool_that_is_large_enough_for_a_whole_replica() -> None:
    burst = Burst(levels=(0.5,), ratios=(1.1,), days=7)
    assert [burst.moves_a_floor(replicas, 0.5) for replicas in (5.0, 10.0, 40.0)] == [False, True, True]


def test_real_traffic_of_thousands_bursts_by_a_tenth() -> None:
    trace = packaged_trace()
    counts = np.nan_to_num(trace.counts)[: trace.counts.size // 5 * 5].reshape(-1, 5)
    assert 1.02 < ratios(series_of(counts.mean(axis=1), counts.max(axis=1)))[2] < 1.2


def test_a_burst_checks_itself() -> None:
    with pytest.raises(ValueError, match=r"burst\.ratios must be at least 1 and not fall"):
        Burst(levels=(0.5, 0.9), ratios=(1.5, 1.1), days=7)
    with pytest.raises(ValueError, match="levels that increase"):
        replace(Burst(levels=(0.5,), ratios=(1.5,), days=7), levels=(0.9, 0.5), ratios=(1.0, 1.0))

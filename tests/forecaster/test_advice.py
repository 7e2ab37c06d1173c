"""What to do with a workload: shares of its variance that add up, and the rule, line by line."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.advice import Figures, Variance, Verdict, advice, busiest, followed, outrun, variance
from forecaster.series import Floats

DAYS, BUCKETS = 7, 288
HOURS = np.tile(np.arange(BUCKETS) / 12, DAYS)
DAILY = 500 + 400 * np.sin(HOURS / 24 * 2 * np.pi)
PREDICTABLE = Variance(predictable_ratio=0.9, followed_ratio=0.05, bursty_ratio=0.05, days=14)
BURSTY = Variance(predictable_ratio=0.2, followed_ratio=0.1, bursty_ratio=0.7, days=14)
PLAIN = Figures(variance=PREDICTABLE, lead_min=10, outrun_ratio=0.02, late_ratio=0.01, busiest_ratio=0.8, followed_ratio=0.9)


def shares(load: Floats, median: Floats, peak: Floats | None = None, *, lead_steps: int = 2) -> Variance:
    found = variance(load, load if peak is None else peak, median, lead_steps=lead_steps, step_min=5)
    assert found is not None
    return found


def test_a_load_that_comes_as_forecast_is_predictable() -> None:
    assert shares(DAILY, DAILY).predictable_ratio == pytest.approx(1)


def test_a_load_that_nobody_foresees_and_that_jumps_is_bursty() -> None:
    noise = np.random.default_rng(1).exponential(300, DAILY.size)
    found = shares(noise, np.full(DAILY.size, noise.mean()))
    assert found.predictable_ratio == pytest.approx(0, abs=0.01)
    assert found.bursty_ratio > 0.95


def test_a_drift_that_lasts_longer_than_the_lead_time_is_followed() -> None:
    drift = 200 * np.sin(np.arange(DAILY.size) / 400)
    found = shares(DAILY + drift + 400, DAILY + 400)
    assert found.bursty_ratio < 0.01
    assert found.followed_ratio == pytest.approx(1 - found.predictable_ratio, abs=0.01)
    assert 0.5 < found.predictable_ratio < 0.95


def test_a_longer_lead_time_leaves_less_to_follow() -> None:
    wandering = np.cumsum(np.random.default_rng(2).normal(0, 5, DAILY.size))
    quick, slow = (shares(DAILY + wandering + 2_000, DAILY + 2_000, lead_steps=steps) for steps in (1, 24))
    assert slow.predictable_ratio == quick.predictable_ratio
    assert slow.bursty_ratio > quick.bursty_ratio


def test_what_varies_inside_of_a_bucket_is_bursty_too() -> None:
    calm, rough = shares(DAILY, DAILY), shares(DAILY, DAILY, DAILY * 3)
    assert calm.bursty_ratio == pytest.approx(0)
    assert rough.bursty_ratio > 0.5
    assert rough.predictable_ratio < calm.predictable_ratio


def test_a_load_without_variance_is_predictable() -> None:
    assert shares(np.full(DAILY.size, 7.0), np.full(DAILY.size, 5.0)) == Variance(
        predictable_ratio=1, followed_ratio=0, bursty_ratio=0, days=DAYS
    )
    assert shares(np.zeros(DAILY.size), np.zeros(DAILY.size)).predictable_ratio == 1


def test_fewer_than_three_days_of_forecast_and_load_say_nothing() -> None:
    median = np.where(np.arange(DAILY.size) < 3 * BUCKETS, DAILY, np.nan)
    assert variance(DAILY, DAILY, median, lead_steps=2, step_min=5) is not None
    median[0] = np.nan
    assert variance(DAILY, DAILY, median, lead_steps=2, step_min=5) is None
    assert variance(np.full(DAILY.size, np.nan), DAILY, DAILY, lead_steps=2, step_min=5) is None


hours = arrays(np.float64, 72, elements=st.floats(0, 1e6))
gaps = arrays(np.float64, 72, elements=st.floats(0, 1e6) | st.just(np.nan))


@given(
    load=hours,
    median=hours,
    lead=st.integers(1, 80),
)
def test_the_shares_lie_between_0_and_1_and_add_up_to_1(load: Floats, median: Floats, lead: int) -> None:
    found = variance(load, load * 2, median, lead_steps=lead, step_min=60)
    assert found is not None
    parts = (found.predictable_ratio, found.followed_ratio, found.bursty_ratio)
    assert all(-1e-9 <= part <= 1 + 1e-9 for part in parts)
    assert sum(parts) == pytest.approx(1)


@given(load=gaps, lead=st.integers(1, 80))
def test_a_hotter_autoscaler_is_outrun_at_least_as_often(load: Floats, lead: int) -> None:
    cool, hot = (outrun(load, 100.0, target, lead) for target in (0.5, 0.9))
    assert 0 <= cool <= hot <= 1


def test_a_ramp_that_is_slower_than_the_headroom_outruns_nobody() -> None:
    assert outrun(DAILY, 100.0, 0.7, 2) == 0
    assert outrun(np.where(HOURS % 24 < 8, 100.0, 1_000.0), 100.0, 0.7, 2) == pytest.approx(2 * DAYS / (DAILY.size - 2))


def test_replicas_are_as_busy_as_at_95_percent_of_the_buckets_in_which_both_are_known() -> None:
    filled, ready = np.array([1.0, 8.0, np.nan, 4.0]), np.array([10.0, 10.0, 10.0, np.nan])
    assert busiest(filled, ready) == pytest.approx(0.1 + 0.95 * 0.7)
    assert busiest(filled, np.full(4, np.nan)) is None
    assert busiest(filled, np.zeros(4)) is None


def test_a_fleet_that_follows_exactly_has_whole_replicas_in_each_pool_and_at_least_one() -> None:
    assert followed((np.array([0.1, 1.5]), np.array([0.5, 3.0]))) == pytest.approx(5.1 / 7)
    assert followed((np.array([np.nan]),)) is None


def test_a_predictable_load_whose_lead_time_binds_is_pre_scaled() -> None:
    found = advice(PLAIN)
    assert found.verdict is Verdict.PRE_SCALE
    assert found.because == (
        "90% of the load's variance is predictable and a lead time of 10 min binds: "
        "the autoscaler alone would serve 1.00% of the requests late"
    )


def test_bursts_within_the_lead_time_are_queued() -> None:
    found = advice(replace(PLAIN, variance=BURSTY))
    assert found.verdict is Verdict.QUEUE
    assert "20% of the load's variance is predictable and 70% comes within a lead time of 10 min" in found.because


def test_where_the_autoscaler_alone_is_in_time_floors_need_something_to_save() -> None:
    in_time = replace(PLAIN, late_ratio=0.001)
    unknown, little, much = (advice(replace(in_time, point_saved_ratio=saved)) for saved in (None, 0.02, 0.03))
    assert [found.verdict for found in (unknown, little, much)] == [Verdict.QUEUE, Verdict.QUEUE, Verdict.PRE_SCALE]
    assert "0.10% of the requests late, which is in time without floors; whether floors under a hotter" in unknown.because
    assert little.because.endswith("and the recommended operating point saves 2.0% of the replica-hours")
    assert "save 3% of the replica-hours" in much.because
    assert advice(replace(in_time, point_saved_ratio=0.3, variance=BURSTY)).verdict is Verdict.QUEUE


def test_where_late_requests_cannot_be_counted_the_time_in_which_load_outgrows_the_autoscaler_decides() -> None:
    unknown = replace(PLAIN, late_ratio=None)
    assert advice(unknown).verdict is Verdict.PRE_SCALE
    assert advice(replace(unknown, outrun_ratio=0.0)).verdict is Verdict.QUEUE


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        (replace(PLAIN, lost_ratio=0.2), "20% of a task's cost goes into retries"),
        (replace(PLAIN, busiest_ratio=0.49), "the ready replicas are filled to 49%"),
        (replace(PLAIN, followed_ratio=0.25), "a call costs 4.0 times what the profile allows"),
        (replace(PLAIN, followed_ratio=0.0), "would be filled to 0%: use smaller replicas"),
    ],
)
def test_what_no_scaling_mends_comes_first(figures: Figures, said: str) -> None:
    judged = advice(figures)
    assert judged.verdict is Verdict.OPTIMISE
    assert said in judged.because


def test_what_is_not_known_speaks_for_nothing() -> None:
    unknown = replace(PLAIN, busiest_ratio=None, filled_ratio=None, followed_ratio=None, lost_ratio=None)
    assert advice(unknown).verdict is Verdict.PRE_SCALE
    assert unknown.idle_ratio is None
    assert replace(PLAIN, filled_ratio=0.4).idle_ratio == pytest.approx(0.6)

"""What a replica carries, from production: a knee where production shows one, else one sentence that says what was seen."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.learned import Learned, Observed, fresh, learned, rising
from forecaster.profile import Origin, Setup, Slo
from forecaster.profile_carried import Carried, Confidence, confidence
from forecaster.series import Floats
from tests.production import CARRIES_RPM, SLO, STEP_S, loads, p95_s, seen

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def learn(of: Observed, slo: Slo = SLO) -> Learned:
    return learned(of, slo, source="production", setup=Setup(), at=NOW)


def sentence(of: Observed, slo: Slo = SLO) -> str:
    found = learn(of, slo).found
    assert isinstance(found, str), found
    return found


def started(ready: list[float], started_s: list[float] | None = None, warm_up_s: float = 600.0) -> list[bool]:
    flags = fresh(np.array(ready), np.array(started_s or []), np.arange(len(ready)) * STEP_S, STEP_S, warm_up_s)
    return [bool(flag) for flag in flags]


def test_the_knee_lies_within_five_percent_below_what_a_replica_carries() -> None:
    rpm = learn(seen(loads(48))).rpm
    assert rpm is not None
    assert 0.95 * CARRIES_RPM <= rpm <= CARRIES_RPM


def test_noise_of_buckets_moves_the_knee_by_less_than_a_tenth() -> None:
    load = loads(14 * 24)
    noise = np.random.default_rng(3).lognormal(0, 0.3, load.size)
    rpm = learn(seen(load, {"e2e": p95_s(load) * noise})).rpm
    assert rpm == pytest.approx(CARRIES_RPM, rel=0.1)


def test_outages_that_take_a_tenth_of_the_buckets_move_nothing() -> None:
    load = loads(14 * 24)
    broken = p95_s(load)
    broken[np.random.default_rng(4).random(load.size) < 0.1] = 500.0
    assert learn(seen(load, {"e2e": broken})).rpm == pytest.approx(learn(seen(load)).rpm)


def test_it_is_a_profile_of_production_with_in_flight_and_lengths_of_the_knee() -> None:
    load = loads(48)
    whole = np.ones(load.size)
    found = learn(seen(load, in_flight=10 * load / 60 * 3, input_tokens=500 * whole, output_tokens=200 * whole))
    assert found.profile is not None
    assert isinstance(found.found, Carried)
    assert found.profile.origin is Origin.PRODUCTION
    assert found.profile.measured_at == NOW
    assert found.found.capacity.concurrency == pytest.approx(found.found.knee.load_rpm / 60 * 3, rel=0.01)
    assert found.found.capacity.tokens == pytest.approx(found.found.knee.load_rpm / 60 * 200)
    assert found.found.knee.input_tokens == pytest.approx(500)


@pytest.mark.parametrize("counted", [True, False])
def test_it_is_believed_to_medium_at_most(counted: bool) -> None:
    load = loads(48)
    found = learn(seen(load, refused_rpm=np.zeros(load.size)) if counted else seen(load))
    assert found.profile is not None
    assert isinstance(found.found, Carried)
    level, doubts = confidence(found.profile, found.found, (), NOW + timedelta(days=1))
    assert level is Confidence.MEDIUM
    assert ("nobody tells how many requests were refused" in doubts) is not counted


def test_requests_that_are_refused_instead_of_waiting_mark_the_knee_too() -> None:
    load = loads(48)
    refused = np.where(load > 400, 0.1, 0.0) * 10 * load
    rpm = learn(seen(load, {"e2e": np.full(load.size, 3.0)}, refused_rpm=refused)).rpm
    assert rpm == pytest.approx(400, rel=0.05)


def test_where_the_slo_limits_two_the_one_that_breaks_first_counts() -> None:
    load = loads(48)
    found = learn(seen(load, {"e2e": p95_s(load), "ttft": load / 300}), Slo(e2e_p95_s=10.0, ttft_p95_s=1.0))
    assert found.rpm == pytest.approx(300, rel=0.05)


def test_too_few_buckets_are_told_with_why_the_others_do_not_count() -> None:
    load = loads(20)
    flags = np.arange(load.size) < 110
    unknown = np.where(np.arange(load.size) >= 150, np.nan, p95_s(load))
    said = sentence(seen(load, {"e2e": unknown}, fresh=flags))
    assert said.startswith("too few buckets: 40, which are 3.3 h, and 12 h are needed (of 240 left out: 90 where load")
    assert "110 with fresh replicas" in said


def test_hours_that_are_marked_as_lies_do_not_count() -> None:
    load = loads(48)
    lies = np.arange(load.size) >= 100
    assert f"{load.size - 100} marked" in sentence(seen(load, left_out=lies))


def test_a_load_that_the_autoscaler_keeps_constant_shows_nothing() -> None:
    said = sentence(seen(loads(48, low=280, high=320)))
    assert said.startswith("load a replica hardly varies (28")
    assert "inside P95 E2E 10 s): the autoscaler keeps it constant" in said


def test_an_slo_that_never_broke_proves_only_at_least() -> None:
    said = sentence(seen(loads(48, high=500)))
    assert said.startswith("P95 never broke P95 E2E 10 s: at least 49")


def test_a_fleet_that_was_only_seen_saturated_shows_nothing() -> None:
    assert sentence(seen(loads(48, low=620))).startswith("only a saturated fleet was seen: P95 is outside P95 E2E 10 s from 62")


def test_a_p95_that_does_not_follow_load_has_another_cause() -> None:
    load = loads(48)
    slow = np.where(load < 400, 15.0, 5.0)  # a batch job at night
    assert "P95 does not rise with load a replica (rank correlation" in sentence(seen(load, {"e2e": slow}))


def test_a_p95_that_breaks_at_any_load_has_another_cause() -> None:
    load = loads(48)
    slow = np.where(np.arange(load.size) % 7 < 3, 15.0, 5.0)
    assert sentence(seen(load, {"e2e": slow})).startswith("P95 is outside P95 E2E 10 s in 43% of the buckets at any load (10")


def test_a_latency_that_nobody_asks_for_is_named() -> None:
    assert sentence(seen(loads(48)), Slo(tpot_p95_s=0.05)).startswith("P95 of TPOT is not asked for")


def test_milliseconds_for_seconds_are_refused() -> None:
    load = loads(48)
    said = sentence(seen(load, {"e2e": 1_000_000 * p95_s(load)}), Slo(e2e_p95_s=1e7))
    assert "is not plausible" in said


def test_nobody_looking_is_not_a_start_and_a_rise_meanwhile_is() -> None:
    unknown = np.nan
    assert started([10, unknown, unknown, 10, 10]) == [False] * 5
    assert started([10, unknown, unknown, 12, 12, 12, 12]) == [False, False, True, True, True, False, False]


def test_replicas_are_fresh_for_their_warm_up_after_their_number_rose() -> None:
    assert started([4, 4, 5, 5, 5, 5]) == [False, True, True, True, False, False]


def test_a_number_that_falls_within_a_bucket_leaves_that_bucket_out_alone() -> None:
    assert started([5, 5, 4, 4]) == [False, True, False, False]


def test_a_start_that_was_seen_is_fresh_though_the_number_is_the_same() -> None:
    assert started([4, 4, 4, 4, 4], [310.0]) == [False, True, True, True, False]


def test_one_fresh_replica_of_a_hundred_moves_no_p95() -> None:
    assert started([100, 101, 101, 101]) == [False] * 4
    assert any(started([100, 105, 105, 105]))


def test_values_that_fall_are_pooled_by_weight() -> None:
    values: Floats = rising(np.array([1.0, 3.0, 2.0, 4.0]), np.array([1.0, 1.0, 3.0, 1.0]))
    assert values.tolist() == [1.0, 2.25, 2.25, 4.0]

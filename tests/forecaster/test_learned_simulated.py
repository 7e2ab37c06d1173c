"""What is learned from production, held against what a simulated replica carries: docs/scenarios.md says who reported what."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from forecaster.drift import Judged, Measured, drift
from forecaster.learned import Observed, fresh, learned
from forecaster.profile import Origin, Point, Profile, ProfileEntry, Setup, Slo, Spread
from forecaster.profile_carried import Carried, carried
from forecaster.series import Floats
from forecaster.simulate.requests.arrivals import drawn
from forecaster.simulate.requests.replica import Service
from forecaster.simulate.requests.run import simulate
from tests.forecaster.simulate.requests.scenes import START, fixed, minute_load
from tests.production import STEP_S, seen

SERVICE = Service(replica_rpm=20.0)
SLO = Slo(e2e_p95_s=9.0)
PULSE_MIN, BUSY_MIN, COLD_MIN = 80, 40, 25
PULSES = 30


def latencies(rpm: Floats, replicas: list[int], seed: int) -> tuple[Floats, Floats]:
    """Arrivals, and seconds from there to the last token."""
    requests = drawn(minute_load(rpm), np.random.default_rng(seed))
    done = simulate(requests, service=SERVICE, scaling=fixed(replicas, minutes=len(replicas)))
    waits = np.where(np.isnan(done.began_s), requests.minutes * 60 - requests.at_s, done.began_s - requests.at_s)
    return requests.at_s, waits + SERVICE.full_s


def steady_p95_s(rpm: float) -> float:
    """What a load test of five replicas shows at that load each."""
    return float(np.quantile(latencies(np.full(500, 5 * rpm), [5] * 500, seed=2)[1], 0.95))


@cache
def production() -> tuple[Observed, Observed]:
    """Forty hours in which a fifth replica comes up cold before each busy spell, without and with what that does to latencies.

    A cold replica takes 15 s more over its share of the requests for 25 minutes.
    """
    rng = np.random.default_rng(7)
    spells = [
        (rng.uniform(10, 15, PULSE_MIN - BUSY_MIN), np.full(BUSY_MIN, busy)) for busy in rng.permutation(np.linspace(14, 20.5, PULSES))
    ]
    replicas = ([4] * (PULSE_MIN - BUSY_MIN) + [5] * BUSY_MIN) * PULSES
    rpm = np.concatenate([np.concatenate([4 * quiet, 5 * busy]) for quiet, busy in spells])
    at_s, took_s = latencies(rpm, replicas, seed=1)
    since_busy_min = at_s / 60 % PULSE_MIN - (PULSE_MIN - BUSY_MIN)
    on_cold = (since_busy_min >= 0) & (since_busy_min < COLD_MIN) & (rng.random(at_s.size) < 1 / 5)
    return bucketed(at_s, took_s, replicas), bucketed(at_s, took_s + 15 * on_cold, replicas)


def bucketed(at_s: Floats, took_s: Floats, replicas: list[int]) -> Observed:
    """What a metrics store has of it in steps of five minutes."""
    bucket, count = (at_s // STEP_S).astype(int), len(replicas) * 60 // STEP_S
    p95_s = np.array([np.quantile(took_s[bucket == i], 0.95) for i in range(count)])
    ready = np.array(replicas, dtype=np.float64)[:: STEP_S // 60]
    load = np.bincount(bucket, minlength=count) * 60 / STEP_S
    return replace(seen(load / ready, {"e2e": p95_s}), rpm=load, ready=ready)


def settled(of: Observed) -> Observed:
    times_s = np.arange(of.rpm.size) * STEP_S
    return replace(of, fresh=fresh(of.ready, np.array([]), times_s, STEP_S, COLD_MIN * 60))


def rpm(of: Observed) -> float:
    found = learned(of, SLO, source="production", setup=Setup(), at=START).rpm
    assert found is not None
    return found


def test_what_is_learned_is_what_a_load_test_of_the_same_replicas_finds() -> None:
    found = rpm(settled(production()[0]))
    assert steady_p95_s(0.97 * found) <= 9.0 < steady_p95_s(1.07 * found)


def test_l25_cold_replicas_pollute_no_capacity_that_is_learned_from_production() -> None:
    clean, polluted = production()
    assert rpm(settled(polluted)) == pytest.approx(rpm(settled(clean)), rel=0.02)
    naive = learned(polluted, SLO, source="production", setup=Setup(), at=START)
    assert naive.rpm is None or naive.rpm < 0.9 * rpm(settled(clean))


def test_production_that_serves_as_its_load_test_did_does_not_drift_and_cold_replicas_are_no_drift_either() -> None:
    points = tuple(
        Point(offered_rpm=at, achieved_rpm=at, e2e=Spread(p95_s=steady_p95_s(at)), error_ratio=0.0) for at in (10, 14, 17, 19, 20)
    )
    profile = Profile(origin=Origin.FILE, source="run.json", points=points)
    found = carried(profile, SLO)
    assert isinstance(found, Carried)
    assert found.capacity.rpm == 19
    measured = Measured(entry=ProfileEntry(at=START, author="ana", profile=profile, slo=SLO), found=found)
    for of in production():
        assert drift(measured, settled(of)) == Judged()
    slow = settled(production()[0])
    assert drift(measured, replace(slow, p95_s={"e2e": 1.6 * slow.p95_s["e2e"]})).drift is not None

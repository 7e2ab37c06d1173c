"""Whether production serves as its profile says, and what moved where it does not: docs/scenarios.md says who reported what."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from forecaster.drift import Cause, Drift, Judged, Measured, drift
from forecaster.learned import Observed
from forecaster.profile import Origin, Point, Profile, ProfileEntry, Spread
from forecaster.profile_carried import Carried, carried
from forecaster.series import Floats
from tests.production import SLO, loads, p95_s, seen

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LOAD = loads(48, high=580)
WHOLE = np.ones(LOAD.size)
LENGTHS = {"input_tokens": 500 * WHOLE, "output_tokens": 200 * WHOLE}
HITS = {"hits": 0.6 * WHOLE}


def measured(**more: Any) -> Measured:
    """A load test of the engine of `tests.production`, with 500 tokens in and 200 out."""
    points = tuple(
        Point(
            offered_rpm=rpm,
            achieved_rpm=rpm,
            e2e=Spread(p95_s=float(p95_s(np.array(rpm)))),
            error_ratio=0.0,
            input_tokens=500,
            output_tokens=200,
        )
        for rpm in (100.0, 300.0, 450.0, 600.0, 650.0)
    )
    profile = Profile(origin=Origin.FILE, source="run.json", points=points)
    found = carried(profile, SLO)
    assert isinstance(found, Carried)
    return Measured(entry=ProfileEntry(at=NOW, author="ana", profile=profile, slo=SLO), found=found, hits_before=0.6, **more)


def slower(factor: float, **more: Any) -> Observed:
    """The same load, at which requests take so much longer."""
    return seen(LOAD, {"e2e": factor * p95_s(LOAD)}, **{**LENGTHS, **HITS, **more})


def drifted(of: Observed, against: Measured | None = None) -> Drift:
    found = drift(against or measured(), of)
    assert found.drift is not None, found.unjudged
    return found.drift


@pytest.mark.parametrize("factor", [0.8, 1.0, 1.25])
def test_what_lies_within_the_tolerance_is_no_drift(factor: float) -> None:
    assert drift(measured(), slower(factor)) == Judged()


def test_noise_of_single_buckets_is_no_drift() -> None:
    noise: Floats = np.random.default_rng(2).lognormal(0, 0.5, LOAD.size)
    assert drift(measured(), seen(LOAD, {"e2e": noise * p95_s(LOAD)}, **LENGTHS)).drift is None


def test_an_hour_of_slow_requests_is_no_drift_and_half_a_day_is() -> None:
    def slow_for(buckets: int) -> Observed:
        return slower(1.0, p95_s={"e2e": p95_s(LOAD) * np.where(np.arange(LOAD.size) >= LOAD.size - buckets, 2.0, 1.0)})

    assert drift(measured(), slow_for(12)).drift is None
    assert drifted(slow_for(144)).ratio == pytest.approx(2, rel=0.1)


def test_longer_requests_are_named_with_both_lengths() -> None:
    found = drifted(slower(1.5, input_tokens=800 * WHOLE))
    assert found.causes == (Cause.MIX,)
    assert "mix: requests carry 800 input tokens, 500 were measured" in found.sentence
    assert "production serves worse than its profile: P95 E2E is" in found.sentence
    assert found.sentence.endswith("; measure again")


def test_l26_prefix_cache_hits_that_are_lost_are_named_as_the_cause_of_the_drift() -> None:
    found = drifted(slower(2.5, hits=0.15 * WHOLE))
    assert found.causes == (Cause.PREFIX_HITS,)
    assert "prefix hits: the prefix cache has 15% of the input, and 60% before" in found.sentence


def test_l26_prefix_cache_hits_that_surge_are_named_where_production_serves_better() -> None:
    found = drifted(slower(0.4, hits=0.9 * WHOLE))
    assert found.causes == (Cause.PREFIX_HITS,)
    assert "production serves better than its profile" in found.sentence


def test_several_causes_are_all_named() -> None:
    found = drifted(slower(3.0, hits=0.1 * WHOLE, output_tokens=300 * WHOLE))
    assert found.causes == (Cause.MIX, Cause.PREFIX_HITS)


def test_shorter_requests_explain_nothing_that_is_slower() -> None:
    assert drifted(slower(1.5, input_tokens=300 * WHOLE)).causes == (Cause.HARDWARE,)


def test_where_neither_mix_nor_prefix_hits_moved_it_is_hardware_or_engine() -> None:
    found = drifted(slower(1.6))
    assert found.causes == (Cause.HARDWARE,)
    assert "neither mix nor prefix hits moved: hardware or engine" in found.sentence


def test_an_engine_that_is_said_to_be_another_is_named() -> None:
    found = drifted(slower(1.6), measured(changed=("engine version was 0.11.0 and is 0.12.0",)))
    assert found.causes == (Cause.HARDWARE,)
    assert "hardware or engine: engine version was 0.11.0 and is 0.12.0" in found.sentence


def test_a_cause_that_nobody_measures_is_not_judged() -> None:
    found = drifted(slower(1.6, input_tokens=np.nan * WHOLE, hits=np.nan * WHOLE))
    assert found.causes == (Cause.UNKNOWN,)
    assert "input tokens and prefix hits are not known of both times" in found.sentence


def test_what_prefix_hits_were_before_must_be_known_too() -> None:
    found = drifted(slower(1.6, hits=0.1 * WHOLE), replace(measured(), hits_before=None))
    assert found.causes == (Cause.UNKNOWN,)


@pytest.mark.parametrize(("low", "high"), [(700, 900), (20, 90)])
def test_loads_above_the_knee_or_below_what_was_measured_are_not_judged(low: float, high: float) -> None:
    said = drift(measured(), seen(loads(48, low=low, high=high))).unjudged
    assert said == "0.0 h of settled replicas with load and P95 were seen at 100 to 600 rpm a replica, and 6 h are needed"


def test_fresh_replicas_and_lying_hours_are_not_held_against_a_profile() -> None:
    for flags in ({"fresh": LOAD > 0}, {"left_out": LOAD > 0}):
        assert drift(measured(), slower(3.0, **flags)).unjudged


def test_a_latency_that_nobody_asks_for_is_not_judged() -> None:
    assert drift(measured(), seen(LOAD, {})).unjudged == "its P95 is not asked for, or not in the profile"

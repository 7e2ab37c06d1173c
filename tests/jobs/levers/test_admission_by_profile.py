"""Admission of a pool whose capacity is that of the best source: limits follow it from its date on."""

from datetime import timedelta

import pytest

from tests.jobs.levers.stage import Stage
from tests.jobs.world import NOW
from tests.profiles import entry, point, profile

SLOWER = profile([point(120), point(132, ttft_s=0.8)])


@pytest.fixture
def admitting(stage: Stage) -> Stage:
    stage.world.config["workloads"][0]["pools"][0]["capacity"] = {"profile": "best"}  # type: ignore[index]  # what World.workload wrote
    tenants = [{"name": "all", "rate": "rate"}]
    one = {"workload": "chat", "pool": "gpu", "slo": "10s", "service": "4s", "breaker": "breaker", "tenants": tenants}
    stage.tiers |= {"rules": [], "admission": [one]}
    return stage


def limits(stage: Stage) -> tuple[object, object]:
    return stage.gateway.values["rate"], stage.gateway.values["breaker"]


def test_limits_are_those_of_a_profile_from_the_tick_after_it_was_given(admitting: Stage) -> None:
    with admitting.process() as process:
        store = process.desk.fleet.store
        store.append_profiles([("chat", "gpu", entry(NOW - timedelta(days=1)))])
        store.append_profiles([("chat", "gpu", entry(NOW + timedelta(seconds=5), SLOWER))])
        process.tick(0)
        assert limits(admitting) == (1_200, 80)  # 2 ready, each with 600 a minute and 40 in flight
        process.tick(1)
        assert limits(admitting) == (240, 16)


def test_while_no_source_is_known_limits_stay_as_they_were_found_and_that_is_told(admitting: Stage) -> None:
    with admitting.process() as process:
        tick = process.tick(0)
    assert limits(admitting) == (900, 64)
    assert "no pool chat/gpu of known rpm and concurrency now, so its limits stay as they are" in tick.failures[0].sentence

"""Limits follow the replicas that are ready: up after readiness, down before the plan's drain, kept while unknown."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from forecaster.caches import Hits
from tests.jobs.levers.stage import Stage, planned
from tests.jobs.world import NOW
from tests.values import demand_of


@pytest.fixture
def admitting(stage: Stage) -> Stage:
    tenants: list[dict[str, Any]] = [{"name": "all", "rate": "rate"}]
    one = {"workload": "chat", "pool": "gpu", "slo": "10s", "service": "4s", "breaker": "breaker", "tenants": tenants}
    stage.tiers |= {"rules": [], "admission": [one]}
    return stage


def ready(stage: Stage, count: int | None) -> None:
    stage.world.api.add_workload("serving", "llm", replicas=count or 0, ready=count)


def limits(stage: Stage) -> tuple[object, object]:
    return stage.gateway.values["rate"], stage.gateway.values["breaker"]


def test_limits_are_ready_replicas_times_their_capacity(admitting: Stage) -> None:
    with admitting.process() as process:
        process.tick(0)
    assert limits(admitting) == (120, 16)  # 2 ready, each with 60 a minute and 8 in flight


def test_limits_rise_after_readiness_and_not_with_the_replicas_that_are_asked_for(admitting: Stage) -> None:
    with admitting.process() as process:
        admitting.world.api.add_workload("serving", "llm", replicas=10, ready=2)
        process.tick(0)
        assert limits(admitting) == (120, 16)
        ready(admitting, 10)
        process.tick(1)
        assert limits(admitting) == (600, 80)


def test_nothing_is_written_while_nothing_changes(admitting: Stage) -> None:
    with admitting.process() as process:
        process.tick(1)
        posts = len(admitting.gateway.posts)
        assert sum(process.tick(at).written for at in range(2, 10)) == 0
    assert len(admitting.gateway.posts) == posts


def test_unknown_ready_replicas_keep_what_stands(admitting: Stage) -> None:
    with admitting.process() as process:
        process.tick(0)
        admitting.world.api.delete_hpa("serving", "chat")
        tick = process.tick(1)
    assert limits(admitting) == (120, 16)
    assert "ready replicas of chat/gpu are unknown, so its limits stay as they are" in tick.failures[0].sentence
    assert tick.lost == ()


def test_limits_fall_before_the_plan_lowers_the_floor(admitting: Stage) -> None:
    ready(admitting, 8)
    admitting.world.api.edit("serving", "chat", minReplicas=8)
    with admitting.process() as process:
        process.desk.fleet.store.append_plans([planned(8, 3, change=timedelta(minutes=5))])
        process.tick(0)
        assert limits(admitting) == (480, 64)
        process.tick(40)  # 3 min 20 s later: the fall is within the notice of 2 min
        assert limits(admitting) == (180, 24)


def test_a_fall_of_the_floor_below_what_load_holds_is_no_drain(admitting: Stage) -> None:
    ready(admitting, 12)
    admitting.world.api.edit("serving", "chat", minReplicas=8)
    with admitting.process() as process:
        process.desk.fleet.store.append_plans([planned(8, 3, change=timedelta(minutes=1))])
        process.tick(0)
    assert limits(admitting) == (720, 96)


def test_a_tier_wins_over_admission_while_it_lasts(admitting: Stage) -> None:
    when = {"signal": "queue", "above": 10, "lasting": None, "calm": "1s"}
    admitting.tiers["rules"] = [{"name": "deep", "when": when, "set": {"rate": 30}}]
    with admitting.process() as process:
        process.tick(0)
        admitting.engine.waiting = 50
        process.tick(1)
        assert limits(admitting) == (30, 16)
        admitting.engine.waiting = 0
        process.tick(2)
        process.tick(3)
        assert limits(admitting) == (120, 16)
        process.release(4)
    assert limits(admitting) == (900, 64)


def test_rates_are_higher_by_what_the_plan_counts_on_that_caches_take(admitting: Stage) -> None:
    chat = admitting.world.config["workloads"][0]  # type: ignore[index]  # what World.workload wrote
    chat["signals"]["response_hits"] = {"query": "hits", "unit": "count"}
    chat["cache"] = {"responses": {}}
    plan = replace(planned(2, 2, change=timedelta(hours=1)), demand=replace(demand_of([100.0], start=NOW), hits=Hits(responses=0.4)))
    with admitting.process() as process:
        process.tick(0)
        assert limits(admitting) == (120, 16)
        process.desk.fleet.store.append_plans([plan])
        process.tick(1)
        assert limits(admitting) == (200, 16)

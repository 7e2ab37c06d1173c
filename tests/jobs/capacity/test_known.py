"""A pool whose capacity is that of its newest profile: in plan, apply and check, from the profile's date on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from forecaster.plan import Plan
from forecaster.profile import Profile
from forecaster.reasons import Code
from forecaster.series import Signal, Window
from jobs.apply import apply_fleet
from jobs.capacity.known import with_capacities
from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.world import NOW, World
from tests.profiles import SETUP, SLO, entry, point, profile

LATER = NOW + timedelta(hours=1)


def scaled(factor: float) -> Profile:
    """The sweep at other loads."""
    return profile([point(factor * rpm) for rpm in (50, 80, 100)] + [point(factor * 110, ttft_s=0.8)])


@contextmanager
def fleet(world: World, *, capacity: dict[str, Any] | None = None, serving: dict[str, Any] | None = None) -> Iterator[Fleet]:
    world.workload("chat")
    workloads: Any = world.config["workloads"]
    workloads[-1]["pools"][0] |= {"capacity": capacity or {"profile": "imported"}, "serving": serving or {}}
    world.config["forecast"] = {"model": "seasonal_naive"}
    with world.fleet() as opened:
        yield opened


def give(at: Fleet, when: datetime, of: Profile) -> None:
    at.store.append_profiles([("chat", "gpu", entry(when, of))])


def planned(at: Fleet, now: datetime) -> Plan:
    (draft,) = plan_fleet(at, now)
    assert not draft.failures, draft.failures
    (plan,) = draft.plans
    return plan


def test_without_a_profile_the_pool_is_held_and_reported_never_guessed(world: World) -> None:
    with fleet(world) as at:
        (draft,) = forecast_fleet(at, NOW)
        assert [failure.error for failure in draft.failures] == [Code.NO_CAPACITY]
        assert draft.plans == ()


def test_floors_rest_on_the_newest_profile_from_its_date_on_and_load_is_not_forecast_anew(world: World) -> None:
    with fleet(world) as at:
        give(at, NOW, scaled(1))
        give(at, LATER, scaled(2))
        forecast_fleet(at, NOW)
        span = Window(start=NOW - timedelta(days=1), end=LATER + timedelta(days=1))
        first, second = planned(at, NOW + timedelta(minutes=5)), planned(at, LATER)
        assert first.demand is not None
        assert second.demand is not None
        assert dict(zip(first.demand.signals, first.demand.carry, strict=True))[Signal.RPM] == 100
        assert dict(zip(second.demand.signals, second.demand.carry, strict=True))[Signal.RPM] == 200
        assert max(f.replicas for f in second.floors) <= max(f.replicas for f in first.floors) / 2 + 1
        assert [made.issued_at for made in at.store.forecasts("chat", Signal.RPM, span)] == [NOW]


def test_a_run_for_the_past_sees_the_profile_that_was_known_then(world: World) -> None:
    with fleet(world) as at:
        give(at, NOW, scaled(1))
        give(at, LATER, scaled(2))
        rpm = [with_capacities(at, when).members[0].workload.pools[0].capacity.rpm for when in (NOW, LATER - timedelta(seconds=1), LATER)]
        assert rpm == [100, 100, 200]


def test_apply_follows_the_floors_of_an_imported_capacity(world: World) -> None:
    with fleet(world) as at:
        give(at, NOW, scaled(1))
        forecast_fleet(at, NOW)
        (cycle,) = apply_fleet(at, NOW)
        assert cycle.problems == ()
        assert world.floor("chat") > 2


def test_configured_figures_win_over_a_profile(world: World) -> None:
    with fleet(world, capacity={"profile": "imported", "rpm": 100}) as at:
        give(at, NOW, scaled(2))
        assert with_capacities(at, NOW).members[0].workload.pools[0].capacity.rpm == 100


def test_memory_told_in_the_configuration_binds_a_profile_that_knows_none(world: World) -> None:
    with fleet(world, serving={"kv_tokens": 5_000}) as at:
        give(at, NOW, scaled(1))
        capacity = with_capacities(at, NOW).members[0].workload.pools[0].capacity
        assert capacity.concurrency == pytest.approx(5_000 / (700 + 2 * (100**2 + 50**2) ** 0.5))


def findings(world: World, **pool: Any) -> list[Finding]:
    with fleet(world, **pool) as at:
        give(at, NOW, scaled(1))
    return [found for found in check_all(world.path, NOW) if found.what == "capacity"]


def test_check_says_what_an_imported_capacity_is(world: World) -> None:
    (found,) = findings(world)
    assert (found.state, found.where) == (State.OK, "chat: pool gpu")
    assert found.sentence == "100 requests/min a replica, of vLLM bench serve run.json, confidence high"


def test_check_warns_of_a_profile_of_another_engine_and_names_what_changed(world: World) -> None:
    (found,) = findings(world, serving={"engine_version": "0.12.0", "model": SETUP.model})
    assert found.state is State.WARNING
    assert "its profile is stale, since engine version was 0.11.0 and is 0.12.0: measure again" in found.sentence


@pytest.mark.parametrize(("rpm", "warned"), [(79, True), (81, False), (119, False), (121, True)])
def test_check_warns_of_figures_that_a_profile_contradicts_by_more_than_a_fifth(world: World, rpm: float, warned: bool) -> None:
    found = findings(world, capacity={"rpm": rpm})
    assert [each.state for each in found] == ([State.WARNING] if warned else [])
    assert not warned or f"{rpm} requests/min configured, 100 measured" in found[0].sentence


def test_check_says_how_to_import_where_nothing_was(world: World) -> None:
    with fleet(world):
        pass
    (found,) = [each for each in check_all(world.path, NOW) if each.what == "capacity"]
    assert found.state is State.WARNING
    assert "forecaster capacity import FILE... --workload chat --pool gpu" in found.sentence


def test_check_says_why_a_profile_that_proves_nothing_holds_the_pool(world: World) -> None:
    with fleet(world) as at:
        at.store.append_profiles([("chat", "gpu", replace(entry(NOW, profile([point(50), point(100)])), slo=SLO))])
    (found,) = [each for each in check_all(world.path, NOW) if each.what == "capacity"]
    assert "the sweep never broke the SLO: at least 100 rpm" in found.sentence

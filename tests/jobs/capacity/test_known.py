"""A pool whose capacity is that of the best source: in plan, apply and check, from the source's date on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from forecaster.plan import Plan
from forecaster.profile import Origin, Profile, Setup
from forecaster.reasons import ALERTS, Code
from forecaster.series import Series, Signal, Window
from jobs.apply import apply_fleet
from jobs.capacity.known import with_capacities
from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from jobs.views.review import review_members
from tests.jobs.world import NOW, World
from tests.profiles import SETUP, SLO, entry, point, profile

LATER = NOW + timedelta(hours=1)


ESTIMATE = {"output_tokens_per_s": 30, "coefficient": 0.1}


def scaled(factor: float, origin: Origin = Origin.FILE, setup: Setup = SETUP) -> Profile:
    """The sweep at other loads."""
    return profile([point(factor * rpm) for rpm in (50, 80, 100)] + [point(factor * 110, ttft_s=0.8)], setup, origin=origin)


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


@pytest.mark.parametrize("word", ["imported", "best"])
def test_floors_rest_on_the_newest_profile_from_its_date_on_and_load_is_not_forecast_anew(world: World, word: str) -> None:
    with fleet(world, capacity={"profile": word}) as at:
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


def rpm(at: Fleet, now: datetime = NOW) -> float | None:
    return with_capacities(at, now).members[0].workload.pools[0].capacity.rpm


def keep_lengths(at: Fleet, sent: float, generated: float) -> None:
    """A day of history with requests and their mean lengths; at night there are few, and they are ten times as long."""
    start, buckets = NOW.replace(minute=0) - timedelta(days=1), 288
    night = np.arange(buckets) < buckets // 2

    def kept(signal: Signal, by_day: float, by_night: float) -> Series:
        values = np.where(night, by_night, by_day)
        return Series(signal=signal, start=start, step_s=300, mean=values, peak=values)

    at.store.append_history("chat", kept(Signal.RPM, 1_000, 0))
    at.store.append_history("chat", kept(Signal.INPUT_LENGTH, sent, 10 * sent))
    at.store.append_history("chat", kept(Signal.OUTPUT_LENGTH, generated, 10 * generated))


def test_best_follows_production_where_the_load_test_is_of_another_engine(world: World) -> None:
    with fleet(world, capacity={"profile": "best"}, serving={"engine_version": "0.12.0"}) as at:
        give(at, NOW - timedelta(days=9), scaled(1))
        assert rpm(at) == 100
        give(at, NOW, replace(scaled(2, Origin.PRODUCTION, Setup()), measured_at=NOW))
        assert rpm(at) == 200


def test_imported_follows_a_replay_and_never_production(world: World) -> None:
    with fleet(world) as at:
        give(at, NOW - timedelta(days=9), scaled(2, Origin.PRODUCTION))
        assert rpm(at) is None
        give(at, NOW, scaled(3, Origin.REPLAY))
        assert rpm(at) == 300


def test_only_the_newest_of_an_origin_counts(world: World) -> None:
    with fleet(world, capacity={"profile": "best"}) as at:
        give(at, NOW - timedelta(days=2), scaled(1))
        give(at, NOW - timedelta(days=1), scaled(2))
        give(at, NOW, scaled(9, Origin.PRODUCTION))
        assert rpm(at) == 200


def test_an_estimate_sizes_a_pool_until_something_is_measured(world: World) -> None:
    capacity = {"profile": "best", "estimate": {**ESTIMATE, "input_tokens": 500, "output_tokens": 200}}
    with fleet(world, capacity=capacity, serving={"max_batch": 16}) as at:
        assert rpm(at) == pytest.approx(16 * 30 / 1.25 * 60 / 200)
        forecast_fleet(at, NOW)
        assert dict(zip(*_carries(planned(at, NOW)), strict=True))[Signal.RPM] == pytest.approx(115.2)
        give(at, LATER, scaled(1))
        assert rpm(at, LATER) == 100


def _carries(plan: Plan) -> tuple[tuple[Signal, ...], tuple[float, ...]]:
    assert plan.demand is not None
    return plan.demand.signals, plan.demand.carry


def test_lengths_that_nobody_says_are_those_of_the_requests_of_the_last_day(world: World) -> None:
    with fleet(world, capacity={"estimate": ESTIMATE}, serving={"max_batch": 16}) as at:
        assert rpm(at) is None
        keep_lengths(at, sent=500, generated=200)
        assert rpm(at) == pytest.approx(115.2)
        used = with_capacities(at, NOW).members[0].choices["gpu"].used
        assert used is not None
        assert used.capacity is not None
        assert used.capacity.source.endswith("lengths as measured over a day")
        assert rpm(at, NOW + timedelta(days=3)) is None


def test_lengths_that_were_kept_at_another_step_are_not_known_and_stop_nothing(world: World) -> None:
    with fleet(world, capacity={"estimate": ESTIMATE}, serving={"max_batch": 16}) as at:
        values = np.full(24, 500.0)
        kept = Series(signal=Signal.INPUT_LENGTH, start=NOW - timedelta(hours=24, minutes=30), step_s=3_600, mean=values, peak=values)
        at.store.append_history("chat", kept)
        ((source, why),) = with_capacities(at, NOW).members[0].choices["gpu"].beside
        assert source.origin is Origin.ESTIMATE
        assert why.startswith("the estimate lacks estimate.input_tokens (or the signal input_length)")


def test_what_an_estimate_lacks_is_told_by_forecast_and_by_check(world: World) -> None:
    lacks = "the estimate lacks serving.max_batch, estimate.input_tokens (or the signal input_length), estimate.output_tokens"
    with fleet(world, capacity={"profile": "best", "estimate": ESTIMATE}) as at:
        (draft,) = forecast_fleet(at, NOW)
    told = draft.failures[0].sentence
    assert told.startswith("pool gpu has no capacity for rpm: it is held where it is; no profile is known: run `forecaster capacity import")
    assert lacks in told
    (found,) = [each for each in check_all(world.path, NOW) if each.what == "capacity"]
    assert found.state is State.WARNING
    assert lacks in found.sentence


def test_a_profile_that_turns_stale_while_in_use_stays_in_use_and_is_an_alert_with_what_changed(world: World) -> None:
    with fleet(world, serving={"engine_version": "0.12.0"}) as at:
        give(at, NOW, scaled(1))
        forecast_fleet(at, NOW)
        plan = planned(at, NOW + timedelta(minutes=5))
        (stale,) = [reason for reason in plan.reasons if reason.code is Code.CAPACITY_STALE]
        assert stale.detail == (
            "pool gpu rests on what is stale: the load test, since engine version was 0.11.0 and is 0.12.0: "
            "measure again, or correct `serving`"
        )
        assert stale.code in ALERTS
        apply_fleet(at, NOW + timedelta(minutes=5))
        known = with_capacities(at, NOW)
        (review,) = review_members(known.store, known.members, NOW + timedelta(minutes=6))
        assert stale.detail in [each.sentence for each in review.attention]

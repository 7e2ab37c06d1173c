"""A cache down the line: its hits come off the plan and off live load, and once it is emptied the floor rises at once."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from forecaster.caches import Counted, Hits
from forecaster.plan import Plan
from forecaster.profile import Origin
from forecaster.reasons import Code
from forecaster.series import Signal, Window
from jobs.apply import apply_fleet
from jobs.caches import after_caches
from jobs.config.reading import read_config
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.cached import LEAST, cached
from tests.jobs.config.samples import faults_of, with_workload
from tests.jobs.world import NOW, World
from tests.profiles import entry, point, profile

NOON = NOW + timedelta(hours=4)
MINUTE = timedelta(minutes=1)
HIT_QUERY = "response_hits: {query: hits, unit: count}"


def planned_at_noon(world: World) -> tuple[Plan, int]:
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
    (plan,) = draft.plans
    floor = plan.floor_at(NOON)
    assert floor is not None
    return plan, floor.replicas


def test_answers_that_a_cache_has_come_off_the_plan_by_a_low_quantile_of_the_days_before(world: World, tmp_path: Path) -> None:
    cached(world)
    _, bare = planned_at_noon(world)
    with_cache = World(folder=tmp_path, api=world.api)
    cached(with_cache, responses={})
    plan, floor = planned_at_noon(with_cache)
    assert plan.demand is not None
    assert plan.demand.hits == Hits(responses=LEAST)
    assert floor == pytest.approx(bare * (1 - LEAST), abs=1)
    told = next(reason for reason in plan.reasons if reason.code is Code.CACHE_HITS)
    assert told.detail == "caches answer 40% of requests (P5 of 7 days): 0.6 of arrivals are left"


def test_prefixes_that_are_kept_come_off_the_part_of_a_request_that_is_prefill(world: World, tmp_path: Path) -> None:
    cached(world)
    _, bare = planned_at_noon(world)
    with_cache = World(folder=tmp_path, api=world.api)
    cached(with_cache, prefix={"prefill_share": 0.5})
    plan, floor = planned_at_noon(with_cache)
    assert floor == pytest.approx(bare * (1 - 0.5 * LEAST), abs=1)
    assert [reason.code for reason in plan.reasons].count(Code.CACHE_HITS) == 1


def test_a_cache_that_is_known_for_hours_only_takes_nothing_off_and_the_plan_says_so(world: World) -> None:
    cached(world, since=timedelta(hours=20), responses={})
    plan, floor = planned_at_noon(world)
    assert floor >= 11  # all of 1,000 requests a minute
    assert Code.CACHE_UNKNOWN in {reason.code for reason in plan.reasons}


def test_the_load_that_is_forecast_is_the_measured_one_whatever_a_cache_answers(world: World) -> None:
    cached(world, responses={})
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (kept,) = fleet.store.forecasts("chat", Signal.RPM, Window(start=NOW, end=NOW + MINUTE))
        median = kept.at_level(0.5)[int((NOON - kept.start).total_seconds() // kept.step_s)]
        assert median == pytest.approx(1_000, rel=0.1)
        (again,) = plan_fleet(fleet, NOW)
    assert again.plans[0].demand is not None
    assert again.plans[0].demand.hits.responses == LEAST


def run_until(world: World, end: datetime) -> tuple[int, set[Code]]:
    """The floor that stands after hours of cycles, and what the last of them said."""
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        at = NOW
        while at <= end:
            cycles = apply_fleet(fleet, at)
            at += 5 * MINUTE
    (record,) = cycles[0].records
    return world.floor("chat"), {reason.code for reason in record.decision.reasons}


def test_plan_and_live_load_agree_while_the_cache_has_its_hits(world: World) -> None:
    cached(world, responses={})
    floor, told = run_until(world, NOON)
    assert floor <= 8  # 1,000 requests a minute, 60 % of them for replicas of 100
    assert Code.CACHE_COLD not in told
    assert Code.LIVE_ABOVE_PLAN not in told


def test_a_cache_that_is_emptied_raises_the_floor_within_minutes(world: World) -> None:
    cached(world, responses={}, flushed=NOON - 10 * MINUTE)
    floor, told = run_until(world, NOON)
    assert floor >= 10  # all of 1,000 requests a minute
    assert Code.CACHE_COLD in told


def test_l26_prefix_hits_that_are_lost_raise_the_floor_within_minutes(world: World) -> None:
    cached(world, flushed=NOON - 10 * MINUTE, prefix={"prefill_share": 1.0})
    floor, told = run_until(world, NOON)
    assert floor >= 10
    assert Code.CACHE_COLD in told


def test_a_capacity_that_production_taught_has_the_hits_in_it_already(world: World) -> None:
    cached(world, flushed=NOON - 10 * MINUTE, responses={})
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[-1]["pools"][0]["capacity"] = {"profile": "best"}
    steps = [point(rpm) for rpm in (60, 80, 100)] + [point(110, ttft_s=0.8)]
    taught = profile(steps, origin=Origin.PRODUCTION, measured_at=NOW)
    with world.fleet() as fleet:
        fleet.store.append_profiles([("chat", "gpu", entry(NOW, taught))])
    plan, floor = planned_at_noon(world)
    assert floor >= 11  # 1,000 requests a minute as they arrive, of which a replica was seen to carry 100
    assert "nothing more comes off" in next(reason.detail for reason in plan.reasons if reason.code is Code.CACHE_HITS)
    raised, told = run_until(world, NOON)
    assert raised >= floor * 1.5
    assert Code.CACHE_COLD in told


def test_prefix_hits_relieve_the_prefill_pool_and_never_the_decode_pool(world: World) -> None:
    cached(world, prefix={})
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    (decode,) = workloads[-1]["pools"]
    prefill = {**decode, "name": "prefill", "targets": [{**decode["targets"][0], "name": "chat-prefill"}]}
    workloads[-1] |= {"pools": [prefill, decode], "roles": {"prefill": "prefill", "decode": "gpu", "ratio": [0.1, 10]}}
    world.api.add_hpa("serving", "chat-prefill", min_replicas=1, max_replicas=40)
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
    first, second = (plan.floor_at(NOON) for plan in draft.plans)
    assert first is not None
    assert second is not None
    assert first.replicas == pytest.approx(second.replicas * (1 - LEAST), abs=1)
    assert not {Code.CACHE_HITS, Code.CACHE_UNKNOWN} & {reason.code for reason in draft.plans[1].reasons}


def test_what_is_said_of_past_days_rests_on_what_caches_left_bucket_by_bucket(world: World) -> None:
    cached(world, since=timedelta(days=2), responses={})
    day = Window(start=NOW - timedelta(days=1), end=NOW)
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (member,) = fleet.members
        (pool,) = member.workload.pools
        arrived = fleet.store.history("chat", Signal.RPM, day, 300)
        left = after_caches(fleet.store, member, pool, arrived)
        ratio = dict(zip(((left.times_s() // 3_600) % 24).tolist(), (left.mean / arrived.mean).tolist(), strict=True))
        assert ratio == {hour: pytest.approx(1 - LEAST if hour in {2, 3} else 0.5) for hour in range(24)}
        older = fleet.store.history("chat", Signal.RPM, Window(start=NOW - timedelta(days=5), end=NOW - timedelta(days=4)), 300)
        assert after_caches(fleet.store, member, pool, older) == older
        taught = replace(pool, caches=replace(pool.caches, taught=True))
        assert after_caches(fleet.store, member, taught, arrived) == arrived


@pytest.mark.parametrize(
    ("cache", "sentence"),
    [
        ("{}", "cache takes nothing off: write `responses: {}` or `prefix: {prefill_share: 0.3}` under it, or leave it out"),
        ("{responses: {}}", "cache needs the signal response_hits: write its query under signals, or name a preset that supplies it"),
        ("{prefix: {prefill_share: 0.3}}", "cache needs the signal prefix_hits"),
        ("{prefix: {prefill_share: 1.3}}", "prefill_share: must be at most 1, got 1.3"),
        ("{responses: {quantile: 0.9}}", "quantile: must be at most 0.5, got 0.9"),
    ],
)
def test_a_cache_that_nothing_tells_of_is_refused(tmp_path: Path, cache: str, sentence: str) -> None:
    (fault,) = faults_of(tmp_path, with_workload("    pools:", f"    cache: {cache}\n    pools:"))
    assert sentence in fault


def test_answers_come_off_no_load_that_is_counted_behind_their_cache(tmp_path: Path) -> None:
    engine = "presets: {name: vllm, match: {model_name: llama}}\n    cache: {responses: {}}"
    written = with_workload("signals: {rpm: {query: requests, unit: per_second}}", f"{engine}\n    signals: {{{HIT_QUERY}}}")
    (fault,) = faults_of(tmp_path, written)
    assert "cache.responses: rpm is counted by the engine (vllm), behind the cache, so that hits are not in it" in fault


def test_answers_come_off_arrivals_that_a_person_says_are_such(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_workload("signals: {rpm", f"cache: {{responses: {{days: 14}}}}\n    signals: {{{HIT_QUERY}, rpm"))
    (section,) = read_config(path).workloads
    (pool,) = section.to_core().pools
    assert pool.caches.responses == Counted(days=14)
    assert pool.caches.left(Signal.RPM) == 1.0

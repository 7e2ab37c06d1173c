"""Starts on their way through the line: seen by apply and forecast, kept, measured, planned with, and never in the way of a floor."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import structlog
from structlog.testing import LogCapture

from forecaster.decision import Seen
from forecaster.explain import explain
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.series import Window
from forecaster.starts import Start
from forecaster.units import DAY_S, HOUR_S
from jobs.apply import Cycle, apply_fleet
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from jobs.starts import look_at_all, look_at_pending, with_lead_times
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.news import News
from tests.contracts.starts import start
from tests.jobs.world import NOW, World, daily_rpm, write_trace
from tests.kube_api import KubeApi
from tests.kube_pods import put_node, put_pod, put_workload

POOL = ("chat", "gpu")
TARGET = "kubernetes-hpa:serving/chat"
EVER = Window(start=NOW - timedelta(days=100), end=NOW + timedelta(days=1))
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    write_trace(tmp_path / "load.csv", daily_rpm())
    with KubeApi() as api:
        world = World(folder=tmp_path, api=api)
        world.workload("chat")
        api.delete_hpa("serving", "chat")
        api.add_hpa("serving", "chat", min_replicas=2, max_replicas=40, scales="Deployment/chat")
        put_workload(api, "serving", "chat", replicas=4, ready=4)
        put_node(api, "gpu-1", NOW - timedelta(days=30))
        put_pod(api, "serving", "settled", NOW - timedelta(days=20), app="chat", now=NOW)
        yield world


def put(world: World, now: datetime = NOW) -> partial[None]:
    return partial(put_pod, world.api, "serving", app="chat", now=now)


def pool_of(world: World) -> dict[str, object]:
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    pool: dict[str, object] = workloads[0]["pools"][0]
    return pool


def kept(fleet: Fleet) -> dict[str, Start]:
    return {start.replica: start for start in fleet.store.starts_of([POOL], EVER, 100).get(POOL, ())}


def pod_reads(world: World) -> int:
    return sum("/pods" in request.path for request in world.api.requests)


def keep_starts(fleet: Fleet, took_s: float, *, count: int = 40, pool: str = "gpu", target: str = TARGET, cold: bool = False) -> None:
    """As many starts, one each six hours before NOW, that took so long each."""
    starts = [start(f"{pool}-{i}", NOW - timedelta(hours=6 * (i + 1)), took_s=took_s, cold=cold) for i in range(count)]
    as_seen = [Start(**{name: getattr(each, name) for name in Start.__slots__} | {"target": target}) for each in starts]
    fleet.store.append_starts([("chat", pool, each) for each in as_seen])


def only_plan(fleet: Fleet) -> Plan:
    (draft,) = forecast_fleet(fleet, NOW)
    assert draft.problems == ()
    (plan,) = draft.plans
    return plan


def only_cycle(fleet: Fleet, now: datetime = NOW) -> Cycle:
    (cycle,) = apply_fleet(fleet, now)
    return cycle


# seen


def test_apply_keeps_the_starts_of_a_target_on_which_replicas_are_on_their_way(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    put(world)(name="new", created=NOW - timedelta(seconds=100))
    with world.fleet() as fleet:
        assert only_cycle(fleet).asides == ()
        assert kept(fleet)["uid-new"].is_open
        put_workload(world.api, "serving", "chat", replicas=4, ready=4)
        put(world, LATER)(name="new", created=NOW - timedelta(seconds=100), ready_s=150)
        apply_fleet(fleet, LATER)
        found = kept(fleet)["uid-new"]
    assert found.took_s == 150
    assert not found.rollout


def test_a_fleet_at_rest_asks_for_no_pods(world: World) -> None:
    with world.fleet() as fleet:
        only_cycle(fleet)
        assert pod_reads(world) == 0
        forecast_fleet(fleet, NOW)
        assert pod_reads(world) == 1


def test_a_replica_that_vanished_on_its_way_stays_known_as_one_that_took_longer(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    put(world)(name="new", created=NOW - timedelta(seconds=100))
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        world.api.remove("pods", "serving", "new")
        put_workload(world.api, "serving", "chat", replicas=3, ready=3)
        apply_fleet(fleet, LATER)
        found = kept(fleet)["uid-new"]
        assert fleet.store.open_starts() == {}
    assert (found.gone, found.ready, found.took_s) == (True, None, 100)


def test_forecast_finds_what_came_up_between_two_cycles(world: World) -> None:
    put(world)(name="quick", created=NOW - timedelta(minutes=20))
    with world.fleet() as fleet:
        assert look_at_all(fleet, NOW) == {}
        assert kept(fleet)["uid-quick"].took_s == 300
        assert "uid-settled" not in kept(fleet)


def test_looking_twice_keeps_the_same(world: World) -> None:
    put(world)(name="quick", created=NOW - timedelta(minutes=20))
    with world.fleet() as fleet:
        look_at_all(fleet, NOW)
        once = kept(fleet)
        look_at_all(fleet, NOW)
        assert kept(fleet) == once


def test_starts_are_seen_in_mode_observe_and_in_a_dry_run_too(world: World) -> None:
    put(world)(name="quick", created=NOW - timedelta(minutes=20))
    with world.fleet("all") as fleet:
        look_at_all(fleet, NOW)
        assert "uid-quick" in kept(fleet)
    assert world.api.writes == ()


def test_where_measuring_is_off_no_pods_are_read_and_what_was_measured_does_not_count(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    pool_of(world)["lead_time"] = {"measured": False, "cold": "20m"}
    with world.fleet() as fleet:
        keep_starts(fleet, 240)
        look_at_all(fleet, NOW)
        apply_fleet(fleet, NOW)
        assert with_lead_times(fleet, NOW).members == fleet.members
    assert pod_reads(world) == 0


# in nobody's way


@pytest.mark.parametrize("fault", [403, 500, "html", "drop"])
def test_pods_that_cannot_be_read_stop_no_floor_and_are_said(world: World, fault: int | str) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        world.api.fail_next(fault, times=3, plural="pods")
        cycle = only_cycle(fleet)
    assert cycle.problems == ()
    assert world.floor("chat") > 2
    (aside,) = cycle.asides
    assert aside.verb == "starts"
    assert aside.sentence.startswith(f"starts on {TARGET} were not read: cannot list pods in namespace serving: ")


def test_an_answer_that_makes_no_sense_stops_no_floor_either(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    world.api.put("pods", "serving", "odd", metadata={"uid": "x", "creationTimestamp": "yesterday", "labels": {"app": "chat"}})
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        cycle = only_cycle(fleet)
    assert cycle.problems == ()
    assert world.floor("chat") > 2
    assert [aside.error for aside in cycle.asides] == ["ValueError"]


def test_a_target_whose_starts_cannot_be_read_keeps_no_other_from_being_looked_at(world: World) -> None:
    world.workload("embed")
    world.api.delete_hpa("serving", "embed")
    put(world)(name="quick", created=NOW - timedelta(minutes=20))
    with world.fleet() as fleet:
        unread = look_at_all(fleet, NOW)
        assert "uid-quick" in kept(fleet)
    assert list(unread) == ["embed"]
    assert unread["embed"][0].error == "TargetMissing"


def test_what_was_not_read_is_counted(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    world.api.forbid("list", "pods")
    metrics = Metrics()
    with world.fleet() as fleet:
        metrics.record_cycles(apply_fleet(fleet, NOW), NOW)
    assert metrics.registry.get_sample_value("forecaster_failures_total", {"verb": "starts", "error": "TargetForbidden"}) == 1


def test_the_log_of_the_daemon_says_once_what_was_not_read(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=4, ready=3)
    world.api.forbid("list", "pods")
    news, told = News(), LogCapture()
    structlog.configure(processors=[told])
    try:
        with world.fleet() as fleet:
            for now in (NOW, LATER):
                news.tell_cycles(apply_fleet(fleet, now))
            news.tell_drafts(forecast_fleet(fleet, LATER))
    finally:
        structlog.reset_defaults()
    assert [line["log_level"] for line in told.entries if line["event"] == "starts"] == ["info"]


# planned with


def test_a_longer_measured_lead_time_makes_the_lead_window_longer(world: World) -> None:
    with world.fleet() as fleet:
        before = only_plan(fleet).demand
        keep_starts(fleet, 1500, cold=True)
        after = only_plan(fleet).demand
    assert before is not None
    assert after is not None
    assert (before.lead_time_s, before.window_s) == (600, 900)
    assert (after.lead_time_s, after.window_s) == (1500, 1800)
    assert after.load.mean() > before.load.mean()
    assert after.load.max() >= before.load.max()
    assert (after.load >= 0.995 * before.load).all()  # each window is calibrated on its own errors, which agree to half a percent


def test_a_shorter_measured_lead_time_makes_it_shorter(world: World) -> None:
    with world.fleet() as fleet:
        keep_starts(fleet, 120)
        demand = only_plan(fleet).demand
    assert demand is not None
    assert (demand.lead_time_s, demand.window_s) == (120, 600)


def test_pools_have_lead_times_of_their_own_and_share_the_longest_window(world: World) -> None:
    pool = pool_of(world)
    target = {"type": "kubernetes-hpa", "namespace": "serving", "name": "chat-l4", "cluster": {"server": world.api.url}}
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["pools"] = [pool | {"share": 0.5}, pool | {"name": "l4", "share": 0.5, "targets": [target]}]
    world.api.add_hpa("serving", "chat-l4", scales="Deployment/chat")
    with world.fleet() as fleet:
        keep_starts(fleet, 120)
        keep_starts(fleet, 1200, pool="l4", target="kubernetes-hpa:serving/chat-l4", cold=True)
        (draft,) = forecast_fleet(fleet, NOW)
    demands = {plan.pool: plan.demand for plan in draft.plans}
    told = {pool: (demand.lead_time_s, demand.window_s) for pool, demand in demands.items() if demand is not None}
    assert told == {"gpu": (120, 1500), "l4": (1200, 1500)}


def test_a_plan_made_anew_from_kept_forecasts_has_the_measured_lead_time_too(world: World) -> None:
    with world.fleet() as fleet:
        only_plan(fleet)
        keep_starts(fleet, 840, cold=True)
        (draft,) = plan_fleet(fleet, LATER)
    assert draft.plans[0].demand is not None
    assert draft.plans[0].demand.lead_time_s == 840


def test_starts_that_overrun_the_lead_time_widen_it_and_the_plan_says_so(world: World) -> None:
    with world.fleet() as fleet:
        keep_starts(fleet, 1500, count=2)
        plan = only_plan(fleet)
    (reason,) = [reason for reason in plan.reasons if reason.code is Code.LEAD_TIME_WIDENED]
    assert reason.detail.startswith("lead time 25 min, configured 10: 2 starts since ")
    assert reason.detail.endswith("widened, since 2 of the last 10 starts took longer")


def test_a_lead_time_that_no_forecast_reaches_is_not_planned_with(world: World) -> None:
    world.config["forecast"] = {"horizon": "1h"}
    with world.fleet() as fleet:
        keep_starts(fleet, HOUR_S + 60, cold=True)
        assert with_lead_times(fleet, NOW).members[0].workload.pools[0].lead_time.source == "configured"


def test_explain_tells_the_starts_that_the_lead_time_rests_on(world: World) -> None:
    with world.fleet() as fleet:
        keep_starts(fleet, 384)
        only_plan(fleet)
        cycle = only_cycle(fleet)
        plan = cycle.bases[0].in_force.plan
        assert plan is not None
        basis = dict(explain(cycle.records[0], plan).basis)
    assert basis["lead time"] == "7 min: P90 of 40 starts since 20 Feb (node 1, image 1, load 4.4), no cold one; configured 10"


def test_the_gauges_show_both_parts_and_how_many_starts_they_rest_on(world: World) -> None:
    metrics = Metrics()
    with world.fleet() as fleet:
        keep_starts(fleet, 384)
        metrics.record_drafts(forecast_fleet(fleet, NOW))
    pool = {"workload": "chat", "pool": "gpu"}
    for node in ("warm", "cold"):
        assert metrics.registry.get_sample_value("forecaster_lead_time_seconds", {**pool, "node": node}) == 420
    assert metrics.registry.get_sample_value("forecaster_lead_time_starts", pool) == 40


def test_l30_replicas_that_are_pending_for_an_hour_widen_the_lead_time_and_never_beyond_two_hours(world: World) -> None:
    put_workload(world.api, "serving", "chat", replicas=6, ready=4)
    for name in ("one", "two"):
        put(world)(name=name, created=NOW - timedelta(seconds=HOUR_S), scheduled_s=DAY_S, pulled_s=DAY_S, ready_s=DAY_S)
    later = NOW + timedelta(hours=5)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert with_lead_times(fleet, NOW).members[0].workload.pools[0].lead_time.plan_s == HOUR_S
        apply_fleet(fleet, later)
        assert with_lead_times(fleet, later).members[0].workload.pools[0].lead_time.plan_s == 2 * HOUR_S


def test_two_thousand_targets_at_rest_cost_one_read_of_the_store(world: World) -> None:
    seen = [Seen(target=f"t{i}", at=NOW, floor=1, ceiling=9, original=1, ready=1, pending=0, version="1") for i in range(2_000)]
    with world.fleet() as fleet:
        before = len(world.api.requests)
        assert look_at_pending(fleet, seen, NOW) == {}
        assert len(world.api.requests) == before

"""The daemon as its surroundings see it: signals, pages, the log, the store and the cluster."""

import signal
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest

from connectors.leases.opening import open_lease
from forecaster.plan import Plan
from forecaster.series import Window
from forecaster.units import iso
from jobs.clock import SystemClock
from jobs.forecast import forecast_fleet
from tests.jobs.daemon_process import daemon, load_to
from tests.jobs.world import World, write_trace
from tests.loopback_prometheus import Reply, failure, loopback_prometheus

POOL = {"workload": "chat", "pool": "gpu"}
HPA = {**POOL, "target": "kubernetes-hpa:serving/chat"}


@pytest.fixture(autouse=True)
def now(world: World) -> datetime:
    """The present, which the load reaches; one workload, a daemon that applies every 5 seconds, and a free port for its pages."""
    now = SystemClock().now().replace(microsecond=0)
    write_trace(world.folder / "load.csv", load_to(now))
    world.config |= {"apply": {"every": "5s", "workers": 4}, "daemon": {"port": 0}}
    world.workload("chat")
    return now


def plans(world: World) -> tuple[Plan, ...]:
    """The plans that the store has, of the last day."""
    now = SystemClock().now()
    with world.fleet() as fleet:
        return fleet.store.plans("chat", "gpu", Window(start=now - timedelta(days=1), end=now + timedelta(days=1)))


def write_config(world: World) -> None:
    """Bring the configuration on disk up to date."""
    assert world.path.is_file()


def test_it_forecasts_and_applies_at_once_shows_both_and_ends_at_sigterm(world: World) -> None:
    with daemon(world.path) as running:
        running.until("forecaster_planned_floor_replicas", 0, **POOL)
        running.eventually(lambda: running.metric("forecaster_object_floor_replicas", **HPA) == world.floor("chat") >= 6)
        status, body = running.health()
        assert (status, body["ok"]) == (200, True)
        assert 0 <= body["last_apply_age_s"] < 60
        assert 0 <= body["last_forecast_age_s"] < 60
        running.stop()
    (plan,) = plans(world)
    assert world.api.annotations("serving", "chat")["forecaster/valid-until"] == iso(plan.valid_until)
    events = [line["event"] for line in running.lines]
    assert (events[0], events[-1]) == ("serve", "stop")
    assert {"start", "forecast", "apply"} < set(events)


def test_a_run_that_hangs_is_given_up_at_sigterm(world: World) -> None:
    with loopback_prometheus(Reply(never=True)) as silent:
        world.config["sources"] = {"trace-chat": {"type": "prometheus", "url": silent.url}}
        with daemon(world.path) as running:
            running.eventually(lambda: silent.asked)
            running.stop()
            assert "given up" in running.lines[-1]["sentence"]


def test_sighup_takes_a_good_configuration_and_refuses_a_bad_one(world: World) -> None:
    with daemon(world.path) as running:
        running.until("forecaster_planned_floor_replicas", 0, **POOL)

        world.config["aply"] = {}
        write_config(world)
        running.send(signal.SIGHUP)
        refusal = running.says("did you mean apply?")
        assert (refusal["event"], refusal["level"]) == ("reload", "error")
        assert "stays in force" in refusal["sentence"]
        assert running.metric("forecaster_config_last_reload_successful") == 0
        running.until_one_more("forecaster_runs_total", verb="apply", outcome="done")

        del world.config["aply"], world.config["workloads"]
        world.workload("code")
        write_config(world)
        running.send(signal.SIGHUP)
        running.until("forecaster_planned_floor_replicas", 0, workload="code", pool="gpu")
        assert running.metric("forecaster_config_last_reload_successful") == 1
        assert running.metric("forecaster_floor_replicas", workload="chat") is None
        assert running.metric("forecaster_decisions_total", workload="chat") is None
        taken = next(line for line in running.lines if line["event"] == "reload" and line["level"] == "info")
        assert (taken["added"], taken["removed"]) == (["code"], ["chat"])
        running.stop()
    assert world.floor("code") > 2


def test_a_change_of_its_own_address_waits_for_a_restart_the_rest_is_taken_and_sigint_ends_it(world: World) -> None:
    with daemon(world.path) as running:
        running.until("forecaster_runs_total", 0, verb="apply", outcome="done")
        world.config["daemon"] = {"host": "127.0.0.2", "port": 0}
        write_config(world)
        running.send(signal.SIGHUP)
        assert running.says("restart to change them")["level"] == "warning"
        assert running.metric("forecaster_config_last_reload_successful") == 1
        running.stop(signal.SIGINT)


def test_where_another_process_holds_the_leases_runs_are_skipped(world: World) -> None:
    with ExitStack() as held:
        for half in ("forecast", "apply"):
            lease = open_lease(f"sqlite:///{world.folder}/forecaster.db", half)
            assert lease.try_acquire()
            held.callback(lease.release)
        with daemon(world.path) as running:
            for half in ("apply", "forecast"):
                running.until("forecaster_runs_total", 0, verb=half, outcome="skipped")
                assert running.says(f"another {half} run is at work on this store")["event"] == half
            assert world.floor("chat") == 2
            assert running.metric("forecaster_last_success_timestamp_seconds", verb="apply") is None
            held.close()
            running.send(signal.SIGHUP)  # runs both at once
            running.until("forecaster_planned_floor_replicas", 0, **POOL)
            running.stop()


def test_k45_a_second_daemon_on_the_store_makes_no_second_plan(world: World) -> None:
    with daemon(world.path, world.folder / "first.log") as first:
        first.until("forecaster_planned_floor_replicas", 0, **POOL)
        with daemon(world.path, world.folder / "second.log") as second:
            second.says("the next forecast is due then")
            second.until("forecaster_planned_floor_replicas", 0, **POOL)
            assert second.metric("forecaster_runs_total", verb="forecast", outcome="done") == 0
            second.eventually(lambda: {of.metric("forecaster_floor_replicas", **HPA) for of in (first, second)} == {world.floor("chat")})
            second.stop()
        first.stop()
    assert len(plans(world)) == 1


def test_a_forecast_that_was_missed_while_down_is_made_up_for_once(world: World, now: datetime) -> None:
    with world.fleet() as fleet:
        forecast_fleet(fleet, now - timedelta(hours=5))
    with daemon(world.path) as running:
        running.until("forecaster_plan_issued_timestamp_seconds", now.timestamp() - 1, **POOL)
        running.stop()
    assert len(plans(world)) == 2


def test_l33_killed_at_any_instant_the_next_start_makes_up_for_it(world: World) -> None:
    for event in ("start", "apply"):
        with daemon(world.path, world.folder / f"{event}.log") as running:
            running.logs(event)
            running.send(signal.SIGKILL)
            assert running.ended() == -signal.SIGKILL
    with daemon(world.path) as running:
        running.until("forecaster_planned_floor_replicas", 0, **POOL)
        running.eventually(lambda: running.metric("forecaster_object_floor_replicas", **HPA) == world.floor("chat") >= 6)
        running.stop()


def test_a_source_that_goes_away_is_counted_and_we_stay_well(world: World) -> None:
    with daemon(world.path) as running:
        running.until("forecaster_planned_floor_replicas", 0, **POOL)
        floor = world.floor("chat")
        (world.folder / "load.csv").unlink()
        running.until("forecaster_failures_total", 0, verb="fetch", error="SourceRejected")
        running.until("forecaster_alert", 0, code="load-unknown", **HPA)
        assert running.metric("forecaster_live_need_replicas", **POOL) is None
        status, body = running.health()
        assert (status, body["reason"]) == (200, "the last apply succeeded")
        assert world.floor("chat") >= floor
        running.stop()


def test_k48_a_store_that_cannot_be_used_fails_runs_and_not_the_daemon(world: World) -> None:
    in_the_way = world.folder / "forecaster.db.apply.lock"
    in_the_way.mkdir()
    with daemon(world.path) as running:
        running.until("forecaster_failures_total", 0, verb="apply", error="StoreError")
        assert running.says("forecaster.db.apply.lock cannot be opened")["level"] == "error"
        in_the_way.rmdir()
        running.until("forecaster_planned_floor_replicas", 0, **POOL)
        running.stop()


def test_secrets_stand_in_no_line_and_on_no_page(world: World) -> None:
    with loopback_prometheus(lambda _: failure(401, "who are you?")) as guarded:
        world.config["sources"] = {"trace-chat": {"type": "prometheus", "url": guarded.url, "bearer_token": "hunter-two"}}
        world.config["log"] = {"level": "debug"}
        with daemon(world.path) as running:
            running.until("forecaster_runs_total", 0, verb="apply", outcome="partly")
            assert "Bearer hunter-two" in {asked.headers.get("Authorization") for asked in guarded.asked}
            running.stop()
    assert "hunter-two" not in running.text


def test_what_keeps_it_from_starting_is_one_sentence_and_exit_code_2(world: World) -> None:
    world.config["daemon"] = {"port": int(world.api.url.rsplit(":", 1)[1])}
    with daemon(world.path) as refused:
        assert refused.ended(within_s=60) == 2
    assert "cannot be listened on" in refused.text
    assert "Traceback" not in refused.text

"""A run of the daemon: alone on the store, counted, and never raising."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Thread

import pytest

from connectors.leases.opening import open_lease
from jobs.clock import FixedClock
from jobs.config.reading import read_config
from jobs.daemon.due import POLL_S
from jobs.daemon.fleets import Fleets
from jobs.daemon.reload import reload
from jobs.daemon.runs import Runs
from jobs.forecast import forecast_fleet
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.runs import Diary, Half, Outcome
from tests.jobs.world import NOW, World
from tests.loopback_prometheus import Reply, loopback_prometheus

POLL = timedelta(seconds=POLL_S)
HOUR = timedelta(hours=1)


@dataclass(kw_only=True)
class Parts:
    """A daemon without its schedule, on a clock that tests move."""

    world: World
    clock: FixedClock
    fleets: Fleets
    metrics: Metrics
    diary: Diary
    runs: Runs

    def outcomes(self, half: Half) -> dict[str, float]:
        """How often each outcome came, of those that came."""
        counts = {
            str(outcome): self.metrics.registry.get_sample_value("forecaster_runs_total", {"verb": half, "outcome": outcome})
            for outcome in Outcome
        }
        return {name: count for name, count in counts.items() if count}

    def last(self, half: Half) -> str:
        """What the last run said of itself."""
        run = self.diary.last(half)
        assert run is not None
        return run.sentence

    def wait(self, span: timedelta) -> None:
        """Let time pass."""
        self.clock.sleep_until(self.clock.now() + span)


@contextmanager
def started(world: World) -> Iterator[Parts]:
    clock, metrics, diary = FixedClock(NOW), Metrics(), Diary(NOW)
    fleets = Fleets(world.folder, read_config(world.path), NOW)
    runs = Runs(fleets, clock, metrics, diary)
    yield Parts(world=world, clock=clock, fleets=fleets, metrics=metrics, diary=diary, runs=runs)
    fleets.close()


@pytest.fixture
def parts(world: World) -> Iterator[Parts]:
    world.workload("chat")
    with started(world) as parts:
        yield parts


def test_a_forecast_is_made_once_an_interval(parts: Parts) -> None:
    assert parts.runs.forecast()
    for _ in range(3):
        parts.wait(POLL)
        assert not parts.runs.forecast()
    assert parts.outcomes(Half.FORECAST) == {"done": 1}
    parts.wait(HOUR)
    assert parts.runs.forecast()
    assert parts.last(Half.FORECAST) == "plans made: 1, awaiting approval: 0"


def test_young_plans_of_another_process_put_the_forecast_off_until_they_are_old(parts: Parts) -> None:
    with parts.world.fleet() as other:
        forecast_fleet(other, NOW - HOUR / 2)
    assert not parts.runs.forecast()
    assert parts.diary.succeeded_at(Half.FORECAST) == NOW - HOUR / 2
    parts.wait(HOUR / 2)
    assert parts.runs.forecast()


def test_while_another_process_has_the_lease_runs_are_skipped_and_the_next_look_goes_on(parts: Parts) -> None:
    for half, run in ((Half.FORECAST, parts.runs.forecast), (Half.APPLY, parts.runs.apply)):
        lease = open_lease(parts.fleets.current.store_url, half.value)
        assert lease.try_acquire()
        run()
        lease.release()
        assert parts.outcomes(half) == {"skipped": 1}
        assert parts.diary.succeeded_at(half) is None
        parts.wait(POLL)
        run()
        assert parts.outcomes(half) == {"skipped": 1, "done": 1}


def test_a_store_error_is_a_failed_run_and_the_next_look_tries_again(parts: Parts) -> None:
    for half, run in ((Half.FORECAST, parts.runs.forecast), (Half.APPLY, parts.runs.apply)):
        in_the_way = parts.world.folder / f"forecaster.db.{half}.lock"
        in_the_way.mkdir()
        run()
        in_the_way.rmdir()
        assert parts.outcomes(half) == {"failed": 1}
        assert "cannot be opened" in parts.last(half)
        assert parts.metrics.registry.get_sample_value("forecaster_failures_total", {"verb": half, "error": "StoreError"}) == 1
        parts.wait(POLL)
        run()
        assert parts.outcomes(half) == {"failed": 1, "done": 1}


def test_an_apply_that_could_decide_nothing_has_failed_and_says_why(parts: Parts) -> None:
    parts.world.api.delete_hpa("serving", "chat")
    parts.runs.apply()
    assert parts.outcomes(Half.APPLY) == {"failed": 1}
    assert "failures: 1; the first: kubernetes-hpa:serving/chat was not observed" in parts.last(Half.APPLY)


def test_an_apply_that_could_decide_something_is_partly_done(world: World) -> None:
    world.workload("chat")
    world.workload("gone")
    world.api.delete_hpa("serving", "gone")
    with started(world) as parts:
        parts.runs.apply()
        assert parts.outcomes(Half.APPLY) == {"partly": 1}


def test_a_changed_configuration_is_forecast_at_once_and_the_same_one_is_not(parts: Parts) -> None:
    parts.runs.forecast()
    parts.wait(POLL)
    path = parts.world.path
    assert reload(path, parts.fleets, parts.metrics, parts.clock)
    assert not parts.runs.forecast()
    parts.world.config["forecast"] = {"model": "seasonal_naive"}
    assert reload(parts.world.path, parts.fleets, parts.metrics, parts.clock)
    assert parts.runs.forecast()
    parts.wait(POLL)
    assert not parts.runs.forecast()


def test_a_refused_configuration_leaves_the_fleet_as_it_was(parts: Parts) -> None:
    before = parts.fleets.current
    parts.world.config["store"] = "sqlite:///nowhere/forecaster.db"
    assert not reload(parts.world.path, parts.fleets, parts.metrics, parts.clock)
    assert parts.fleets.current is before
    assert parts.metrics.registry.get_sample_value("forecaster_config_last_reload_successful") == 0
    parts.runs.apply()
    assert parts.outcomes(Half.APPLY) == {"done": 1}


def test_after_the_end_no_run_begins(parts: Parts) -> None:
    assert parts.runs.end(0)
    parts.runs.apply()
    parts.runs.forecast()
    assert (parts.outcomes(Half.APPLY), parts.outcomes(Half.FORECAST)) == ({}, {})


def test_the_end_waits_for_a_run_at_work_and_for_no_longer_than_it_was_told(world: World) -> None:
    with loopback_prometheus(Reply(never=True)) as silent:
        world.workload("chat")
        world.config["sources"] = {"trace-chat": {"type": "prometheus", "url": silent.url, "attempts": 1}}
        with started(world) as parts:
            at_work = Thread(target=parts.runs.apply)
            at_work.start()
            while not silent.asked:
                time.sleep(0.01)
            assert not parts.runs.end(0)
            silent.close()
            assert parts.runs.end(60)
            at_work.join()
            assert parts.outcomes(Half.APPLY) == {"partly": 1}

"""Ready replicas as a history: one look a bucket, unknown where nobody looked."""

from datetime import datetime, timedelta

import numpy as np

from forecaster.keep import Keep
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S
from jobs.apply import apply_fleet
from jobs.fleet import Fleet
from jobs.ready import ready_replicas
from tests.jobs.world import NOW, World

BUCKET = timedelta(minutes=5)


def watched(world: World, *, replicas: int = 3) -> None:
    world.workload("chat", mode="observe")
    world.api.add_workload("serving", "llm", replicas=replicas, ready=replicas)


def kept(fleet: Fleet, start: datetime = NOW, buckets: int = 1) -> Series:
    return ready_replicas(fleet.store).of("chat", "gpu", Window(start=start, end=start + buckets * BUCKET), 300)


def test_what_was_ready_is_kept_by_the_bucket_also_in_observe(world: World) -> None:
    watched(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert kept(fleet).mean.tolist() == [3.0]


def test_a_bucket_keeps_its_first_look_and_the_next_one_has_its_own(world: World) -> None:
    watched(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    world.api.add_workload("serving", "llm", replicas=5, ready=4)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW + timedelta(minutes=1))
        apply_fleet(fleet, NOW + BUCKET)
        assert kept(fleet, buckets=2).mean.tolist() == [3.0, 4.0]


def test_where_the_target_does_not_say_nothing_is_kept(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert np.isnan(kept(fleet).mean).all()


def test_a_bucket_in_which_the_target_could_not_be_read_is_looked_at_again(world: World) -> None:
    watched(world)
    world.api.fail_next(403, verb="get", plural="horizontalpodautoscalers")
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert np.isnan(kept(fleet).mean).all()
        apply_fleet(fleet, NOW + timedelta(minutes=1))
        assert kept(fleet).mean.tolist() == [3.0]


def test_looks_of_many_hours_are_all_there_and_most_of_them_as_history(world: World) -> None:
    watched(world)
    with world.fleet() as fleet:
        for bucket in range(30):
            apply_fleet(fleet, NOW + bucket * BUCKET)
        assert kept(fleet, buckets=30).mean.tolist() == [3.0] * 30
        written = fleet.store.history("chat/gpu", Signal.READY, Window(start=NOW, end=NOW + 30 * BUCKET), 300)
        assert np.count_nonzero(~np.isnan(written.mean)) >= 18


def test_what_was_noted_of_a_workload_that_left_goes_into_its_history(world: World) -> None:
    watched(world)
    world.workload("search", mode="observe")
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    del world.config["workloads"][0]  # type: ignore[attr-defined]  # the file as it will be written
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW + timedelta(hours=4))
        assert fleet.store.history("chat/gpu", Signal.READY, Window(start=NOW, end=NOW + BUCKET), 300).mean.tolist() == [3.0]


def test_a_run_for_the_past_notes_nothing(world: World) -> None:
    watched(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        apply_fleet(fleet, NOW - BUCKET)
        assert np.isnan(kept(fleet, NOW - BUCKET).mean).all()


def test_ready_replicas_are_pruned_as_history_is(world: World) -> None:
    watched(world)
    with world.fleet() as fleet:
        for bucket in range(12):
            apply_fleet(fleet, NOW + bucket * BUCKET)
        assert fleet.store.prune(Keep(history_s=14 * DAY_S), NOW + timedelta(days=20)).history >= 1

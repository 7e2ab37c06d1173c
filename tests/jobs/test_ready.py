"""Ready replicas as a history: one look a bucket, unknown where nobody looked."""

from datetime import datetime, timedelta

import numpy as np

from forecaster.series import Series, Window
from jobs.apply import apply_fleet
from jobs.fleet import Fleet
from jobs.ready import ready
from tests.jobs.world import NOW, World

BUCKET = timedelta(minutes=5)


def watched(world: World, *, replicas: int = 3) -> None:
    world.workload("chat", mode="observe")
    world.api.add_workload("serving", "llm", replicas=replicas, ready=replicas)


def kept(fleet: Fleet, start: datetime = NOW, buckets: int = 1) -> Series:
    return ready(fleet.store, "chat", "gpu", Window(start=start, end=start + buckets * BUCKET), 300)


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

"""The ledger of a fleet from its store: ramps as they were asked for, due and there."""

from datetime import timedelta

import pytest

from forecaster.errors import NothingKept
from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from jobs.ledger import ledger
from jobs.telemetry.metrics import Metrics
from tests.jobs.kept_days import seen_ready, watched_days
from tests.jobs.world import NOW, World

TEN = NOW.replace(hour=10, minute=0)
HPA = {"workload": "chat", "pool": "gpu", "target": "kubernetes-hpa:serving/chat"}


def test_the_ramp_of_a_morning_is_told_with_when_it_was_asked_for_due_and_there(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        watched_days(fleet, TEN, 1, every=timedelta(minutes=5))
        seen_ready(fleet.store, [2.0] * 258 + [12.0] * 30, TEN)  # all there from half past seven on
        found = ledger(fleet.store, fleet.members, TEN, 1)
    (page,) = found.pages
    morning = page.ramps[-1]
    assert morning.replicas == world.floor("chat")
    assert (morning.due - morning.asked) == timedelta(minutes=10)
    assert morning.in_time is True
    assert morning.told.startswith(f"needed {morning.replicas} ready by ")
    assert page.held.shortfall is not None
    assert page.held.binding is not None


def test_a_workload_that_is_only_observed_was_asked_for_nothing(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        watched_days(fleet, TEN, 1)
        with pytest.raises(NothingKept, match="chat: no floor was written in this time"):
            ledger(fleet.store, fleet.members, TEN, 1)


def test_one_workload_without_a_page_does_not_hide_another(world: World) -> None:
    world.workload("chat")
    world.workload("watched", mode="observe")
    with world.fleet() as fleet:
        watched_days(fleet, TEN, 1)
        found = ledger(fleet.store, fleet.members, TEN, 1)
    assert [page.workload for page in found.pages] == ["chat"]
    assert found.left_out == ("watched: no floor was written in this time",)


def test_what_is_due_and_short_is_counted_as_time_goes_by(world: World) -> None:
    world.workload("chat")
    world.api.add_workload("serving", "llm", replicas=20, ready=2)
    metrics = Metrics()
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        for minutes in range(0, 25, 5):
            now = NOW + timedelta(minutes=minutes)
            metrics.record_cycles(apply_fleet(fleet, now), now)
    counted = {
        name: metrics.registry.get_sample_value(f"forecaster_{name}_replica_seconds_total", HPA)
        for name in ("due", "shortfall", "floor_binding", "floor_wasted")
    }
    due, short = counted["due"], counted["shortfall"]
    assert due is not None
    assert short is not None
    assert due > short > 0
    assert due - short == 2 * 300 * 3  # two are ready, and floors are due from the third run on
    assert counted["floor_binding"] == pytest.approx(sum_of_floors(world), rel=0.5)
    overdue = metrics.registry.get_sample_value("forecaster_overdue_replicas", HPA)
    assert overdue is not None
    assert overdue > 0


def sum_of_floors(world: World) -> float:
    """About what stood above the original for the twenty minutes that were counted."""
    return (world.floor("chat") - 2) * 1_200

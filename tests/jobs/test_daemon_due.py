"""A forecast is due one interval after the last one, whoever made it."""

from datetime import timedelta

from jobs.daemon.due import POLL_S, is_due, last_planned
from jobs.forecast import forecast_fleet
from tests.jobs.world import NOW, World

EVERY_S = 3_600.0
EVERY = timedelta(seconds=EVERY_S)
POLL = timedelta(seconds=POLL_S)


def test_without_any_forecast_one_is_due() -> None:
    assert is_due(None, None, EVERY_S, NOW)


def test_one_is_due_at_the_look_nearest_to_the_interval() -> None:
    assert not is_due(NOW, None, EVERY_S, NOW + EVERY - POLL)
    assert is_due(NOW, None, EVERY_S, NOW + EVERY - POLL / 2)
    assert is_due(NOW, None, EVERY_S, NOW + 10 * EVERY)


def test_one_from_before_the_configuration_changed_does_not_count() -> None:
    assert is_due(NOW, NOW + POLL, EVERY_S, NOW + POLL)
    assert not is_due(NOW + POLL, NOW + POLL, EVERY_S, NOW + 2 * POLL)


def test_the_fleet_was_planned_when_its_least_lately_planned_workload_was(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        assert last_planned(fleet, NOW, EVERY_S) is None
        forecast_fleet(fleet, NOW - EVERY / 2)
        forecast_fleet(fleet, NOW - EVERY / 4)
        assert last_planned(fleet, NOW, EVERY_S) == NOW - EVERY / 4
    world.workload("code")
    with world.fleet() as fleet:
        assert last_planned(fleet, NOW, EVERY_S) is None


def test_plans_older_than_the_interval_need_not_be_read(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW - EVERY)
        assert last_planned(fleet, NOW + timedelta(seconds=1), EVERY_S) is None

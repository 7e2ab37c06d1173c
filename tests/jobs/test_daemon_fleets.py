"""One fleet is in force; the one before it stays open for the runs that are at work on it."""

from collections.abc import Iterator

import pytest

from forecaster.errors import ConfigRejected, StoreError
from jobs.config.reading import read_config
from jobs.daemon.fleets import Fleets
from tests.jobs.world import NOW, World


@pytest.fixture
def fleets(world: World) -> Iterator[Fleets]:
    world.workload("chat")
    fleets = Fleets(world.folder, read_config(world.path), NOW)
    yield fleets
    fleets.close()


def test_the_fleet_before_is_closed_when_the_last_run_on_it_has_ended(world: World, fleets: Fleets) -> None:
    closed: list[str] = []
    fleets.current.closing.callback(closed.append, "first")
    world.workload("code")
    with fleets.in_force() as first, fleets.in_force():
        fleets.replace(read_config(world.path), NOW)
        assert fleets.current.workloads == {"chat", "code"}
        assert first.workloads == {"chat"}
        with fleets.in_force() as second:
            assert second is fleets.current
        assert closed == []
    assert closed == ["first"]


def test_a_fleet_that_nobody_works_on_is_closed_at_once(world: World, fleets: Fleets) -> None:
    closed: list[str] = []
    fleets.current.closing.callback(closed.append, "first")
    fleets.replace(read_config(world.path), NOW)
    assert closed == ["first"]


def test_plans_count_from_the_change_of_the_configuration_and_not_from_a_reload_of_the_same(world: World, fleets: Fleets) -> None:
    assert fleets.current.changed_at is None
    fleets.replace(read_config(world.path), NOW)
    assert fleets.current.changed_at is None
    world.workload("code")
    fleets.replace(read_config(world.path), NOW)
    assert fleets.current.changed_at == NOW


def test_a_fleet_that_cannot_be_opened_changes_nothing(world: World, fleets: Fleets) -> None:
    before = fleets.current
    world.config["store"] = "sqlite:///nowhere/forecaster.db"
    with pytest.raises(StoreError, match="nowhere"):
        fleets.replace(read_config(world.path), NOW)
    assert fleets.current is before


def test_a_store_in_memory_is_not_thrown_away_by_a_reload(world: World) -> None:
    world.workload("chat")
    world.config["store"] = "memory:"
    fleets = Fleets(world.folder, read_config(world.path), NOW)
    with pytest.raises(ConfigRejected, match="would forget every plan"):
        fleets.replace(read_config(world.path), NOW)
    fleets.close()

"""Objects that templates stand for come and go while the daemon runs."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from jobs.clock import FixedClock
from jobs.config.reading import read_config
from jobs.daemon.fleets import Fleets
from jobs.daemon.reload import RETRY_S, look_again
from jobs.daemon.runs import Runs
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.runs import Diary, Half, Outcome
from tests.jobs.world import NOW, World

HOUR = timedelta(hours=1)
SOON = timedelta(seconds=RETRY_S)


@pytest.fixture
def labelled(world: World) -> World:
    """A fleet of one workload for each HPA that carries the label; there is one."""
    cluster = {"server": world.api.url}
    world.config |= {
        "sources": {"trace": {"type": "csv", "path": "load.csv"}},
        "templates": [
            {
                "for_each": {"type": "kubernetes-hpa", "label_selector": "tier=gold", "cluster": cluster},
                "workload": {
                    "name": "{name}",
                    "source": "trace",
                    "signals": {"rpm": {"query": "value", "unit": "count"}},
                    "pools": [
                        {
                            "name": "gpu",
                            "capacity": {"rpm": 100},
                            "targets": [{"type": "kubernetes-hpa", "namespace": "{namespace}", "name": "{name}", "cluster": cluster}],
                        }
                    ],
                    "policy": {"mode": "auto"},
                },
            }
        ],
    }
    add_hpa(world, "chat")
    return world


def add_hpa(world: World, name: str) -> None:
    world.api.add_hpa("serving", name, min_replicas=2, max_replicas=40, labels={"tier": "gold"})


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def fleets(labelled: World) -> Iterator[Fleets]:
    fleets = Fleets(labelled.folder, read_config(labelled.path), NOW)
    yield fleets
    fleets.close()


def test_objects_are_looked_up_again_before_a_forecast_and_new_ones_are_in_it(labelled: World, fleets: Fleets, clock: FixedClock) -> None:
    metrics, diary = Metrics(), Diary(NOW)
    runs = Runs(fleets, clock, metrics, diary)
    runs.forecast()
    add_hpa(labelled, "code")
    clock.sleep_until(NOW + HOUR / 2)
    runs.forecast()
    assert fleets.current.workloads == {"chat"}
    clock.sleep_until(NOW + HOUR)
    runs.forecast()
    runs.apply()
    assert fleets.current.workloads == {"chat", "code"}
    assert labelled.floor("code") == labelled.floor("chat") > 2
    assert metrics.registry.get_sample_value("forecaster_runs_total", {"verb": Half.FORECAST, "outcome": Outcome.DONE}) == 2
    assert metrics.registry.get_sample_value("forecaster_workloads") == 2


def test_an_object_that_is_gone_leaves_the_fleet(labelled: World, fleets: Fleets, clock: FixedClock) -> None:
    add_hpa(labelled, "code")
    fleets.refresh(NOW)
    assert fleets.current.workloads == {"chat", "code"}
    labelled.api.delete_hpa("serving", "code")
    clock.sleep_until(NOW + HOUR)
    look_again(fleets, Metrics(), clock)
    assert fleets.current.workloads == {"chat"}


def test_an_api_server_that_refuses_the_list_takes_nobody_away_and_is_asked_again_soon(
    labelled: World, fleets: Fleets, clock: FixedClock
) -> None:
    add_hpa(labelled, "code")
    labelled.api.fail_next(403, verb="list")
    clock.sleep_until(NOW + HOUR)
    look_again(fleets, Metrics(), clock)
    assert fleets.current.workloads == {"chat"}
    clock.sleep_until(NOW + HOUR + SOON)
    look_again(fleets, Metrics(), clock)
    assert fleets.current.workloads == {"chat", "code"}


def test_a_start_without_sight_of_the_cluster_finds_the_objects_soon_after(labelled: World, clock: FixedClock) -> None:
    labelled.api.fail_next(403, verb="list")
    fleets, metrics = Fleets(labelled.folder, read_config(labelled.path), NOW), Metrics()
    assert fleets.current.workloads == frozenset()
    assert "tier=gold" in fleets.current.problems[0]
    runs = Runs(fleets, clock, metrics, Diary(NOW))
    runs.forecast()
    clock.sleep_until(NOW + SOON)
    runs.forecast()
    runs.apply()
    assert labelled.floor("chat") > 2
    assert metrics.registry.get_sample_value("forecaster_template_problems") == 0
    fleets.close()


def test_a_fleet_without_templates_is_not_opened_again(world: World, clock: FixedClock) -> None:
    world.workload("chat")
    fleets = Fleets(world.folder, read_config(world.path), NOW)
    before = fleets.current
    clock.sleep_until(NOW + 10 * HOUR)
    look_again(fleets, Metrics(), clock)
    assert fleets.current is before
    fleets.close()

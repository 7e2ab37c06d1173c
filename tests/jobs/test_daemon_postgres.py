"""The daemon on PostgreSQL: leases between machines, and a database that goes away."""

import pytest

from connectors.leases.opening import open_lease
from connectors.stores.migrate import migrate
from jobs.clock import SystemClock
from tests.jobs.daemon_process import daemon, load_to
from tests.jobs.world import World, write_trace
from tests.postgres import Postgres

pytest_plugins = ("tests.postgres",)


@pytest.fixture
def on_postgres(world: World, postgres_url: str) -> World:
    """One workload with load up to now, and a migrated database."""
    migrate(postgres_url)
    write_trace(world.folder / "load.csv", load_to(SystemClock().now()))
    world.config |= {"store": postgres_url, "apply": {"every": "5s"}, "daemon": {"port": 0}}
    world.workload("chat")
    return world


def test_k48_a_database_that_goes_away_fails_runs_and_the_daemon_goes_on_when_it_is_back(
    on_postgres: World, postgres_url: str, postgres: Postgres
) -> None:
    database = postgres_url.rsplit("/", 1)[1]
    with daemon(on_postgres.path) as running:
        running.until("forecaster_planned_floor_replicas", 0, workload="chat")
        floor = on_postgres.floor("chat")
        postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
        postgres.end_sessions(postgres_url)
        running.until("forecaster_failures_total", 0, verb="apply", error="StoreError")
        postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
        running.until_one_more("forecaster_runs_total", verb="apply", outcome="done")
        assert on_postgres.floor("chat") >= floor
        running.stop()
    assert "right" not in running.text  # the password


def test_k45_while_another_machine_holds_the_lease_nothing_is_written(on_postgres: World, postgres_url: str) -> None:
    lease = open_lease(postgres_url, "apply")
    assert lease.try_acquire()
    with daemon(on_postgres.path) as running:
        running.until("forecaster_runs_total", 0, verb="apply", outcome="skipped")
        assert on_postgres.floor("chat") == 2
        lease.release()
        running.until("forecaster_runs_total", 0, verb="apply", outcome="done")
        running.stop()
    assert on_postgres.floor("chat") > 2

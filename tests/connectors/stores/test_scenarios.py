"""What happened to other autoscalers' stores and must not happen to this one."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.stores.engine import open_engine, reading, writing
from connectors.stores.opening import open_store
from forecaster.errors import StoreError
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S
from tests.contracts.store import NOW, after, forecast, plan, record, same, series, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

FULL_SQLITE = """
    CREATE TRIGGER full_{table} BEFORE INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > 0
    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END
"""
FULL_POSTGRESQL = """
    CREATE FUNCTION refuse_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM {table}) > 0 THEN RAISE EXCEPTION 'could not extend file: No space left on device'; END IF;
    RETURN NEW; END $$;
    CREATE TRIGGER full_{table} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_{table}()
"""


def _fill_disk_at_second_row(url: str) -> None:
    """From the second row on, the database itself refuses every table."""
    engine = open_engine(url)
    with writing(engine) as connection:
        statements = FULL_SQLITE if engine.dialect.name == "sqlite" else FULL_POSTGRESQL
        for table in ("history", "forecasts", "plans", "records"):
            connection.exec_driver_sql(statements.format(table=table))
    engine.dispose()


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes: what a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_k48_a_write_that_fails_half_way_is_an_error_and_leaves_nothing(database_url: str) -> None:
    _fill_disk_at_second_row(database_url)
    store = open_store(database_url)
    with pytest.raises(StoreError, match="full"):
        store.append_history("chat", series([1.0] * 300))
    with pytest.raises(StoreError, match="full"):
        store.append_forecasts([("chat", forecast(after(s))) for s in (0, 300)])
    with pytest.raises(StoreError, match="full"):
        store.append_plans([plan(after(s)) for s in (0, 300)])
    with pytest.raises(StoreError, match="full"):
        store.append_records([record(after(s)) for s in (0, 15)])
    day = span(-DAY_S, DAY_S)
    assert np.isnan(store.history("chat", Signal.RPM, day, 300).mean).all()
    assert store.forecasts("chat", Signal.RPM, day) == ()
    assert store.plans("chat", "h100", day) == ()
    assert store.records("chat", day) == ()
    store.close()


def test_k48_a_full_disk_is_named_and_what_stood_before_stands(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.db"
    store = open_store(f"sqlite:///{path}")
    store.append_plans([plan()])
    noise = np.random.default_rng(1).lognormal(5, 1, 60 * 288)
    with _largest_file(2 * path.stat().st_size), pytest.raises(StoreError, match="nothing was half written") as refused:
        store.append_history("chat", Series(signal=Signal.RPM, start=NOW, step_s=300, mean=noise, peak=noise))
    assert f"the store sqlite:///{path} cannot " in str(refused.value)
    assert np.isnan(store.history("chat", Signal.RPM, span(0, 60 * DAY_S), 300).mean).all()
    assert same(store.plans("chat", "h100", span(0, 1)), (plan(),))
    store.append_plans([plan(after(60))])
    assert len(store.plans("chat", "h100", span(0, 120))) == 2
    store.close()


def test_k49_a_week_at_15_s_of_many_workloads_is_kept_whole_in_rows_of_a_day(database_url: str) -> None:
    """Elsewhere all targets shared one object of limited size; here no row grows with their number or with time."""
    week = 7 * DAY_S // 15
    midnight = NOW.replace(hour=0)
    counts = 4.0 * np.random.default_rng(1).poisson(50, (10, week))
    measured = {
        f"chat-{number}": Series(signal=Signal.RPM, start=midnight, step_s=15, mean=row, peak=row) for number, row in enumerate(counts)
    }
    store = open_store(database_url)
    for workload, one in measured.items():
        store.append_history(workload, one)
    window = Window(start=midnight, end=midnight + timedelta(days=7))
    assert all(store.history(workload, Signal.RPM, window, 15) == one for workload, one in measured.items())
    store.close()
    assert _row_count(database_url) == 10 * 7


def _row_count(url: str) -> int:
    engine = open_engine(url)
    with reading(engine) as connection:
        count: int = connection.exec_driver_sql("SELECT count(*) FROM history").scalar_one()
    engine.dispose()
    return count

"""How fast the store answers, and how much room it takes.

Goals: 8 weeks of 5-minute history of one signal in at most 20 ms from SQLite and 30 ms from PostgreSQL on loopback.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from pytest import skip  # noqa: PT013  only its exception, which says what to install

from benchmarks.figures import Figure
from connectors.stores.engine import open_engine, reading
from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from forecaster.series import Series, Signal, Window
from tests.postgres import running
from tests.services import program

START = datetime(2026, 3, 2, tzinfo=UTC)
WEEKS, STEP_S = 8, 300
ROUNDS = 20


def figures() -> Iterator[Figure]:
    """Loading and appending 8 weeks of 5-minute history of one signal, and the bytes that a bucket takes."""
    with TemporaryDirectory() as directory:
        yield from measured("SQLite", f"sqlite:///{directory}/forecaster.db", goal_ms=20)
    try:
        with fresh_postgres() as url:
            yield from measured("PostgreSQL", url, goal_ms=30)
    except skip.Exception as missing:
        yield Figure(name="8 weeks of history from PostgreSQL", value=None, unit="ms", goal=30, note=str(missing.msg))


def measured(name: str, url: str, *, goal_ms: float) -> Iterator[Figure]:
    """One store."""
    migrate(url)
    with closing(open_store(url)) as store:
        history = day_cycle()
        window = Window(start=history.start, end=history.end)
        append_ms = once_ms(lambda: store.append_history("chat", history))
        load_ms = median(once_ms(lambda: store.history("chat", Signal.RPM, window, STEP_S)) for _ in range(ROUNDS))
    yield Figure(name=f"8 weeks of history from {name}", value=load_ms, unit="ms", goal=goal_ms)
    yield Figure(name=f"8 weeks of history into {name}", value=append_ms, unit="ms")
    yield Figure(name=f"size of a bucket in {name}", value=payload_bytes(url) / len(history), unit="bytes")


def day_cycle() -> Series:
    """Requests per minute with a daily cycle: means of five minutes, and the largest minute of each."""
    n = WEEKS * 7 * 86_400 // STEP_S
    expected = 3_000 * (1.2 + np.sin(np.arange(n) * STEP_S / 86_400 * 2 * np.pi))
    minutes = np.random.default_rng(1).poisson(expected[:, None], (n, 5))
    return Series(signal=Signal.RPM, start=START, step_s=STEP_S, mean=minutes.mean(axis=1), peak=minutes.max(axis=1))


def once_ms(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return (perf_counter() - start) * 1_000


def payload_bytes(url: str) -> int:
    engine = open_engine(url)
    with reading(engine) as connection:
        total: int = connection.exec_driver_sql("SELECT sum(length(payload)) FROM history").scalar_one()
    engine.dispose()
    return total


@contextmanager
def fresh_postgres() -> Iterator[str]:
    with running(program("initdb", "postgresql"), program("postgres", "postgresql")) as server:
        yield server.url("postgres")

"""What every source promises: one history, kept by each kind of store, asked the same questions."""

import math
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest

from connectors.sources.cloudwatch import CloudWatchConfig
from connectors.sources.csv import CsvConfig
from connectors.sources.datadog import DatadogConfig
from connectors.sources.prometheus import PrometheusConfig
from connectors.sources.registry import OpenedSource, open_source
from connectors.sources.sql import SqlConfig
from forecaster.errors import SourceError, SourceRejected
from forecaster.ports import Query, SecondSource, Unit
from forecaster.series import Signal, Window
from forecaster.units import iso
from tests.cloudwatch import REGION, cloudwatch_to_ask
from tests.loopback_datadog import API_KEY, APPLICATION_KEY, holding
from tests.loopback_prometheus import loopback_prometheus
from tests.postgres import Postgres
from tests.prometheus import gauge, prometheus_server
from tests.services import free_port

pytest_plugins = ("tests.postgres",)

START = datetime(2024, 5, 12, tzinfo=UTC)
NAN = math.nan
SELECT = "SELECT at, {} FROM history WHERE at >= :start AND at < :end"

HISTORY: dict[str, tuple[float | None, ...]] = {
    "load": tuple(float(10 * i) for i in range(60)),
    "gappy": (1.0, None, 3.0, None, None, 6.0, 7.0, 8.0, None, None, None, None),
    "dirty": (5.0, math.inf, -math.inf, NAN, -1.0, 0.0, 7.0),
}
"""Each column's or metric's minutes from START; None = nothing was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A source that holds HISTORY, and how it is asked for a part of it."""

    source: OpenedSource
    absent: OpenedSource
    expression: Callable[[str], str]

    def query(self, name: str, signal: Signal = Signal.RPM, unit: Unit = Unit.PER_MINUTE) -> Query:
        return Query(signal=signal, expression=self.expression(name), unit=unit)


@pytest.fixture(scope="module")
def csv_history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("csv")
    (folder / "history.csv").write_text(_csv())
    source = open_source(CsvConfig(type="csv", path=folder / "history.csv"))
    yield Recorded(source=source, absent=open_source(CsvConfig(type="csv", path=folder / "absent.csv")), expression=str)
    source.close()


@pytest.fixture(scope="module")
def prometheus_history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    text = "".join(gauge(name, START, values) for name, values in HISTORY.items())
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), text) as url:
        source = open_source(PrometheusConfig(type="prometheus", url=url))
        absent = open_source(PrometheusConfig(type="prometheus", url=f"http://127.0.0.1:{free_port()}", attempts=1))
        # a range just under a minute shows the gaps that the 5-minute look-back of a bare selector hides
        yield Recorded(source=source, absent=absent, expression=lambda name: f"last_over_time({name}[59s])")
        source.close()
        absent.close()


@pytest.fixture(scope="module")
def cloudwatch_history() -> Iterator[Recorded]:
    with cloudwatch_to_ask(START + timedelta(hours=2)) as double:
        for name, values in HISTORY.items():
            double.record("Test", name, START, [value if value is not None and math.isfinite(value) else None for value in values])
        config = {"type": "cloudwatch", "region": REGION}
        source = open_source(CloudWatchConfig.model_validate({**config, "endpoint_url": double.url}))
        absent = open_source(CloudWatchConfig.model_validate({**config, "endpoint_url": f"http://127.0.0.1:{free_port()}"}))
        yield Recorded(source=source, absent=absent, expression=lambda name: f"metric(Test {name} Sum)")
        source.close()


@pytest.fixture(scope="module")
def sqlite_history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("sqlite")
    with sqlite3.connect(folder / "history.db") as database:
        database.execute(f"CREATE TABLE history (at TEXT, {', '.join(HISTORY)})")
        database.executemany("INSERT INTO history VALUES (?, ?, ?, ?)", [(f"{at:%Y-%m-%d %H:%M:%S}", *cells) for at, cells in _rows()])
    database.close()
    yield from _in_sql(f"sqlite:///{folder / 'history.db'}", f"sqlite:///{folder / 'absent.db'}")


@pytest.fixture(scope="module")
def postgres_history(postgres: Postgres) -> Iterator[Recorded]:
    postgres.execute("CREATE DATABASE history TEMPLATE template0")
    url = postgres.url("history")
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE TABLE history (at timestamptz, {', '.join(f'{name} float' for name in HISTORY)})".encode())
        connection.cursor().executemany("INSERT INTO history VALUES (%s, %s, %s, %s)", [(at, *cells) for at, cells in _rows()])
    yield from _in_sql(url, f"postgresql://reader:secret@127.0.0.1:{free_port()}/history")
    postgres.execute("DROP DATABASE history WITH (FORCE)")


def _in_sql(url: str, absent_url: str) -> Iterator[Recorded]:
    source, absent = (open_source(SqlConfig.model_validate({"type": "sql", "url": each})) for each in (url, absent_url))
    yield Recorded(source=source, absent=absent, expression=SELECT.format)
    source.close()
    absent.close()


@pytest.fixture(scope="module")
def datadog_history() -> Iterator[Recorded]:
    finite = {name: [value if value is not None and math.isfinite(value) else None for value in values] for name, values in HISTORY.items()}
    config = {"type": "datadog", "api_key": API_KEY, "application_key": APPLICATION_KEY, "attempts": 1}
    with loopback_prometheus(holding(START, finite)) as double:
        source = open_source(DatadogConfig.model_validate({**config, "url": double.url}))
        absent = open_source(DatadogConfig.model_validate({**config, "url": f"http://127.0.0.1:{free_port()}"}))
        yield Recorded(source=source, absent=absent, expression=lambda name: f"sum:{name}{{*}}.rollup(sum, 60)")
        source.close()
        absent.close()


@pytest.fixture(params=["csv", "prometheus", "cloudwatch", "sqlite", "postgres", "datadog"])
def recorded(request: pytest.FixtureRequest) -> Recorded:
    recorded: Recorded = request.getfixturevalue(f"{request.param}_history")
    return recorded


def _rows() -> list[tuple[datetime, tuple[float | None, ...]]]:
    length = max(map(len, HISTORY.values()))
    columns = [(*values, *[None] * (length - len(values))) for values in HISTORY.values()]
    return [(START + timedelta(minutes=i), cells) for i, cells in enumerate(zip(*columns, strict=True))]


def _csv() -> str:
    rows = [",".join([iso(at), *("" if cell is None else str(cell) for cell in cells)]) for at, cells in _rows()]
    return "\n".join([f"timestamp,{','.join(HISTORY)}", *rows]) + "\n"


def minutes(first: float, last: float) -> Window:
    return Window(start=START + timedelta(minutes=first), end=START + timedelta(minutes=last))


def test_the_buckets_of_the_window_are_answered_and_no_others(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(10, 15), 60)
    assert (series.signal, series.start, series.step_s) == (Signal.RPM, START + timedelta(minutes=10), 60)
    assert series.mean.tolist() == [100, 110, 120, 130, 140]
    assert series.peak.tolist() == [100, 110, 120, 130, 140]


def test_gaps_are_nan_and_never_zero(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("gappy"), minutes(0, 8), 60)
    np.testing.assert_array_equal(series.mean, [1, NAN, 3, NAN, NAN, 6, 7, 8])


def test_infinite_negative_and_nan_readings_are_not_measured_and_zero_is(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("dirty"), minutes(0, 7), 60)
    np.testing.assert_array_equal(series.mean, [5, NAN, NAN, NAN, NAN, 0, 7])


@pytest.mark.parametrize("window", [minutes(-120, -60), minutes(600, 720)], ids=["before", "after"])
def test_a_window_outside_of_the_history_is_unknown_throughout(recorded: Recorded, window: Window) -> None:
    series = recorded.source.fetch(recorded.query("load"), window, 300)
    assert (series.start, series.end) == (window.start, window.end)
    assert np.isnan(series.mean).all()


def test_a_window_that_begins_before_the_history_is_unknown_until_then(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(-2, 2), 60)
    np.testing.assert_array_equal(series.mean, [NAN, NAN, 0, 10])


def test_a_coarser_step_gives_the_mean_and_the_largest_minute(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(0, 15), 300)
    assert series.mean.tolist() == [20, 70, 120]
    assert series.peak.tolist() == [40, 90, 140]


def test_a_coarser_bucket_counts_when_at_least_half_of_it_was_measured(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("gappy"), minutes(0, 12), 240)
    np.testing.assert_array_equal(series.mean, [2, 7, NAN])
    np.testing.assert_array_equal(series.peak, [3, 8, NAN])


def test_a_finer_step_repeats_the_rate(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(1, 3), 20)
    assert series.mean.tolist() == [10, 10, 10, 20, 20, 20]


def test_a_history_of_minutes_tells_no_second(recorded: Recorded) -> None:
    if isinstance(recorded.source, SecondSource):
        told = recorded.source.seconds(recorded.query("load"), minutes(0, 60))
        assert told.series is None
        assert told.grain_s in {None, 60}


def test_a_step_that_straddles_minutes_averages_their_parts(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(0, 3), 90)
    np.testing.assert_allclose(series.mean, [10 / 3, 50 / 3])


def test_a_minute_that_has_not_ended_by_the_end_of_the_window_is_not_known(recorded: Recorded) -> None:
    series = recorded.source.fetch(recorded.query("load"), minutes(1, 2.5), 30)
    np.testing.assert_array_equal(series.mean, [10, 10, NAN])


@pytest.mark.parametrize(
    ("signal", "unit", "expected"),
    [
        (Signal.RPM, Unit.PER_SECOND, 1_200),
        (Signal.RPM, Unit.PER_MINUTE, 20),
        (Signal.RPM, Unit.COUNT, 20),
        (Signal.TOKENS, Unit.PER_SECOND, 20),
        (Signal.TOKENS, Unit.PER_MINUTE, 20 / 60),
        (Signal.TOKENS, Unit.COUNT, 20 / 60),
        (Signal.CONCURRENCY, Unit.COUNT, 20),
        (Signal.QUEUE_DEPTH, Unit.COUNT, 20),
        (Signal.REFUSED, Unit.PER_SECOND, 1_200),
        (Signal.REFUSED, Unit.COUNT, 20),
    ],
)
def test_the_answer_is_in_the_unit_of_the_signal(recorded: Recorded, signal: Signal, unit: Unit, expected: float) -> None:
    series = recorded.source.fetch(recorded.query("load", signal, unit), minutes(2, 3), 60)
    np.testing.assert_allclose(series.mean, [expected])


@pytest.mark.parametrize("signal", [Signal.CONCURRENCY, Signal.QUEUE_DEPTH])
@pytest.mark.parametrize("unit", [Unit.PER_SECOND, Unit.PER_MINUTE])
def test_what_is_in_flight_is_refused_as_a_rate(recorded: Recorded, signal: Signal, unit: Unit) -> None:
    with pytest.raises(SourceRejected, match="unit must be count"):
        recorded.source.fetch(recorded.query("load", signal, unit), minutes(0, 1), 60)


def test_the_same_question_gets_the_same_answer(recorded: Recorded) -> None:
    answers = [recorded.source.fetch(recorded.query("gappy"), minutes(0, 60), 60) for _ in range(2)]
    assert answers[0] == answers[1]


def test_a_window_asked_in_two_parts_joins_to_the_whole(recorded: Recorded) -> None:
    whole, *parts = (recorded.source.fetch(recorded.query("load"), minutes(*edges), 300) for edges in ((0, 60), (0, 25), (25, 60)))
    assert whole.mean.tolist() == [*parts[0].mean, *parts[1].mean]
    assert whole.peak.tolist() == [*parts[0].peak, *parts[1].peak]


def test_several_threads_may_ask_at_once(recorded: Recorded) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: recorded.source.fetch(recorded.query("load"), minutes(i, i + 1), 60).mean[0], range(40)))
    assert answers == [10 * i for i in range(40)]


def test_edges_off_the_grid_of_the_step_are_a_programming_error(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="multiple of the step"):
        recorded.source.fetch(recorded.query("load"), minutes(1, 7), 300)


def test_a_source_that_is_not_there_says_so_in_one_sentence(recorded: Recorded) -> None:
    for ask in (
        lambda: recorded.absent.fetch(recorded.query("load"), minutes(0, 60), 60),
        lambda: recorded.absent.probe(recorded.query("load"), START),
    ):
        with pytest.raises(SourceError) as failed:
            ask()
        assert "\n" not in str(failed.value)


@pytest.mark.parametrize("name", HISTORY)
def test_rows_in_order_each_with_its_own_stamp_are_nothing_to_remark(recorded: Recorded, name: str) -> None:
    assert recorded.source.remarks(recorded.query(name), minutes(0, 60), START + timedelta(hours=1)) == ()


def test_a_probe_tells_what_is_measured_now(recorded: Recorded) -> None:
    sentence = recorded.source.probe(recorded.query("load"), START + timedelta(minutes=60))
    assert "590 requests/min" in sentence
    assert "\n" not in sentence


def test_a_probe_refuses_a_query_that_matches_nothing(recorded: Recorded) -> None:
    with pytest.raises(SourceRejected, match="absent"):
        recorded.source.probe(recorded.query("absent"), START + timedelta(minutes=60))

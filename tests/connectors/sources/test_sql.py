"""The SQL source on SQLite and on a real PostgreSQL: times of every kind, what is refused, and that nothing is written."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from pydantic import ValidationError

from connectors.sources.sql import SqlConfig, SqlSource
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from forecaster.units import epoch_s, iso
from jobs.config.paths import beside
from tests.services import free_port

pytest_plugins = ("tests.postgres",)

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
HOUR = Window(start=START, end=START + timedelta(hours=1))
ALL = "SELECT at, requests FROM load WHERE at >= :start AND at < :end"
NAN = float("nan")


def asking(expression: str = ALL) -> Query:
    return Query(signal=Signal.RPM, expression=expression, unit=Unit.COUNT)


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[SqlSource]:
    source = SqlSource(SqlConfig.model_validate({"type": "sql", "url": url, **settings}))
    try:
        yield source
    finally:
        source.close()


def fetched(url: str, expression: str = ALL, window: Window = HOUR, step_s: int = 60, **settings: Any) -> Series:
    with opened(url, **settings) as source:
        return source.fetch(asking(expression), window, step_s)


def minute(i: float) -> datetime:
    return START + timedelta(minutes=i)


def written(at: datetime) -> str:
    """As SQLite's datetime() writes it."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with 60 minutes of load from START on: 0, 10, 20, ..."""
    path = tmp_path / "load.db"
    rows = [(written(minute(i)), iso(minute(i)), epoch_s(minute(i)), 10.0 * i) for i in range(60)]
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE load (at TEXT, stamp TEXT, epoch INTEGER, requests REAL)")
        database.executemany("INSERT INTO load VALUES (?, ?, ?, ?)", rows)
    database.close()
    return path


def table(tmp_path: Path, *rows: tuple[object, object]) -> str:
    """A database of these rows alone."""
    with sqlite3.connect(tmp_path / "rows.db") as database:
        database.execute("CREATE TABLE load (at, requests)")
        database.executemany("INSERT INTO load VALUES (?, ?)", rows)
    database.close()
    return f"sqlite:///{tmp_path / 'rows.db'}"


class TestTimes:
    @pytest.mark.parametrize(
        ("column", "times", "unit"),
        [("at", "aware", 1), ("at", "naive", 1), ("stamp", "iso", 1), ("epoch", "epoch", 1), ("epoch", "epoch", 1_000)],
    )
    def test_they_may_be_text_or_seconds_or_milliseconds(self, file: Path, column: str, times: str, unit: int) -> None:
        expression = ALL.replace("at", column).replace(column, column if unit == 1 else f"{column} * {unit}", 1)
        assert fetched(f"sqlite:///{file}", expression, times=times).mean.tolist() == [10 * i for i in range(60)]

    @pytest.mark.parametrize("kind", ["timestamptz", "timestamp"])
    @pytest.mark.parametrize("times", ["aware", "naive"])
    def test_of_postgresql_mean_the_same_whatever_zone_the_server_is_in(self, postgres_url: str, kind: str, times: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE load (at {kind}, requests numeric)".encode())
            connection.execute(f"ALTER DATABASE {postgres_url.rsplit('/', 1)[1]} SET timezone TO 'America/New_York'".encode())
            connection.execute("SET timezone TO 'UTC'")
            for i in range(60):
                connection.execute("INSERT INTO load VALUES (%s, %s)", (minute(i), 10 * i))
        assert fetched(postgres_url, times=times).mean.tolist() == [10 * i for i in range(60)]

    def test_the_window_goes_to_the_query_and_rows_outside_of_it_are_left_out(self, tmp_path: Path) -> None:
        url = table(tmp_path, *((written(minute(i)), i) for i in range(-5, 65)))
        unbounded = "SELECT at, requests FROM load WHERE :start < :end"
        assert fetched(url, unbounded).mean.tolist() == list(range(60))

    def test_a_week_is_asked_at_a_time_and_joined(self, tmp_path: Path) -> None:
        midnight = START.replace(hour=0)
        url = table(tmp_path, *((written(midnight + timedelta(days=i)), 1_440 * i) for i in range(20)))
        window = Window(start=midnight, end=midnight + timedelta(days=20))
        assert fetched(url, window=window, step_s=86_400, bucket_s=86_400).mean.tolist() == list(range(20))


class TestRows:
    def test_absent_rows_and_null_are_not_measured_and_zero_is(self, tmp_path: Path) -> None:
        url = table(tmp_path, (written(minute(0)), 5), (written(minute(1)), None), (written(minute(3)), 0))
        np.testing.assert_array_equal(fetched(url).mean[:5], [5, NAN, NAN, 0, NAN])

    def test_a_recorder_that_jitters_puts_two_rows_into_one_bucket(self, tmp_path: Path) -> None:
        stamps = [minute(0), minute(1.1), minute(1.9), minute(3), minute(4)]
        url = table(tmp_path, *((iso(at), 10.0 * i) for i, at in enumerate(stamps)))
        np.testing.assert_array_equal(fetched(url, times="iso").mean[:5], [0, 15, NAN, 30, 40])

    def test_k06_two_rows_of_one_time_are_neither_added_nor_averaged(self, tmp_path: Path) -> None:
        url = table(tmp_path, *((written(minute(i)), 5) for i in (0, 1, 1, 2)))
        with pytest.raises(SourceRejected, match=r"two rows for 2026-03-02T08:01:00Z; group by time, with sum\(\.\.\.\) of parts"):
            fetched(url)

    def test_rows_finer_than_the_buckets_are_refused(self, tmp_path: Path) -> None:
        url = table(tmp_path, *((written(START + timedelta(seconds=15 * i)), 5) for i in range(240)))
        with pytest.raises(SourceRejected, match="more often than every 60 s; set bucket_s"):
            fetched(url)
        assert fetched(url, bucket_s=15).mean.tolist() == [20] * 60

    def test_k09_a_count_in_a_longer_bucket_is_the_rate_of_each_of_its_minutes(self, tmp_path: Path) -> None:
        url = table(tmp_path, *((written(minute(5 * i)), 500) for i in range(12)))
        assert fetched(url, bucket_s=300).mean.tolist() == [100] * 60

    def test_a_bucket_that_has_not_ended_by_the_end_of_the_window_is_not_known(self, tmp_path: Path) -> None:
        url = table(tmp_path, *((written(minute(5 * i)), 500) for i in range(12)))
        window = Window(start=START, end=minute(8))
        np.testing.assert_array_equal(fetched(url, window=window, bucket_s=300).mean, [100] * 5 + [NAN] * 3)

    @pytest.mark.parametrize(
        ("what", "sentence"),
        [
            ("at, 'many'", "'many' is not a number"),
            ("'monday', requests", "'monday' is no time"),
            ("NULL, requests", "None is no time"),
            ("at, requests, 1", "a row must hold a time and a value, got 3 columns"),
            ("at", "a row must hold a time and a value, got 1 columns"),
        ],
    )
    def test_what_is_no_time_or_number_is_refused(self, file: Path, what: str, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=f"rows that cannot be used: {sentence}"):
            fetched(f"sqlite:///{file}", ALL.replace("at, requests", what))

    @pytest.mark.parametrize("what", ["requests, 5", "'1970-01-01', requests", "9e13, requests"])
    def test_rows_far_from_what_was_asked_are_refused_with_their_time_and_not_taken_for_silence(self, file: Path, what: str) -> None:
        query = ALL.replace("at, requests", what)
        with pytest.raises(SourceRejected, match=r"none of them lies within :start and :end, the first time is .*; select the time first"):
            fetched(f"sqlite:///{file}", query)

    def test_rows_just_beside_what_was_asked_are_left_out_and_no_fault(self, tmp_path: Path) -> None:
        url = table(tmp_path, (written(minute(-60)), 5))
        assert np.isnan(fetched(url, "SELECT at, requests FROM load WHERE :start < :end").mean).all()


class TestRefusals:
    @pytest.mark.parametrize(("expression", "name"), [("SELECT at, requests FROM load", "start"), ("SELECT 1 WHERE 1 > :start", "end")])
    def test_a_query_without_bounds_is_refused_before_the_database_is_asked(self, file: Path, expression: str, name: str) -> None:
        with pytest.raises(SourceRejected, match=f"must hold :{name}"):
            fetched(f"sqlite:///{file}", expression)

    @pytest.mark.parametrize(
        ("expression", "sentence"),
        [
            ("SELECT at, requests FROM lod WHERE at >= :start AND at < :end", "no such table: lod; correct the expression"),
            ("SELEC at FROM load WHERE at >= :start AND at < :end", "syntax error; correct the expression"),
            ("DELETE FROM load WHERE at >= :start AND at < :end", "readonly database; correct the expression: it may only read"),
        ],
    )
    def test_what_sqlite_refuses_is_said_with_its_words(self, file: Path, expression: str, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=sentence):
            fetched(f"sqlite:///{file}", expression)

    @pytest.mark.parametrize(
        ("expression", "sentence"),
        [
            (
                "SELECT at, requests FROM lod WHERE at >= :start AND at < :end",
                'refuses .*relation "lod" does not exist.*correct the expression',
            ),
            ("SELECT at, n FROM load WHERE at >= :start AND at < :end", 'refuses .*column "n" does not exist.*correct the expression'),
            (
                "SELECT at, requests FROM load WHERE requests >= :start AND at < :end",
                "refuses .*operator does not exist.*correct the expression",
            ),
            ("INSERT INTO load SELECT :start, 1 WHERE :end > now() RETURNING *", "read-only transaction.*it may only read"),
        ],
    )
    def test_what_postgresql_refuses_is_said_with_its_words(self, postgres_url: str, expression: str, sentence: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("CREATE TABLE load (at timestamptz, requests numeric)")
        with pytest.raises(SourceRejected, match=sentence):
            fetched(postgres_url, expression)

    def test_a_table_that_may_not_be_read_is_said_with_the_grant_that_it_needs(self, postgres_url: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("CREATE TABLE load (at timestamptz, requests numeric)")
            connection.execute("DROP ROLE IF EXISTS reader")
            connection.execute("CREATE ROLE reader LOGIN PASSWORD 'right'")
        with pytest.raises(SourceRejected, match="permission denied for table load; grant SELECT on it to this user"):
            fetched(postgres_url.replace("forecaster:", "reader:"))

    def test_a_query_that_takes_too_long_is_ended(self, file: Path, postgres_url: str) -> None:
        slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n WHERE i < :start AND i > :end"
        with pytest.raises(SourceUnavailable, match=r"takes longer than 0\.2 s .*; add an index on the time"):
            fetched(f"sqlite:///{file}", slow, times="epoch", timeout_s=0.2)
        with pytest.raises(SourceUnavailable, match=r"takes longer than 0\.2 s .*; add an index on the time"):
            fetched(postgres_url, "SELECT now(), 1 FROM pg_sleep(30) WHERE CAST(:end AS timestamptz) > :start", timeout_s=0.2)

    def test_a_database_that_comes_back_is_asked_again(self, postgres_url: str, postgres: Any) -> None:
        with opened(postgres_url) as source:
            constant = asking("SELECT CAST(:start AS timestamptz), 7 WHERE :end > :start")
            assert source.fetch(constant, HOUR, 60).mean[0] == 7
            postgres.end_sessions(postgres_url)
            assert source.fetch(constant, HOUR, 60).mean[0] == 7

    def test_a_server_that_is_away_is_unavailable(self) -> None:
        with pytest.raises(SourceUnavailable, match=r"fails: .*refused"):
            fetched(f"postgresql://reader:s3cret@127.0.0.1:{free_port()}/metrics")

    def test_a_wrong_password_is_refused_and_not_shown(self, postgres_url: str) -> None:
        with pytest.raises(SourceRejected, match=r"does not let us in: .*authentication failed.*; correct url") as refused:
            fetched(postgres_url.replace(":right@", ":s3cret@"))
        assert "s3cret" not in str(refused.value)

    def test_a_file_that_is_not_there_is_refused_and_not_made(self, tmp_path: Path) -> None:
        with pytest.raises(SourceRejected, match="does not let us in: unable to open database file"):
            fetched(f"sqlite:///{tmp_path / 'absent.db'}")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("url", "sentence"),
        [
            ("oracle://reader:s3cret@db/metrics", "needs a driver that is not installed"),
            ("influx://reader:s3cret@db/metrics", "url cannot be read; .*influx"),
            ("db/metrics", "url cannot be read; write DIALECT"),
        ],
    )
    def test_an_address_without_a_driver_is_refused_with_what_to_do(self, url: str, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=sentence) as refused:
            fetched(url)
        assert "s3cret" not in str(refused.value)


class TestProbe:
    def test_a_table_that_fell_silent_is_told_from_one_that_never_had_such_a_row(self, file: Path) -> None:
        with opened(f"sqlite:///{file}") as source:
            assert "measured in 60 of the last 60 minutes, the last 590 requests/min" in source.probe(asking(), HOUR.end)
            assert "no row in the last hour, though it did" in source.probe(asking(), START + timedelta(days=2))
            with pytest.raises(SourceRejected, match=r"has no row of .* in the 7 days before"):
                source.probe(asking(f"{ALL} AND requests < 0"), HOUR.end)

    def test_rows_without_a_usable_number_are_not_called_silence(self, file: Path) -> None:
        with opened(f"sqlite:///{file}") as source:
            told = source.probe(asking(ALL.replace("at, requests", "at, -1 - requests")), HOUR.end)
        assert "without a usable number in the last 60 minutes; NaN, infinite and negative numbers count as not measured" in told


def test_a_relative_file_lies_beside_the_configuration(file: Path) -> None:
    config = beside(SqlConfig.model_validate({"type": "sql", "url": f"sqlite:///{file.name}"}), file.parent)
    source = SqlSource(config)
    assert source.fetch(asking(), HOUR, 60).mean[1] == 10
    source.close()


def test_the_password_stands_in_no_repr() -> None:
    config = SqlConfig.model_validate({"type": "sql", "url": "postgresql://reader:s3cret@db/metrics"})
    assert not any("s3cret" in text for text in (repr(config), config.model_dump_json()))


@pytest.mark.parametrize(
    ("settings", "sentence"), [({"bucket_s": 7}, "divide a day"), ({"times": "local"}, "times"), ({"timeout_s": 0}, "timeout_s")]
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        SqlConfig.model_validate({"type": "sql", "url": "sqlite:///load.db", **settings})


def test_every_setting_is_documented() -> None:
    for name, field in SqlConfig.model_fields.items():
        assert name == "type" or (field.description is not None and "efault" in field.description), name

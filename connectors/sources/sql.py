"""Load from a database: one query with :start and :end that answers with rows of time and value."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import quote

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from connectors.sources.probing import hour_told, unusable
from connectors.sources.readings import Readings, factor, series_of
from connectors.sources.rows import numbers_of
from forecaster.errors import SourceError, SourceRejected, SourceUnavailable
from forecaster.marks import Mark
from forecaster.ports import Query
from forecaster.seconds import Seconds
from forecaster.series import Floats, Series, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, WEEK_S, epoch_s, floor_to, iso

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine  # a third of a second: only databases need it, not the command line
    from sqlalchemy.exc import DBAPIError

_CONNECTIONS = 4
_CONNECT_S = 10
_SPARE_ROWS = 100
_SAID_CHARS = 300
_PLACES = ("start", "end")
_NOT_READ = "url cannot be read; write DIALECT+DRIVER://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in a password"
_LASTING = re.compile(
    r"authentication failed|no password supplied|does not exist|no pg_hba\.conf entry|access denied|unable to open|not a database"
)
_FORBIDDEN = re.compile("permission denied|command denied")
_WRONG = re.compile("no such|syntax error|read-?only")  # SQLite calls all of its errors operational
_TOO_LONG = ("statement timeout", "interrupted", "maximum statement execution time", "canceling statement due to user")


class SqlConfig(BaseModel):
    """A database. The query's expression is one SELECT with :start and :end that answers with rows of time and value."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["sql"] = Field(description="This kind of source: a database that SQLAlchemy has a driver for.")
    url: SecretStr = Field(
        min_length=1,
        description="Address as SQLAlchemy writes it, such as postgresql://reader:${PASSWORD}@db/metrics or sqlite:///load.db. No default.",
    )
    directory: Path = Field(
        default=Path(), description="Folder that a relative SQLite file lies in. Default that of the configuration file."
    )
    times: Literal["aware", "naive", "epoch", "iso"] = Field(
        default="aware",
        description="How :start and :end are given: `aware` instants, `naive` ones in UTC, `epoch` seconds or `iso` text with a Z. Default "
        "aware, which PostgreSQL compares with columns of both kinds; on SQLite aware and naive are text as its datetime() writes it.",
    )
    bucket_s: int = Field(
        default=MINUTE_S,
        ge=1,
        le=DAY_S,
        description="Seconds that one row speaks of, from its time on; they divide a day. Default 60: a row a minute.",
    )
    timeout_s: float = Field(
        default=30,
        gt=0,
        description="Seconds that one query may take, on PostgreSQL and SQLite; a week of the window is asked at a time. Default 30.",
    )

    @model_validator(mode="after")
    def _is_a_bucket(self) -> Self:
        if DAY_S % self.bucket_s:
            raise ValueError("bucket_s must divide a day")
        return self


class SqlSource:
    """The rows of a query, read in transactions that write nothing where the database can promise that."""

    def __init__(self, config: SqlConfig) -> None:
        self._config = config
        self._lock = Lock()
        self._opened: Engine | None = None

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """See `MetricSource`. A bucket without a row is NaN, also where that means no requests: COALESCE says so in the query."""
        factor(query, self._config.bucket_s)  # a mixed-up unit shows before the database is asked
        start, numbers = self._buckets(query, window.start, window.end)
        return series_of(query, Readings(start=start, step_s=self._config.bucket_s, numbers=numbers), window, step_s)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002  there is nothing to look at
        """See `MetricSource`. None: rows of one time are refused, and a query has no order that means anything."""
        return ()

    def seconds(self, query: Query, window: Window) -> Seconds:
        """See `SecondSource`. Rows of `bucket_s`."""
        bucket_s = self._config.bucket_s
        return Seconds(grain_s=bucket_s, series=self.fetch(query, window, 1) if bucket_s == 1 else None)

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what the query answers for the hour before `now`. Raises SourceRejected where a week has no row."""
        end = floor_to(now, MINUTE_S)
        before = end - timedelta(seconds=HOUR_S)
        hour = self.fetch(query, Window(start=before, end=end), MINUTE_S).mean
        if not np.isnan(hour).all():
            return hour_told(query, hour / factor(query, MINUTE_S), end)
        if not np.isnan(self._buckets(query, before, end)[1]).all():
            return unusable(query)
        _, week = self._buckets(query, end - timedelta(seconds=WEEK_S), end)
        if np.isnan(week).all():
            msg = f"{self._where()} has no row of {query.expression!r} in the 7 days before {iso(end)}; check its conditions and `times`"
            raise SourceRejected(msg)
        return f"{query.expression!r} has no row in the last hour, though it did in the last 7 days; its load is unknown now"

    def close(self) -> None:
        """Let go of connections."""
        with self._lock:
            if self._opened is not None:
                self._opened.dispose()

    def _buckets(self, query: Query, start: datetime, end: datetime) -> tuple[datetime, Floats]:
        """The start of the first bucket, and one number a bucket that has ended by `end`."""
        bucket_s = self._config.bucket_s
        first, last = floor_to(start, bucket_s), floor_to(end, bucket_s)
        parts = [np.empty(0)]
        at = first
        while at < last:
            until = min(at + timedelta(seconds=WEEK_S), last)
            parts.append(self._part(query.expression, at, until))
            at = until
        return first, np.concatenate(parts)

    def _part(self, expression: str, start: datetime, end: datetime) -> Floats:
        from sqlalchemy import text  # noqa: PLC0415  # see above

        absent = next((name for name in _PLACES if not re.search(rf"(?<![:\w]):{name}\b", expression)), None)
        if absent is not None:
            msg = f"{expression!r} must hold :{absent}, such as in WHERE at >= :start AND at < :end: a table is never read as a whole"
            raise SourceRejected(msg)
        buckets = (epoch_s(end) - epoch_s(start)) // self._config.bucket_s
        with self._reading(expression) as connection:
            given = {"start": self._time(start, connection), "end": self._time(end, connection)}
            found = connection.execute(text(expression), given).fetchmany(2 * buckets + _SPARE_ROWS)
        try:
            return numbers_of(found, start, buckets, self._config.bucket_s)
        except SourceRejected as error:
            msg = f"{self._where()} answers {expression!r} with rows that cannot be used: {error}"
            raise SourceRejected(msg) from error

    @contextmanager
    def _reading(self, expression: str) -> Iterator["Connection"]:
        """A transaction that only reads and ends in time, where the dialect can promise both. Raises SourceError."""
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError  # noqa: PLC0415

        try:
            with self._engine().connect() as connection, connection.begin():
                _bound(connection, self._config.timeout_s)
                yield connection
        except DBAPIError as error:
            raise self._refusal(expression, error) from error
        except SQLAlchemyError as error:  # a pool that is empty, a statement that gives no rows
            msg = f"{self._where()} cannot be asked {expression!r}: {_line(str(error))}; correct the expression"
            raise SourceRejected(msg) from error

    def _refusal(self, expression: str, error: "DBAPIError") -> SourceError:
        from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError  # noqa: PLC0415

        said = _line(str(error.orig))
        low = said.lower()
        if any(words in low for words in _TOO_LONG):
            took = f"takes longer than {self._config.timeout_s:g} s for {expression!r}"
            return SourceUnavailable(f"{self._where()} {took}; add an index on the time, read a table of sums, or raise timeout_s")
        if _LASTING.search(low) and not isinstance(error, ProgrammingError):  # what does not exist is a table then, or a function
            return SourceRejected(f"{self._where()} does not let us in: {said}; correct url")
        if not _WRONG.search(low) and isinstance(error, (OperationalError, InterfaceError)):
            return SourceUnavailable(f"{self._where()} fails: {said}; it is asked again next time")
        remedy = "grant SELECT on it to this user" if _FORBIDDEN.search(low) else "correct the expression: it may only read"
        return SourceRejected(f"{self._where()} refuses {expression!r}: {said}; {remedy}")

    def _time(self, at: datetime, connection: "Connection") -> object:
        match self._config.times:
            case "epoch":
                return epoch_s(at)
            case "iso":
                return iso(at)
            case _ if connection.dialect.name == "sqlite":
                return f"{at:%Y-%m-%d %H:%M:%S}"
            case "naive":
                return at.replace(tzinfo=None)
            case "aware":
                return at

    def _engine(self) -> "Engine":
        from sqlalchemy import create_engine  # noqa: PLC0415

        with self._lock:
            if self._opened is None:
                url = self._url()
                try:
                    self._opened = create_engine(url, pool_size=_CONNECTIONS, max_overflow=0, pool_pre_ping=True, pool_timeout=None)
                except ImportError as error:
                    msg = f"{self._where()} needs a driver that is not installed ({error}); install it, or name another: DIALECT+DRIVER://"
                    raise SourceRejected(msg) from error
            return self._opened

    def _url(self) -> "URL":
        """The address with the driver that is installed, and a SQLite file beside the configuration that is never made."""
        from sqlalchemy import make_url  # noqa: PLC0415
        from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

        try:
            url = make_url(self._config.url.get_secret_value())
            url.get_dialect()
        except ModuleNotFoundError:
            pass  # the driver: said where the engine is made
        except (ArgumentError, ValueError) as error:  # NoSuchModuleError is one
            unknown = str(error) if "Can't load plugin" in str(error) else ""
            raise SourceRejected(f"the database's {_NOT_READ}{f' ({unknown})' if unknown else ''}") from None
        if url.drivername == "postgresql":
            return url.set(drivername="postgresql+psycopg", query={"connect_timeout": str(_CONNECT_S), **url.query})
        if url.drivername == "sqlite" and url.database:
            file = (self._config.directory / Path(url.database)).absolute()
            return url.set(database=f"file:{quote(str(file))}", query={"mode": "ro", "uri": "true"})
        return url

    def _where(self) -> str:
        """The database by name, without credentials."""
        from sqlalchemy import make_url  # noqa: PLC0415

        url = make_url(self._config.url.get_secret_value())
        return f"the database {url.set(username=None, password=None, query={}).render_as_string()}"


def _bound(connection: "Connection", timeout_s: float) -> None:
    """Let the transaction read only, and end in time."""
    match connection.dialect.name:
        case "postgresql":  # of the transaction, so that a pooler between us gives nobody else our settings
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(timeout_s * 1_000))}")
            connection.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
        case "sqlite":
            until = time.monotonic() + timeout_s
            driver = connection.connection.driver_connection
            if driver is not None:
                driver.set_progress_handler(lambda: time.monotonic() > until, 10_000)


def _line(text: str) -> str:
    return " ".join(text.split())[:_SAID_CHARS]

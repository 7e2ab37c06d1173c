"""Transactions on SQLite and PostgreSQL, and every way in which they fail as one sentence with its remedy."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from forecaster.errors import ConfigRejected, StoreError

BUSY_S = 30
"""How long a writer waits for another one: longer than any transaction of ours, shorter than people wait."""

_CONNECT_S = 10
_SILENT_MS = 30_000
_WRITES = "forecaster_writes"

_UNREADABLE = "store cannot be read: write sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in a password"

_SQLITE_REMEDIES = {
    "SQLITE_NOTADB": "is not a SQLite database: name another file in store",
    "SQLITE_CORRUPT": "is damaged: restore it from a backup",
    "SQLITE_READONLY": "cannot be written by this user: grant write access to the file and its directory",
    "SQLITE_CANTOPEN": "cannot be opened by this user: grant read and write access to the file and its directory",
    "SQLITE_PERM": "cannot be opened by this user: grant read and write access to the file and its directory",
    "SQLITE_BUSY": f"was locked by another process for {BUSY_S} s: look for a stuck one, then try again",
    "SQLITE_FULL": "cannot grow, the disk is full: free some space, nothing was half written",
    "SQLITE_IOERR": "cannot be read or written by the disk: check its space and health, nothing was half written",
}

_POSTGRES_REMEDIES = {  # what the server says in its own words, since a refused connection carries no code
    "password authentication failed": "refuses the user or password: correct them in store",
    "no password supplied": "asks for a password: add it to store",
    r"no pg_hba\.conf entry": "admits no such user from this host: add it to pg_hba.conf",
    '(database|role) ".*" does not exist': "lacks the database or the role: create it, or correct store",
    "too many clients": "has no connection left: raise max_connections, or try again",
    "Connection refused": "cannot be reached: start PostgreSQL, or correct the host and port in store",
    "could not translate host name": "cannot be reached: correct the host in store",
    "failed to resolve host": "cannot be reached: correct the host in store",
    "timeout expired": "does not answer: check the host, the port and the firewall between",
    "permission denied": "forbids this to the user: grant it, or name another user in store",
    "read-only transaction": "is a read-only standby: name the primary in store",
    "No space left on device": "has a full disk: free some space, nothing was half written",
}


def parse(url: str) -> URL:
    """The parsed address of a SQLite file or a PostgreSQL database. Raises ConfigRejected, never quoting a password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise ConfigRejected(_UNREADABLE) from error
    if parsed.drivername in {"postgresql", "postgresql+psycopg"}:
        if "@" in (parsed.host or ""):  # and so the end of a password
            raise ConfigRejected(_UNREADABLE)
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername != "sqlite":
        msg = f"store must begin with memory:, sqlite:/// or postgresql://, got {parsed.drivername}:"
        raise ConfigRejected(msg)
    if not parsed.database or parsed.query:
        msg = "store must name a file and no options: write sqlite:///PATH, or memory: for a store that forgets"
        raise ConfigRejected(msg)
    return parsed


def open_engine(url: str) -> Engine:
    """An engine that has not connected yet. Raises ConfigRejected, or StoreError when a SQLite file has no directory."""
    parsed = parse(url)
    return _sqlite(parsed) if parsed.drivername == "sqlite" else _postgres(parsed)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads. Raises StoreError."""
    with _sentences(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes all or nothing; on SQLite it is the only writer from its start. Raises StoreError."""
    with _sentences(engine), engine.execution_options(**{_WRITES: True}).begin() as connection:
        yield connection


def alone(connection: Connection, name: str) -> None:
    """Until the end of this transaction nobody else passes here under the same name: for reading first and writing then."""
    if connection.dialect.name == "postgresql":  # the only writer of a SQLite file is alone as it is
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": f"forecaster/{name}"})


def where(url: URL) -> str:
    """The address as people may see it: without the password."""
    return f"the store {url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)}"


def _sqlite(url: URL) -> Engine:
    path = Path(str(url.database))
    if not path.parent.is_dir():
        msg = f"the directory {path.parent} of the store {path} does not exist: create it, or correct store"
        raise StoreError(msg)
    if path.is_dir():
        msg = f"the store {path} is a directory: name a file in store"
        raise StoreError(msg)
    engine = create_engine(url, connect_args={"timeout": BUSY_S})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """Readers beside a writer, durable commits, and transactions that we begin ourselves: Python's do not span DDL."""
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        if cursor.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            cursor.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # The switch does not wait for other connections. The file keeps its mode, so one that is busy now makes it later, and both
        # modes are safe.
        if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY")):
            raise
    cursor.execute("PRAGMA synchronous = FULL")  # a commit survives the loss of power too; we write a few times a minute
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the lock before it reads: one that asks for it later fails at once when another wrote in between."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(url: URL) -> Engine:
    return create_engine(
        url,
        connect_args={"connect_timeout": _CONNECT_S, "tcp_user_timeout": _SILENT_MS, "application_name": "forecaster"},
        pool_pre_ping=True,  # a server that was restarted in between costs nobody an error
    )


@contextmanager
def _sentences(engine: Engine) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise _refusal(engine.url, error) from error


def _refusal(url: URL, error: SQLAlchemyError) -> StoreError:
    origin = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(origin, sqlite3.Error):
        said, remedies = str(getattr(origin, "sqlite_errorname", "")), _SQLITE_REMEDIES
    else:
        said, remedies = str(origin), _POSTGRES_REMEDIES
    for sign, remedy in remedies.items():
        if re.search(sign, said):
            return StoreError(f"{where(url)} {remedy}")
    first_line = next(iter(str(origin).splitlines()), type(origin).__name__)
    return StoreError(f"{where(url)} failed ({first_line}); nothing was half written: see its own log, then try again")

"""A real PostgreSQL on loopback, one a test session, and an empty database for each test that asks for `postgres_url`.

A test module gets the fixtures by `pytest_plugins = ("tests.postgres",)`.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.services import free_port, program

USER, PASSWORD = "forecaster", "right"

_READY_WITHIN_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A server that runs; `admin_url` is its maintenance database."""

    port: int
    serial: Iterator[int]

    def url(self, database: str, password: str = PASSWORD) -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """Run one statement outside of any transaction in the maintenance database."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def end_sessions(self, url: str) -> None:
        """Throw every client out of one of its databases, as a restart of the server does."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            database = url.rsplit("/", 1)[1]
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])


@contextmanager
def running(initdb: Path, server: Path) -> Iterator[Postgres]:
    """A server without durability, since its data lives no longer than the block."""
    with tempfile.TemporaryDirectory(prefix="forecaster-postgres-") as directory:
        room = Path(directory)
        secret = room / "password"
        secret.write_text(PASSWORD)
        owner = _unprivileged_owner()
        if owner is not None:
            shutil.chown(room, owner)
            shutil.chown(secret, owner)
        _run_initdb(initdb, room, owner)
        port = free_port()
        process = _started(server, room, owner, port)
        try:
            postgres = Postgres(port=port, serial=count())
            _wait_until_ready(postgres, process, room)
            yield postgres
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The server that all tests of this process share."""
    with running(program("initdb", "postgresql"), program("postgres", "postgresql")) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of an empty database that nobody else uses."""
    name = f"test_{next(postgres.serial)}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield postgres.url(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _unprivileged_owner() -> str | None:
    """Whom the server runs as: it refuses to run as root, where Debian's package has made a user for it."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run_initdb(initdb: Path, room: Path, owner: str | None) -> None:
    arguments = ["--pgdata", str(room / "data"), "--username", USER, "--pwfile", str(room / "password")]
    options = ["--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync"]
    done = subprocess.run(  # noqa: S603  Debian's program, our own words
        [str(initdb), *arguments, *options], user=owner, group=_group(owner), cwd=room, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _started(server: Path, room: Path, owner: str | None, port: int) -> subprocess.Popen[bytes]:
    settings = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=50"]
    address = ["-D", str(room / "data"), "-h", "127.0.0.1", "-p", str(port), "-k", str(room)]
    with (room / "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603  Debian's program, our own words
            [str(server), *address, *(word for setting in settings for word in ("-c", setting))],
            user=owner,
            group=_group(owner),
            cwd=room,
            stdout=log,
            stderr=log,
        )


def _group(owner: str | None) -> int | None:
    return None if owner is None else pwd.getpwnam(owner).pw_gid


def _wait_until_ready(postgres: Postgres, process: subprocess.Popen[bytes], room: Path) -> None:
    deadline = time.monotonic() + _READY_WITHIN_S
    while True:
        try:
            psycopg.connect(postgres.url("postgres")).close()
        except psycopg.OperationalError:
            assert process.poll() is None, (room / "log").read_text()
            assert time.monotonic() < deadline, (room / "log").read_text()
            time.sleep(0.05)
        else:
            return

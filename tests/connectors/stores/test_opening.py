"""The stores by their address, and every address that cannot be used."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from connectors.stores.memory import MemoryStore
from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from connectors.stores.sql import SqlStore
from forecaster.errors import ConfigRejected, StoreError
from tests.contracts.store import plan, record, span
from tests.services import free_port

if TYPE_CHECKING:  # as a plugin it must not be imported before pytest does
    from tests.postgres import Postgres

pytest_plugins = ("tests.postgres",)

NOBODY = 65534

NO_FILE = "store must name a file and no options: write sqlite:///PATH, or memory: for a store that forgets"
UNREADABLE = "store cannot be read: write sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in a password"


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everywhere; here it may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A directory that users other than the one of the tests can reach."""
    with tempfile.TemporaryDirectory(prefix="forecaster-") as directory:
        path = Path(directory)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


def test_memory_needs_no_sqlalchemy() -> None:
    words = "import sys; from connectors.stores.opening import open_store; open_store('memory:'); print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)  # noqa: S603  our own words
    assert done.stdout == "False\n"
    assert isinstance(open_store("memory:"), MemoryStore)


def test_a_fresh_file_is_migrated_on_first_opening_and_kept_for_the_next(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/forecaster.db"
    for _ in range(2):
        store = open_store(url)
        store.append_records([record()])
        assert store.records("chat", span(0, 60)) == (record(),)
        store.close()


def test_a_path_may_be_relative_or_hold_a_percent_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "50% off").mkdir()
    for url in ("sqlite:///here.db", "sqlite:///50% off/here.db"):
        open_store(url).close()
    assert (tmp_path / "here.db").exists()


def test_writers_do_not_block_readers_of_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/forecaster.db"
    store = open_store(url)
    writer = sqlite3.connect(tmp_path / "forecaster.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert store.records("chat", span(0, 60)) == ()
    writer.close()
    store.close()


def test_both_spellings_of_a_postgresql_address_are_one_store(postgres_url: str) -> None:
    migrate(postgres_url)
    first, second = open_store(postgres_url), open_store(postgres_url.replace("postgresql:", "postgresql+psycopg:"))
    first.append_plans([plan()])
    assert len(second.plans("chat", "h100", span(0, 60))) == 1
    first.close()
    second.close()


def test_a_server_that_ended_our_sessions_costs_nobody_an_error(postgres: "Postgres", postgres_url: str) -> None:
    migrate(postgres_url)
    store = open_store(postgres_url)
    store.append_records([record()])
    postgres.end_sessions(postgres_url)
    assert store.records("chat", span(0, 60)) == (record(),)
    store.close()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://root:secret@db/x", "store must begin with memory:, sqlite:/// or postgresql://, got mysql:"),
        ("sqlite+aiosqlite:///secret", "store must begin with memory:, sqlite:/// or postgresql://, got sqlite+aiosqlite:"),
        ("sqlite://", NO_FILE),
        ("sqlite:///secret.db?mode=ro", NO_FILE),
        ("secret.db", UNREADABLE),
        ("postgresql://ada:secret@db:port/x", UNREADABLE),
        ("postgresql://ada:sec@secret@db/x", UNREADABLE),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_quoting_it(url: str, sentence: str) -> None:
    with pytest.raises(ConfigRejected) as refused:
        open_store(url)
    assert str(refused.value) == sentence


def _refusal(url: str) -> str:
    with pytest.raises(StoreError) as refused:
        open_store(url)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "forecaster.db"
    said = f"the directory {path.parent} of the store {path} does not exist: create it, or correct store"
    assert _refusal(f"sqlite:///{path}") == said
    assert not path.parent.exists()


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    assert _refusal(f"sqlite:///{tmp_path}") == f"the store {tmp_path} is a directory: name a file in store"


def test_a_file_that_is_not_a_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all\n" * 100)
    assert _refusal(f"sqlite:///{path}") == f"the store sqlite:///{path} is not a SQLite database: name another file in store"
    assert path.read_text() == "not a database at all\n" * 100


def test_a_database_of_somebody_else_is_not_filled_with_our_tables(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE songs (title TEXT)")
    theirs.close()
    assert _refusal(f"sqlite:///{path}") == f"the store sqlite:///{path} has no tables yet: run `forecaster migrate`"


def test_a_file_that_may_not_be_written_is_named_when_it_is_written(public_path: Path) -> None:
    path = public_path / "forecaster.db"
    migrate(f"sqlite:///{path}")
    path.chmod(0o444)
    public_path.chmod(0o555)
    with unprivileged():
        said = _write_refusal(f"sqlite:///{path}")
    assert re.fullmatch(f"the store sqlite:///{path} cannot be (written|opened) by this user: grant .+ access to .+ directory", said)


def _write_refusal(url: str) -> str:
    """Reading may work or not: SQLite needs to write a little for that too."""
    with pytest.raises(StoreError) as refused:
        SqlStore(url).append_records([record()])
    return str(refused.value)


def test_a_file_that_may_not_be_read_is_named(public_path: Path) -> None:
    path = public_path / "forecaster.db"
    migrate(f"sqlite:///{path}")
    path.chmod(0o000)
    with unprivileged():
        said = _refusal(f"sqlite:///{path}")
    assert said == f"the store sqlite:///{path} cannot be opened by this user: grant read and write access to the file and its directory"


def test_a_postgresql_that_was_never_migrated_asks_for_it(postgres_url: str) -> None:
    assert _refusal(postgres_url).endswith(" has no tables yet: run `forecaster migrate`")


def test_a_postgresql_that_is_not_there_is_named(postgres_url: str) -> None:
    url = f"postgresql://ada:secret@127.0.0.1:{free_port()}/forecaster"
    shown = url.replace("secret", "***")
    said = f"the store {shown} cannot be reached: start PostgreSQL, or correct the host and port in store"
    assert _refusal(url) == said
    assert postgres_url != url


def test_a_wrong_password_is_named_and_not_shown(postgres: "Postgres", postgres_url: str) -> None:
    wrong = postgres_url.replace(":right@", ":secret@")
    said = _refusal(wrong)
    assert said.endswith(" refuses the user or password: correct them in store")
    assert "secret" not in said
    assert str(postgres.port) in said


def test_a_database_that_was_never_created_is_named(postgres: "Postgres") -> None:
    assert _refusal(postgres.url("gone")).endswith("/gone lacks the database or the role: create it, or correct store")


def test_a_host_that_nobody_knows_is_named() -> None:
    assert _refusal("postgresql://ada@db.invalid/x").endswith("cannot be reached: correct the host in store")

"""An empty or older database brought to the newest schema."""

import subprocess
import sys
from importlib.resources import files
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from connectors.stores.engine import open_engine, writing
from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from connectors.stores.schema import is_empty, schema_version
from connectors.stores.tables import METADATA, SCHEMAS
from forecaster.errors import StoreError
from tests.contracts.store_writers import at_once

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    url: str = f"sqlite:///{tmp_path}/forecaster.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return url


def _statement(url: str, words: str) -> None:
    engine = open_engine(url)
    with writing(engine) as connection:
        connection.exec_driver_sql(words)
    engine.dispose()


def test_an_empty_database_comes_to_the_newest_schema_and_one_sentence_says_so(empty_url: str) -> None:
    assert schema_version(empty_url) is None
    assert is_empty(empty_url)
    assert migrate(empty_url) == f"the store {empty_url.replace('right', '***')} was empty and is now at schema 0006"
    assert schema_version(empty_url) == "0006"
    assert not is_empty(empty_url)


def test_done_again_it_does_nothing_and_says_so_without_the_password(empty_url: str) -> None:
    migrate(empty_url)
    said = migrate(empty_url)
    assert said.startswith("the store ")
    assert said.endswith(" is at schema 0006 already; nothing to do")
    assert "right" not in said


def test_memory_has_nothing_to_migrate() -> None:
    assert migrate("memory:") == "the store memory: has no tables, so there is nothing to do"


def test_the_scripts_make_exactly_the_tables_that_the_store_uses(database_url: str) -> None:
    engine = open_engine(database_url)
    with writing(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_the_scripts_are_numbered_in_one_line_that_ends_where_the_store_says() -> None:
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(scripts)) == SCHEMAS


def _migrate(barrier: Barrier, number: int, url: str) -> None:
    barrier.wait()
    said = migrate(url)
    assert said.endswith(("is now at schema 0006", "nothing to do")), number


def test_two_processes_that_migrate_at_once_migrate_once(empty_url: str) -> None:
    assert at_once(_migrate, empty_url) == [0, 0]
    assert schema_version(empty_url) == "0006"


def test_a_migration_that_fails_half_way_has_done_nothing(empty_url: str) -> None:
    _statement(empty_url, "CREATE TABLE rulings (id INTEGER)")  # the last table of the script is in the way
    with pytest.raises(StoreError, match="already exists"):
        migrate(empty_url)
    assert schema_version(empty_url) is None
    _statement(empty_url, "DROP TABLE rulings")
    assert is_empty(empty_url)
    migrate(empty_url)
    open_store(empty_url).close()


def test_the_scripts_are_found_from_any_directory(tmp_path: Path) -> None:
    words = "from connectors.stores.migrate import migrate; print(migrate('sqlite:///here.db'))"
    python = [sys.executable, "-c", words]
    done = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603  our own words
    assert done.stdout == "the store sqlite:///here.db was empty and is now at schema 0006\n"
    assert (tmp_path / "here.db").exists()


def test_a_database_that_a_newer_release_has_migrated_is_refused_and_left_alone(database_url: str) -> None:
    _statement(database_url, "UPDATE alembic_version SET version_num = '0999'")
    for use in (migrate, open_store):
        with pytest.raises(StoreError, match=r"is at schema 0999, and this release knows 0006 at most: upgrade Forecaster$"):
            use(database_url)
    assert schema_version(database_url) == "0999"

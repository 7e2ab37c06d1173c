"""An empty or older database brought to the schema of this release."""

from importlib.resources import as_file, files

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from connectors.stores.engine import alone, open_engine, where, writing
from connectors.stores.schema import refuse_newer, version_in
from connectors.stores.tables import SCHEMAS


def migrate(url: str) -> str:
    """Bring the database to the newest schema, in one transaction, and say in one sentence what was done.

    Done again it does nothing; of two at once the second waits and then has nothing to do; one that is killed has done nothing.
    Raises StoreError when the database cannot be reached or written, or is newer than this release.
    """
    if url == "memory:":
        return "the store memory: has no tables, so there is nothing to do"
    engine = open_engine(url)
    try:
        with writing(engine) as connection:
            alone(connection, "migrate")
            before = version_in(connection)
            if before is not None:
                refuse_newer(engine, before)
            if before != SCHEMAS[-1]:
                _upgrade(connection)
    finally:
        engine.dispose()
    return _sentence(where(engine.url), before)


def _upgrade(connection: Connection) -> None:
    """Run the scripts that are shipped beside this package, wherever the process stands."""
    with as_file(files("migrations")) as scripts:
        config = Config()
        config.set_main_option("script_location", str(scripts).replace("%", "%%"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, SCHEMAS[-1])


def _sentence(store: str, before: str | None) -> str:
    if before is None:
        return f"{store} was empty and is now at schema {SCHEMAS[-1]}"
    if before == SCHEMAS[-1]:
        return f"{store} is at schema {before} already; nothing to do"
    return f"{store} was at schema {before} and is now at {SCHEMAS[-1]}"

"""Which schema a database has, and whether this release can use it."""

from sqlalchemy import Connection, Engine, inspect, text

from connectors.stores.engine import open_engine, reading, where
from connectors.stores.tables import SCHEMAS
from forecaster.errors import StoreError


def schema_version(url: str) -> str | None:
    """The schema of the database at `url`, None when it was never migrated. Raises StoreError when it cannot be asked."""
    engine = open_engine(url)
    try:
        with reading(engine) as connection:
            return version_in(connection)
    finally:
        engine.dispose()


def is_empty(url: str) -> bool:
    """Whether the database at `url` has no table at all. Raises StoreError when it cannot be asked."""
    engine = open_engine(url)
    try:
        with reading(engine) as connection:
            return not inspect(connection).get_table_names()
    finally:
        engine.dispose()


def version_in(connection: Connection) -> str | None:
    """The schema that Alembic has noted down, None when it never did."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return version


def check_schema(engine: Engine) -> None:
    """Refuse a database that is not at the schema of this release, with the way out."""
    with reading(engine) as connection:
        version = version_in(connection)
    if version is None:
        msg = f"{where(engine.url)} has no tables yet: run `forecaster migrate`"
        raise StoreError(msg)
    refuse_newer(engine, version)
    if version != SCHEMAS[-1]:
        msg = f"{where(engine.url)} is at schema {version}, and this release needs {SCHEMAS[-1]}: run `forecaster migrate`"
        raise StoreError(msg)


def refuse_newer(engine: Engine, version: str) -> None:
    """Refuse a database that a newer release has migrated: migrations go forward only."""
    if version not in SCHEMAS:
        msg = f"{where(engine.url)} is at schema {version}, and this release knows {SCHEMAS[-1]} at most: upgrade Forecaster"
        raise StoreError(msg)

"""The lease that fits a store."""

from pathlib import Path
from urllib.parse import quote

from connectors.leases.file import FileLease
from connectors.leases.memory import MemoryLease
from forecaster.errors import ConfigRejected
from forecaster.ports import Lease


def open_lease(store_url: str, name: str) -> Lease:
    """The lease `name` among all users of the store at that address: a lock file beside a SQLite file, a lock in PostgreSQL.

    Raises ConfigRejected when the address cannot be used. Nothing is locked or connected yet.
    """
    scheme, _, rest = store_url.partition(":")
    match scheme:
        case "memory":
            return MemoryLease()
        case "sqlite" if rest.strip("/"):
            from sqlalchemy import make_url  # noqa: PLC0415  slow to load, and loaded anyway where a file is the store

            path = Path(str(make_url(store_url).database))
            return FileLease(path.with_name(f"{path.name}.{quote(name, safe='')}.lock"))
        case "postgresql" | "postgresql+psycopg":
            from connectors.leases.postgres import PostgresLease  # noqa: PLC0415  psycopg is for those who use PostgreSQL

            return PostgresLease(store_url, name)
        case _:
            msg = f"store must begin with memory:, sqlite:/// or postgresql://, got {scheme}:"
            raise ConfigRejected(msg)

"""The stores by the scheme of their address."""

from connectors.stores.memory import MemoryStore
from forecaster.ports import Store


def open_store(url: str) -> Store:
    """The store at `memory:`, `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/DATABASE`.

    A SQLite file without any table is new and gets its tables at once; any other database needs `forecaster migrate` first.
    Raises ConfigRejected when the address cannot be used, StoreError when the database cannot.
    """
    if url == "memory:":
        return MemoryStore()
    # SQLAlchemy and Alembic take as long to load as the rest of a command takes: only those who store pay for it.
    from connectors.stores.schema import is_empty  # noqa: PLC0415
    from connectors.stores.sql import SqlStore  # noqa: PLC0415

    if url.startswith("sqlite:") and is_empty(url):
        from connectors.stores.migrate import migrate  # noqa: PLC0415

        migrate(url)
    return SqlStore(url)

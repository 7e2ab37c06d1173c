"""The stores that the contract is for. A test module gets them by `pytest_plugins`, together with `tests.postgres`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from forecaster.ports import Store


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that is at the newest schema and holds nothing."""
    url: str = f"sqlite:///{tmp_path}/forecaster.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    migrate(url)
    return url


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each store, holding nothing."""
    match request.param:
        case "memory":
            url = "memory:"
        case "sqlite":
            url = f"sqlite:///{tmp_path}/forecaster.db"
        case _:
            url = request.getfixturevalue("postgres_url")
            migrate(url)
    store = open_store(url)
    yield store
    store.close()

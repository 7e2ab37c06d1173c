"""Whether the store can be used, without making one."""

import os
from pathlib import Path

from connectors.stores.engine import open_engine, parse, where
from connectors.stores.schema import check_schema, is_empty, schema_version
from forecaster.errors import ForecasterError
from jobs.checking.finding import Finding, State


def check_store(url: str) -> tuple[Finding, bool]:
    """The finding, and whether there is anything in the store to read."""
    if url == "memory:":
        sentence = "forgets history, plans and approvals when a command ends: name a file or a database for more than a look"
        return _finding(url, State.WARNING, sentence), False
    try:
        return _check(url)
    except ForecasterError as error:
        return _finding("store", State.FAILED, str(error)), False


def _check(url: str) -> tuple[Finding, bool]:
    parsed = parse(url)
    named = where(parsed)
    if parsed.drivername == "sqlite":
        path = Path(str(parsed.database))
        if not path.exists():
            return _absent(path), False
        if path.is_file() and (path.stat().st_size == 0 or is_empty(url)):
            return _finding(path.name, State.OK, f"{named} is empty and gets its tables at the first run"), False
    engine = open_engine(url)
    try:
        check_schema(engine)
    finally:
        engine.dispose()
    return _finding(
        Path(parsed.database or "").name, State.OK, f"{named} is at schema {schema_version(url)}, the one of this release"
    ), True


def _absent(path: Path) -> Finding:
    if not path.parent.is_dir():
        return _finding(path.name, State.FAILED, f"the directory {path.parent} does not exist; create it, or name another file in store")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        sentence = f"{path} is not there and cannot be created by this user; grant write access to {path.parent}"
        return _finding(path.name, State.FAILED, sentence)
    return _finding(path.name, State.OK, f"{path} is not there yet and will be created by the first run")


def _finding(name: str, state: State, sentence: str) -> Finding:
    return Finding(what="store", where=name, state=state, sentence=sentence)

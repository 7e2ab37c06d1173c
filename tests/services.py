"""Real programs that tests start themselves. A missing one skips the test with the reason, or fails it where services are required."""

import importlib.util
import os
import shutil
import socket
from pathlib import Path
from typing import NoReturn

import pytest

_DEBIAN_DIRS = ("/usr/sbin", "/usr/lib/postgresql/17/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/15/bin")


def program(name: str, package: str) -> Path:
    """The path of a program, or the end of the test: skipped, or failed under FORECASTER_REQUIRE_SERVICES=1."""
    found = shutil.which(name) or next((str(p) for d in _DEBIAN_DIRS if (p := Path(d) / name).exists()), None)
    if found is None:
        absent(f"needs {name} from the Debian package {package}: apt-get install {package}", required="FORECASTER_REQUIRE_SERVICES")
    return Path(found)


def absent(reason: str, *, required: str) -> NoReturn:
    """The end of a test that needs what is not there: skipped with the reason, or failed where the variable `required` is 1."""
    if os.environ.get(required) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def library(module: str, extra: str) -> None:
    """The end of the test, skipped with the reason, where the library of an extra is missing; statsforecast cannot live beside pandas 3."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"needs {module}: pip install '.[{extra}]', for statsforecast in an environment of its own")


def free_port() -> int:
    """A TCP port on loopback that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

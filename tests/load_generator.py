"""The load generator of the tests, in an environment of its own since its pins exclude ours: `python -m tests.load_generator` installs it.

Some minutes and 1.2 GB the first time, then from ~/.cache/forecaster-tests.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services import absent

_WHAT = "aiperf==0.13.0"
_INSTALL = "`make load-generator` installs it"
_REQUIRED = "FORECASTER_REQUIRE_LOAD_GENERATOR"


def load_generator() -> Path:
    """The command, or the end of the test: skipped, or failed under FORECASTER_REQUIRE_LOAD_GENERATOR=1."""
    command = _command()
    if not _mark().exists():
        absent(f"needs AIPerf: {_INSTALL}", required=_REQUIRED)
    return command


def _place() -> Path:
    """Named by what is installed and by whose Python."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(f"{_WHAT} {sys.version} {sys.base_prefix}".encode()).hexdigest()
    return cache / "forecaster-tests" / f"aiperf-{digest[:16]}"


def _command() -> Path:
    return _place() / "bin" / "aiperf"


def _mark() -> Path:
    """Written at the end: an installation that was cut short does not look whole."""
    return _place() / "is-whole"


def _install() -> None:
    """Where it is not there. Two that ask at once install once. Raises CalledProcessError."""
    place = _place()
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _mark().exists():
            return
        print("installing the load generator of the tests: some minutes, once", file=sys.stderr)  # noqa: T201
        shutil.rmtree(place, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", str(place)],
            [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", _WHAT],
            [str(_command()), "--version"],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own commands
        _mark().touch()


def main() -> None:
    """Install, and say where it is, or why it is not: that fails only under FORECASTER_REQUIRE_LOAD_GENERATOR=1."""
    try:
        _install()
    except (subprocess.CalledProcessError, OSError) as failed:
        said = (getattr(failed, "stderr", None) or str(failed)).strip().splitlines()
        why = said[-1] if said else "no reason was given"
        if os.environ.get(_REQUIRED) == "1":
            sys.exit(f"the load generator cannot be installed: {why}")
        print(f"tests that drive a load generator are skipped, it cannot be installed: {why}")  # noqa: T201
    else:
        print(f"the load generator of the tests: {_command()}")  # noqa: T201


if __name__ == "__main__":
    main()

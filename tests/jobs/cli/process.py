"""The command as a process of its own, as people and cron start it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def forecaster(folder: Path, *arguments: str, timeout_s: float = 120, **environment: str) -> Ended:
    """Run `forecaster ARGUMENTS` in a folder."""
    inherited = {name: value for name, value in os.environ.items() if name != "FORECASTER_CONFIG"}
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", "from jobs.cli.main import run; run()", *arguments],
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(Path(__file__).parents[3])} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)

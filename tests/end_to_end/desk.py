"""Where an operator sits: a folder with a configuration, and the installed command `forecaster`, always a process of its own."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import yaml

from forecaster.units import iso

FORECASTER = Path(sys.executable).with_name("forecaster")
_PATIENCE_S = 120
_NOT_OURS = ("FORECASTER_CONFIG", "KUBECONFIG", "PYTHONWARNINGS", "FORCE_COLOR", "COLUMNS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its stdout, which must be one JSON document."""
        return json.loads(self.out)

    @property
    def sentences(self) -> list[str]:
        """What it said on stderr, a line each."""
        return self.err.splitlines()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A folder, and what the environment of its commands holds besides the machine's."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def after(cls, before: Path, folder: Path, **env: str) -> Self:
        """A desk of its own after what was done in another folder."""
        shutil.copytree(before, folder)
        return cls(folder=folder, env=env)

    def configure(self, config: Mapping[str, object]) -> None:
        """Write the configuration."""
        (self.folder / "forecaster.yaml").write_text(yaml.safe_dump(dict(config), sort_keys=False))

    def start(self, *words: str, at: datetime | None = None) -> subprocess.Popen[str]:
        """Start a command; `at` is its --now."""
        now = () if at is None else ("--now", iso(at))
        inherited = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
        return subprocess.Popen(  # noqa: S603  # our own command
            [FORECASTER, *words, *now],
            cwd=self.folder,
            env={**inherited, "OMP_NUM_THREADS": "1", **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, at: datetime | None = None) -> Outcome:
        """Run a command to its end. Whatever happens, nobody is ever shown a traceback or a warning of a library."""
        return ended(self.start(*words, at=at))

    def done(self, *words: str, at: datetime | None = None) -> Outcome:
        """Run a command that must succeed."""
        outcome = self.run(*words, at=at)
        assert outcome.code == 0, (words, outcome)
        return outcome

    def rows(self, table: str) -> int:
        """How many rows a table of the embedded store has; 0 where there is no store."""
        path = self.folder / "forecaster.db"
        if not path.exists():
            return 0
        connection = sqlite3.connect(path)
        try:
            (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608  # a name that a test wrote
        finally:
            connection.close()
        return int(count)


def ended(process: subprocess.Popen[str]) -> Outcome:
    """The outcome of a started command, once it has ended by itself."""
    out, err = process.communicate(timeout=_PATIENCE_S)
    assert "Traceback" not in out + err, err
    assert "Warning" not in err, err
    return Outcome(code=process.returncode, out=out, err=err)

"""The bar of progress: on stderr, for a person who watches, and never on stdout."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.cli.process import forecaster
from tests.jobs.world import NOW, World

ROOT = Path(__file__).parents[3]


def watched(world: World, *arguments: str) -> tuple[str, str]:
    """Stdout and stderr of a command whose stderr is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from jobs.cli.main import run; run()", *arguments, "--config", str(world.path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True) as at_work:  # noqa: S603  our own
        os.close(theirs)
        assert at_work.stdout is not None
        seen = b""
        while part := heard(ours):
            seen += part
        return at_work.stdout.read(), seen.decode()


def heard(terminal: int) -> bytes:
    """What came since, nothing when the other end is closed."""
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says EIO for it
        return b""


@pytest.mark.parametrize("command", ["forecast", "run"])
def test_a_person_who_watches_sees_a_bar_and_stdout_is_data(world: World, command: str) -> None:
    world.workload("chat", mode="observe")
    out, err = watched(world, command, "--json", "--now", NOW.isoformat())
    assert "%" in err
    assert json.loads(out)


def test_nobody_who_watches_no_bar(world: World) -> None:
    world.workload("chat", mode="observe")
    ended = forecaster(world.folder, "forecast", "--config", str(world.path), "--now", NOW.isoformat())
    assert (ended.code, ended.err) == (0, "")

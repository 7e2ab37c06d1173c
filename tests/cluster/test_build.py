"""The programs are built once, and where they cannot be, somebody says why."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.build import built, programs

ROOT = Path(__file__).parents[2]


def built_with(path: str, **env: str) -> "subprocess.CompletedProcess[str]":
    environment = {"HOME": os.environ.get("HOME", "/"), "PATH": path, **env}
    return subprocess.run(
        [sys.executable, "-m", "tests.cluster.build"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_what_is_built_is_found_again() -> None:
    assert programs() == built()


def test_without_go_it_says_what_is_missing_and_fails_nothing(tmp_path: Path) -> None:
    done = built_with(str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "skipped: needs Go" in done.stdout


def test_without_go_it_fails_where_the_control_plane_is_required(tmp_path: Path) -> None:
    done = built_with(str(tmp_path), FORECASTER_REQUIRE_CLUSTER="1")
    assert done.returncode == 1
    assert "needs Go" in done.stderr

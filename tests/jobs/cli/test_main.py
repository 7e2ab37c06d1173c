"""What may stand in the place of a command."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.jobs.cli.process import forecaster


def test_the_version_is_that_of_the_distribution(tmp_path: Path) -> None:
    done = forecaster(tmp_path, "--version")
    assert (done.code, done.out, done.err) == (0, f"forecaster {version('forecaster')}\n", "")


@pytest.mark.parametrize("command", [(), ("check",), ("override",), ("override", "set")])
def test_h_is_short_for_help_everywhere(tmp_path: Path, command: tuple[str, ...]) -> None:
    short, long = (forecaster(tmp_path, *command, asked) for asked in ("-h", "--help"))
    assert (short.code, short.err) == (0, "")
    assert short.out == long.out
    assert short.out.startswith(" ".join(("Usage: -c", *command)))
    assert "-h, --help" in short.out

"""What stands in examples/ can be read as it is."""

from pathlib import Path

import pytest

from jobs.config.reading import read_config

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_a_configuration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORECASTER_DB_PASSWORD", "s3cret")
    assert read_config(path).workloads


def test_there_are_examples() -> None:
    assert EXAMPLES

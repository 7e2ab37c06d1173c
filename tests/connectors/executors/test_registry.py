"""Every executor by its name."""

import pytest
from pydantic import TypeAdapter

from connectors.executors.registry import ExecutorConfig, open_executor

CONFIGS: TypeAdapter[ExecutorConfig] = TypeAdapter(ExecutorConfig)


def test_every_kind_is_a_literal_of_the_schema_whatever_is_installed() -> None:
    assert set(CONFIGS.json_schema()["discriminator"]["mapping"]) == {"serial", "processes", "ray", "dask"}


@pytest.mark.parametrize("kind", ["serial", "processes", "ray", "dask"])
def test_opening_starts_nothing_and_closing_what_was_not_started_is_no_error(kind: str) -> None:
    executor = open_executor(CONFIGS.validate_python({"type": kind}))
    executor.close()
    executor.close()

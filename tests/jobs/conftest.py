from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.world import World, daily_rpm, write_trace
from tests.kube_api import KubeApi


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    write_trace(tmp_path / "load.csv", daily_rpm())
    with KubeApi() as api:
        yield World(folder=tmp_path, api=api)

"""A fleet of one workload with levers: an engine with a page of metrics, its settings on the loopback API server, a gateway's webhook."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.levers.engine import Engine
from tests.jobs.levers.stage import Stage
from tests.jobs.world import World, daily_rpm, write_trace
from tests.kube_api import KubeApi
from tests.lever_receiver import LeverReceiver


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    write_trace(tmp_path / "load.csv", daily_rpm(days=1))
    with KubeApi() as api, Engine() as engine, LeverReceiver() as gateway:
        yield Stage.built(World(folder=tmp_path, api=api), engine, gateway)

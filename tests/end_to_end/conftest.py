import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_csv, on_prometheus
from tests.end_to_end.service import clock, openmetrics, trace_csv
from tests.kube_api import KubeApi
from tests.prometheus import prometheus_server


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prometheus with three weeks of the service."""
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), openmetrics()) as url:
        yield url


@pytest.fixture
def kube() -> Iterator[KubeApi]:
    """An API server with the HPA serving/chat, found at 2 of at most 40 replicas."""
    with KubeApi() as api:
        api.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        yield api


@pytest.fixture
def desk(tmp_path: Path, prometheus: str, kube: KubeApi) -> Desk:
    """An empty store, and a configuration in mode review that reads that Prometheus and writes that HPA."""
    desk = Desk(folder=tmp_path / "desk", env={"PROMETHEUS": prometheus, "KUBE": kube.url})
    desk.folder.mkdir()
    desk.configure(on_prometheus())
    return desk


@pytest.fixture(scope="session")
def approved_folder(tmp_path_factory: pytest.TempPathFactory, prometheus: str) -> Path:
    """What is left in the folder after a run at 06:30 and a person's approval."""
    folder = tmp_path_factory.mktemp("approved")
    with KubeApi() as api:
        api.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        desk = Desk(folder=folder, env={"PROMETHEUS": prometheus, "KUBE": api.url})
        desk.configure(on_prometheus())
        assert desk.run("run", at=clock("06:30")).code == 3
        desk.done("approve", "chat", "-m", "looks like last week", "--author", "ada", at=clock("06:40"))
    return folder


@pytest.fixture
def approved(desk: Desk, approved_folder: Path) -> Desk:
    """The desk after a run at 06:30 and a person's approval at 06:40, before any further apply."""
    shutil.copytree(approved_folder, desk.folder, dirs_exist_ok=True)
    return desk


@pytest.fixture(scope="session")
def foreseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a forecast of 06:00 from a file leaves behind, in mode auto."""
    folder = tmp_path_factory.mktemp("foreseen")
    (folder / "load.csv").write_text(trace_csv(days=8))
    with KubeApi() as api:
        api.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        desk = Desk(folder=folder, env={"KUBE": api.url})
        desk.configure(on_csv())
        desk.done("forecast", at=clock("06:00"))
    return folder


@pytest.fixture
def floor(kube: KubeApi) -> Callable[[], int]:
    """What stands on the HPA."""
    return lambda: kube.min_replicas("serving", "chat")

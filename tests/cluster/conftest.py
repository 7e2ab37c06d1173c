"""One control plane a session, on one worker of xdist: two cores carry no second one. Every test has a namespace of its own."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cluster.build import BuildFailed, built, programs
from tests.cluster.control_plane import ControlPlane, control_plane, eventually
from tests.cluster.kubelet import Kubelet, kubelet_of
from tests.cluster.llm import METRIC, apply, deployment, eventually_ready, hpa
from tests.cluster.metrics_api import ExternalMetrics, external_metrics
from tests.services import absent

_HERE = Path(__file__).parent
_BUILD_S = 2_400
_numbers = count(1)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in its own, which comes first where this folder is named on the command line
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder run on one worker; where the programs are not built yet, the first one may wait for that."""
    ours = [item for item in items if item.path.is_relative_to(_HERE)]
    for item in ours:
        item.add_marker(pytest.mark.xdist_group("cluster"))
        if built() is None:
            item.add_marker(pytest.mark.timeout(_BUILD_S))


@pytest.fixture(scope="session")
def cluster() -> Iterator[ControlPlane]:
    """The control plane, with the kinds of crds/ beside Kubernetes' own."""
    try:
        folder = programs()
    except BuildFailed as failed:
        absent(str(failed), required="FORECASTER_REQUIRE_CLUSTER")
    with control_plane(folder, _HERE / "crds") as plane:
        yield plane


@pytest.fixture(scope="session", autouse=True)
def kubelet(cluster: ControlPlane) -> Iterator[Kubelet]:
    """Nodes, and pods that become ready on them, for every test."""
    with kubelet_of(cluster) as kubelet:
        yield kubelet


@pytest.fixture(scope="session")
def metrics(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExternalMetrics]:
    """What the real HPA controller reads."""
    with external_metrics(cluster, tmp_path_factory.mktemp("metrics")) as metrics:
        yield metrics


@pytest.fixture
def namespace(cluster: ControlPlane) -> Iterator[str]:
    """A namespace for one test."""
    name = f"test-{next(_numbers)}"
    with cluster.http() as http:
        http.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
        eventually(lambda: http.get(f"/api/v1/namespaces/{name}/serviceaccounts/default").is_success)
        yield name
        http.delete(f"/api/v1/namespaces/{name}").raise_for_status()  # it goes by itself


@pytest.fixture
def served(cluster: ControlPlane, namespace: str, metrics: ExternalMetrics) -> str:
    """A namespace with a Deployment of 3 ready replicas, and a HPA of 2 to 20 that holds it there."""
    metrics.values[namespace, METRIC] = 300
    apply(cluster, namespace, deployment(replicas=3), hpa(min_replicas=2))
    eventually_ready(cluster, namespace, 3)
    return namespace

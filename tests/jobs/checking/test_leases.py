"""What `check` says of a lease in Kubernetes: how it stands, or why no run would get it; nothing is taken."""

from pathlib import Path

from connectors.kube.connection import KubeConnection
from connectors.leases.kubernetes import KubernetesLeaseConfig
from jobs.checking.finding import Finding, State
from jobs.checking.leases import check_lease
from jobs.config.document import Config
from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE
from tests.kube_api import KubeApi
from tests.services import free_port


def leasing(folder: Path, server: str) -> Config:
    path = folder / "forecaster.yaml"
    path.write_text(SAMPLE)
    lease = KubernetesLeaseConfig(type="kubernetes", namespace="fleet", cluster=KubeConnection(server=server))
    return read_config(path).model_copy(update={"lease": lease})


def found(folder: Path, server: str) -> Finding:
    (finding,) = check_lease(leasing(folder, server), folder)
    return finding


def test_a_lease_that_nobody_made_yet_is_fine_and_is_not_made(tmp_path: Path) -> None:
    with KubeApi() as api:
        first, again = found(tmp_path, api.url), found(tmp_path, api.url)
    assert first == again
    assert (first.what, first.state) == ("lease", State.OK)
    assert first.sentence == "namespace fleet answers and has no forecaster-apply yet: the first run makes it"


def test_a_role_that_may_not_is_told_with_its_rule_before_any_run(tmp_path: Path) -> None:
    with KubeApi() as api:
        api.forbid("get", "leases")
        told = found(tmp_path, api.url)
    assert told.state is State.FAILED
    assert "resources: [leases], verbs: [get, create, patch]} in namespace fleet" in told.sentence


def test_a_cluster_that_cannot_be_reached_is_told_with_the_key_that_names_it(tmp_path: Path) -> None:
    told = found(tmp_path, f"http://127.0.0.1:{free_port()}")
    assert told.state is State.FAILED
    assert "see that lease.cluster says how its API server is reached" in told.sentence


def test_the_lease_of_the_store_has_no_row_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(SAMPLE)
    assert not list(check_lease(read_config(path), tmp_path))

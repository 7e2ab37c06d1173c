"""A Lease of a real API server, with the rights that deploy/ grants: one replica works, the other stands by and takes over."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from connectors.kube.cluster import Cluster
from connectors.leases.kubernetes import KubernetesLease, KubernetesLeaseConfig
from connectors.stores.migrate import migrate
from forecaster.errors import StoreError
from jobs.clock import SystemClock
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kustomized import KUSTOMIZE, overlay, put, rendered
from tests.cluster.llm import min_replicas
from tests.jobs.daemon_process import daemon, load_to
from tests.jobs.world import write_trace

pytest_plugins = ("tests.postgres",)

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
SPACE = "forecaster"


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def token(cluster: ControlPlane) -> Iterator[str]:
    """Our account with the rights of the base, and no Lease yet."""
    wanted = ("Namespace", "ServiceAccount", "Role", "RoleBinding")
    objects = [each for each in rendered(cluster, KUSTOMIZE / "base") if each["kind"] in wanted]
    put(cluster, sorted(objects, key=lambda each: wanted.index(each["kind"])))
    cluster.kubectl("delete", "leases", "--all", "--namespace", SPACE)
    yield cluster.token_for(SPACE, "forecaster")
    cluster.kubectl("delete", "leases", "--all", "--namespace", SPACE)


@pytest.fixture
def lease_of(cluster: ControlPlane, token: str, hands: Hands) -> Iterator[Callable[..., KubernetesLease]]:
    with ExitStack() as closing:

        def lease(identity: str, half: str = "apply", *, lingers: bool = False) -> KubernetesLease:
            connection = cluster.connection(token)
            config = KubernetesLeaseConfig(type="kubernetes", namespace=SPACE, cluster=connection)
            opened = KubernetesLease(config, half, cluster=Cluster(connection), identity=identity, now=hands.now, lingers=lingers)
            closing.callback(opened.close)
            return opened

        yield lease


def spec_of(cluster: ControlPlane, half: str = "apply") -> Json:
    found = cluster.read(f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases/forecaster-{half}")
    assert found is not None
    spec: Json = found["spec"]
    return spec


def test_of_two_holders_one_has_it_and_the_other_gets_it_when_it_is_let_go(
    cluster: ControlPlane, lease_of: Callable[..., KubernetesLease]
) -> None:
    first, second = lease_of("pod-a"), lease_of("pod-b")
    assert (first.try_acquire(), second.try_acquire()) == (True, False)
    assert (spec_of(cluster)["holderIdentity"], spec_of(cluster)["leaseDurationSeconds"]) == ("pod-a", 90)
    assert first.renew()
    first.release()
    assert second.try_acquire()
    assert (spec_of(cluster)["holderIdentity"], spec_of(cluster)["leaseTransitions"]) == ("pod-b", 1)


def test_a_holder_that_fell_silent_is_followed_by_another_and_learns_of_it(
    cluster: ControlPlane, lease_of: Callable[..., KubernetesLease], hands: Hands
) -> None:
    first, second = lease_of("pod-a"), lease_of("pod-b")
    assert first.try_acquire()
    hands.wait(94)
    assert not second.try_acquire()
    hands.wait(2)
    assert second.try_acquire()
    assert not first.renew()
    first.release()
    assert spec_of(cluster)["holderIdentity"] == "pod-b"


def test_of_many_that_reach_for_it_at_once_the_server_lets_one_have_it(lease_of: Callable[..., KubernetesLease], hands: Hands) -> None:
    before = lease_of("pod-0")
    assert before.try_acquire()
    hands.wait(100)
    several = [lease_of(f"pod-{number}") for number in range(1, 7)]
    start, got = threading.Barrier(len(several)), list[bool]()

    def reach(lease: KubernetesLease) -> None:
        start.wait()
        got.append(lease.try_acquire())

    threads = [threading.Thread(target=reach, args=(lease,)) for lease in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 5 + [True]


def test_every_half_has_a_lease_of_its_own_and_our_rights_end_with_those(
    cluster: ControlPlane, lease_of: Callable[..., KubernetesLease]
) -> None:
    assert all(lease_of("pod-a", half).try_acquire() for half in ("apply", "forecast", "tune"))
    with pytest.raises(StoreError, match=r"resources: \[leases\], verbs: \[get, create, patch\]"):
        lease_of("pod-a", "other").try_acquire()
    as_us = f"--as=system:serviceaccount:{SPACE}:forecaster"
    for verb, what in (("delete", "leases"), ("list", "leases"), ("update", "leases"), ("get", "secrets"), ("get", "configmaps")):
        assert cluster.tried("auth", "can-i", verb, what, "--namespace", SPACE, as_us).stdout.strip() == "no"


@pytest.fixture
def replica(cluster: ControlPlane, served: str, token: str, postgres_url: str, tmp_path: Path) -> Callable[[str], Path]:
    """Writes the configuration of a replica: the same store, load, HPA and Lease, with the rights of deploy/."""
    rights = overlay(tmp_path / "rights", namespace=served, resources=[KUSTOMIZE / "rbac" / "kubernetes-hpa"])
    put(cluster, rendered(cluster, rights))
    migrate(postgres_url)
    trace = tmp_path / "load.csv"
    write_trace(trace, load_to(SystemClock().now()))
    reached = {"server": cluster.server, "token": token, "ca_file": str(cluster.ca_file), "timeout_s": 5}
    target = {"type": "kubernetes-hpa", "namespace": served, "name": "llm", "cluster": reached}
    workload = {
        "name": "chat",
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [{"name": "gpu", "capacity": {"rpm": 100}, "targets": [target]}],
        "policy": {"mode": "auto"},
    }
    document = {
        "store": postgres_url,
        "lease": {"type": "kubernetes", "namespace": SPACE, "ttl_s": 15, "cluster": reached},
        "apply": {"every": "5s"},
        "daemon": {"port": 0},
        "forecast": {"watched": []},
        "operating_point": {"workloads": 0},
        "sources": {"trace": {"type": "csv", "path": str(trace)}},
        "workloads": [workload],
    }

    def written(name: str) -> Path:
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(document))
        return path

    return written


def test_k45_one_replica_writes_the_other_stands_by_in_good_health_and_takes_over_at_sigterm(
    cluster: ControlPlane, served: str, replica: Callable[[str], Path]
) -> None:
    with daemon(replica("first")) as first:
        first.until("forecaster_planned_floor_replicas", 0, workload="chat")
        eventually(lambda: min_replicas(cluster, served) > 2)
        holder = spec_of(cluster)["holderIdentity"]
        with daemon(replica("second")) as second:
            second.until("forecaster_runs_total", 1, verb="apply", outcome="skipped")
            assert second.health()[0] == 200
            assert spec_of(cluster)["holderIdentity"] == holder
            assert second.metric("forecaster_runs_total", verb="apply", outcome="done") == 0
            first.stop()
            second.until("forecaster_runs_total", 0, verb="apply", outcome="done")
            assert spec_of(cluster)["holderIdentity"] not in {"", holder}
            assert min_replicas(cluster, served) > 2
            second.stop()
    assert "holderIdentity" not in spec_of(cluster)

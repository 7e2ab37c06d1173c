"""A Lease object of Kubernetes: taken by compare-and-set, renewed while it is held, anybody's once its holder fell silent."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.leases.kubernetes import KubernetesLease, KubernetesLeaseConfig
from forecaster.errors import StoreError
from tests.kube_api import KubeApi

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def lease_of(api: KubeApi, hands: Hands) -> Iterator[Callable[..., KubernetesLease]]:
    opened: list[KubernetesLease] = []

    def lease(identity: str, *, lingers: bool = False) -> KubernetesLease:
        connection = KubeConnection(server=api.url)
        config = KubernetesLeaseConfig(type="kubernetes", namespace="forecaster", cluster=connection)
        opened.append(KubernetesLease(config, "apply", cluster=Cluster(connection), identity=identity, now=hands.now, lingers=lingers))
        return opened[-1]

    yield lease
    for one in opened:
        one.close()


def test_the_object_says_who_holds_it_since_when_and_for_how_long(api: KubeApi, lease_of: Callable[..., KubernetesLease]) -> None:
    assert lease_of("pod-a").try_acquire()
    spec = api.look("leases", "forecaster", "forecaster-apply")["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("pod-a", 90, 0)
    assert spec["acquireTime"] == spec["renewTime"] == "2026-03-02T08:00:00.000000Z"


@pytest.mark.parametrize(("silent_s", "taken"), [(90, False), (95, False), (96, True)])
def test_a_lease_is_anybodys_once_its_holder_was_silent_for_its_length_and_what_clocks_may_differ(
    lease_of: Callable[..., KubernetesLease], hands: Hands, silent_s: float, taken: bool
) -> None:
    assert lease_of("pod-a").try_acquire()
    hands.wait(silent_s)
    assert lease_of("pod-b").try_acquire() is taken


def test_a_holder_whose_lease_was_taken_over_finds_so_and_writes_nothing_over_it(
    api: KubeApi, lease_of: Callable[..., KubernetesLease], hands: Hands
) -> None:
    first, second = lease_of("pod-a"), lease_of("pod-b")
    assert first.try_acquire()
    hands.wait(100)
    assert second.try_acquire()
    assert not first.renew()
    first.release()
    assert api.look("leases", "forecaster", "forecaster-apply")["spec"]["holderIdentity"] == "pod-b"
    assert api.look("leases", "forecaster", "forecaster-apply")["spec"]["leaseTransitions"] == 1


def test_of_two_that_take_it_at_once_one_gets_it(api: KubeApi, lease_of: Callable[..., KubernetesLease], hands: Hands) -> None:
    first, second = lease_of("pod-a"), lease_of("pod-b")
    assert first.try_acquire()
    first.release()
    api.fail_next(409, verb="patch", plural="leases")
    assert not second.try_acquire()
    assert second.try_acquire()
    assert hands.now() == NOW


def test_one_that_lingers_keeps_others_out_between_its_runs_and_is_found_by_its_own_process(
    lease_of: Callable[..., KubernetesLease], hands: Hands
) -> None:
    first = lease_of("pod-a", lingers=True)
    assert first.try_acquire()
    first.release()
    assert not lease_of("pod-b").try_acquire()
    hands.wait(30)
    assert lease_of("pod-a", lingers=True).try_acquire()
    lease_of("pod-a", lingers=True).close()
    assert lease_of("pod-b").try_acquire()


def test_a_role_that_may_not_is_told_with_the_rule_that_it_lacks(api: KubeApi, lease_of: Callable[..., KubernetesLease]) -> None:
    api.forbid("create", "leases")
    with pytest.raises(StoreError, match=r"resources: \[leases\], verbs: \[get, create, patch\]"):
        lease_of("pod-a").try_acquire()


def test_a_server_that_does_not_answer_is_an_error_and_no_lease(api: KubeApi, lease_of: Callable[..., KubernetesLease]) -> None:
    api.fail_next(500, times=5, plural="leases")
    with pytest.raises(StoreError, match="cannot be taken"):
        lease_of("pod-a").try_acquire()

"""What every lease promises, whatever excludes."""

from collections.abc import Callable, Iterator
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import pytest

from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.leases.kubernetes import KubernetesLease, KubernetesLeaseConfig
from connectors.leases.memory import MemoryLease
from connectors.leases.opening import open_lease
from forecaster.ports import Lease
from jobs.clock import SystemClock
from tests.kube_api import KubeApi

pytest_plugins = ("tests.postgres",)

Leases: TypeAlias = Callable[[str], Lease]


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


def in_kubernetes(api: KubeApi, name: str, *, identity: str) -> Lease:
    """A lease in a cluster, as another pod would open it."""
    connection = KubeConnection(server=api.url)
    config = KubernetesLeaseConfig(type="kubernetes", namespace="forecaster", cluster=connection)
    return KubernetesLease(config, name, cluster=Cluster(connection), identity=identity, now=SystemClock().now)


@pytest.fixture(params=["memory", "file", "postgres", "kubernetes"])
def lease_of(request: pytest.FixtureRequest, tmp_path: Path) -> Leases:
    """Leases by name, as separate holders would open them."""
    match request.param:
        case "kubernetes":
            server, pods = request.getfixturevalue("api"), count(1)
            return lambda name: in_kubernetes(server, name, identity=f"pod-{next(pods)}")
        case "memory":
            locks: dict[str, Lock] = {}
            return lambda name: MemoryLease(lock=locks.setdefault(name, Lock()))
        case "file":
            return lambda name: open_lease(f"sqlite:///{tmp_path}/forecaster.db", name)
        case _:
            url: str = request.getfixturevalue("postgres_url")
            return lambda name: open_lease(url, name)


@pytest.fixture(params=["file", "postgres"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that several processes share."""
    url: str = f"sqlite:///{tmp_path}/forecaster.db" if request.param == "file" else request.getfixturevalue("postgres_url")
    return url


def test_one_holder_excludes_all_others_until_it_lets_go(lease_of: Leases) -> None:
    first, second = lease_of("apply"), lease_of("apply")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    assert not first.try_acquire()
    second.release()


def test_a_holder_that_asks_again_holds_it_still_and_lets_go_once(lease_of: Leases) -> None:
    first, second = lease_of("apply"), lease_of("apply")
    assert first.try_acquire()
    assert first.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()


def test_only_a_holder_can_renew(lease_of: Leases) -> None:
    first, second = lease_of("apply"), lease_of("apply")
    assert not first.renew()
    first.try_acquire()
    assert first.renew()
    assert not second.try_acquire()
    assert not second.renew()
    first.release()
    assert not first.renew()


def test_letting_go_of_what_one_does_not_hold_is_no_error_and_frees_nobody_else(lease_of: Leases) -> None:
    holder, other = lease_of("apply"), lease_of("apply")
    assert holder.try_acquire()
    other.try_acquire()
    other.release()
    other.release()
    assert holder.renew()
    assert not other.try_acquire()
    holder.release()


@pytest.mark.parametrize("name", ["forecast", "apply/eu", "../apply", "ä b"])
def test_leases_of_other_names_are_free(lease_of: Leases, name: str) -> None:
    first, second = lease_of("apply"), lease_of(name)
    assert first.try_acquire()
    assert second.try_acquire()
    assert second.renew()
    first.release()
    second.release()


def test_a_holder_that_is_killed_loses_it_at_once(shared_url: str) -> None:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(theirs, shared_url), daemon=True)
    process.start()
    assert ours.recv() is True
    lease = open_lease(shared_url, "apply")
    assert not lease.try_acquire()
    process.kill()
    process.join()
    assert any(lease.try_acquire() for _ in range(1_000))  # PostgreSQL sees the closed socket a moment after the kernel closed it
    lease.release()
    ours.close()
    theirs.close()


def hold(said: Connection, url: str) -> None:
    """Take the lease, say so, and never let go."""
    lease = open_lease(url, "apply")
    said.send(lease.try_acquire())
    said.recv()
    lease.release()

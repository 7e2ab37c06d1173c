"""Who may work on a store: the lease that the configuration asks for, under this process's own name."""

import os
import socket
from pathlib import Path

from connectors.kube.cluster import Cluster
from connectors.leases.kubernetes import KubernetesLease, KubernetesLeaseConfig
from connectors.leases.opening import open_lease
from forecaster.ports import Lease
from jobs.clock import SystemClock
from jobs.config.document import Config
from jobs.config.paths import beside
from jobs.wiring import store_url


def lease_of(config: Config, folder: Path, half: str, *, lingers: bool = False, holder: str = "") -> Lease:
    """The lease of one half of the line, or of what is beside it: the store's own, or one in Kubernetes; nothing is asked for yet.

    lingers: a lease in Kubernetes stays ours between runs of one process, so that other replicas stand by. holder: which one of those in
    this process asks. Raises ConfigRejected.
    """
    if config.lease is None:
        return open_lease(store_url(config, folder), half)
    return _kubernetes(beside(config.lease, folder), half, lingers=lingers, holder=holder)


def look(config: Config, folder: Path, half: str) -> str | None:
    """How the lease of a half stands in Kubernetes, in words, without taking it; None for the store's own. Raises StoreError."""
    return None if config.lease is None else _kubernetes(beside(config.lease, folder), half, lingers=False).look()


def give_up(config: Config, folder: Path, halves: tuple[str, ...]) -> None:
    """Let others have at once what lingers with us; an API server that does not answer lets them have it once it has expired."""
    if config.lease is not None:
        for half in halves:
            _kubernetes(beside(config.lease, folder), half, lingers=True).close()


def _kubernetes(config: KubernetesLeaseConfig, half: str, *, lingers: bool, holder: str = "") -> KubernetesLease:
    identity = "_".join(filter(None, (_identity(), holder)))
    return KubernetesLease(config, half, cluster=Cluster(config.cluster), identity=identity, now=SystemClock().now, lingers=lingers)


def _identity() -> str:
    """This process among all: in a pod the host is the pod."""
    return f"{socket.gethostname()}_{os.getpid()}"

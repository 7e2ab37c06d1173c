"""Every kind of target by its `type`, and the one place that opens them."""

from collections.abc import Iterable
from typing import Annotated, Protocol, TypeAlias, assert_never

from pydantic import Field

from connectors.aws import AwsAccount, AwsConnection
from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.targets.eks_nodegroup import EksNodegroupConfig, EksNodegroupTarget, nodegroup_name
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig, KubernetesHpaTarget, hpa_name
from connectors.targets.recording import RecordingConfig, RecordingTarget, Rehearsed, VirtualObject, recording_name
from forecaster.ports import ScaleTarget

TargetConfig: TypeAlias = Annotated[
    RecordingConfig | KubernetesHpaConfig | EksNodegroupConfig,
    Field(discriminator="type", description="An object whose floor is moved; `type` says of which kind."),
]


class Target(ScaleTarget, Rehearsed, Protocol):
    """What every kind is: a ScaleTarget that can also be rehearsed, so `RecordingTarget(open_target(config))` is its dry run."""


def target_name(config: TargetConfig) -> str:
    """The name under which a configured target stands in pools, records and logs. Two equal names are one object."""
    match config:
        case RecordingConfig():
            return recording_name(config)
        case KubernetesHpaConfig():
            return hpa_name(config)
        case EksNodegroupConfig():
            return nodegroup_name(config)
        case _:
            assert_never(config)


def open_target(config: TargetConfig) -> Target:
    """The target on its own client. Opens no connection yet: what is wrong with it shows at `observe`, as a TargetError."""
    return open_targets([config])[target_name(config)]


def open_targets(configs: Iterable[TargetConfig]) -> dict[str, Target]:
    """Targets by name. Those on one cluster, or in one region, share one client: 2,000 targets cost one handshake, not 2,000."""
    clients = _Clients()
    return {target_name(config): _open(config, clients) for config in configs}


def _open(config: TargetConfig, clients: "_Clients") -> Target:
    match config:
        case RecordingConfig():
            return RecordingTarget(VirtualObject(config))
        case KubernetesHpaConfig():
            return KubernetesHpaTarget(config, clients.cluster(config.cluster))
        case EksNodegroupConfig():
            return EksNodegroupTarget(config, clients.account(config.connection))
        case _:
            assert_never(config)


class _Clients:
    """The clients opened so far, by what they reach."""

    def __init__(self) -> None:
        self._clusters: dict[KubeConnection, Cluster] = {}
        self._accounts: dict[AwsConnection, AwsAccount] = {}

    def cluster(self, connection: KubeConnection) -> Cluster:
        return self._clusters.setdefault(connection, Cluster(connection))

    def account(self, connection: AwsConnection) -> AwsAccount:
        return self._accounts.setdefault(connection, AwsAccount(connection))

"""Every kind of target by its `type`, and the one place that opens them. A new kind is a member of the union and a row of the table."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Protocol, TypeAlias

from pydantic import BaseModel, Field

from connectors.aws import AwsAccount, AwsConnection
from connectors.azure import AzureLogin
from connectors.google import GoogleLogin
from connectors.http.endpoint import Endpoint
from connectors.http.rest import RestApi
from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.targets.aibrix import AibrixConfig
from connectors.targets.aks_agentpool import AksAgentpoolConfig, AksAgentpoolTarget
from connectors.targets.asg import AsgConfig, AsgTarget
from connectors.targets.capacity_buffer import CapacityBufferConfig
from connectors.targets.dynamo import DynamoConfig
from connectors.targets.ecs import EcsConfig, EcsService
from connectors.targets.eks_nodegroup import EksNodegroupConfig, EksNodegroupTarget
from connectors.targets.gke_nodepool import GkeNodepoolConfig, GkeNodepoolTarget
from connectors.targets.keda_scaledobject import KedaScaledObjectConfig
from connectors.targets.knative import KnativeConfig
from connectors.targets.kserve import KserveConfig
from connectors.targets.kube_object import KubeObjectTarget
from connectors.targets.kubernetes_field import KubernetesFieldConfig
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.kubernetes_scale import KubernetesScaleConfig, KubernetesScaleTarget
from connectors.targets.placeholder_pods import PlaceholderPodsConfig, PlaceholderPodsTarget
from connectors.targets.recording import RecordingConfig, RecordingTarget, Rehearsed, VirtualObject
from connectors.targets.sagemaker import SagemakerConfig, SagemakerFleet
from connectors.targets.scalable_target import ScalableTarget, Scaled
from connectors.targets.webhook import WebhookConfig, WebhookTarget
from forecaster.ports import ScaleTarget

TargetConfig: TypeAlias = Annotated[
    RecordingConfig
    | KubernetesHpaConfig
    | KedaScaledObjectConfig
    | KserveConfig
    | KnativeConfig
    | AibrixConfig
    | DynamoConfig
    | CapacityBufferConfig
    | KubernetesFieldConfig
    | KubernetesScaleConfig
    | PlaceholderPodsConfig
    | EksNodegroupConfig
    | AsgConfig
    | SagemakerConfig
    | EcsConfig
    | GkeNodepoolConfig
    | AksAgentpoolConfig
    | WebhookConfig,
    Field(discriminator="type", description="An object whose floor is moved; `type` says of which kind."),
]  # fmt: skip

_PATIENCE: Mapping[str, Any] = {"timeout_s": 10, "attempts": 3, "connections": 32}
"""Control planes answer within a second or two; the apply job comes back in a minute."""


class Target(ScaleTarget, Rehearsed, Protocol):
    """What every kind is: a ScaleTarget that can also be rehearsed, so `RecordingTarget(open_target(config))` is its dry run."""


class Clients:
    """The clients opened so far, by what they reach: 2,000 targets on one cluster cost one handshake, not 2,000."""

    def __init__(self) -> None:
        self._clusters: dict[KubeConnection, Cluster] = {}
        self._accounts: dict[AwsConnection, AwsAccount] = {}
        self._apis: dict[str, RestApi] = {}
        self._google = GoogleLogin()
        self._azure = AzureLogin()

    def cluster(self, connection: KubeConnection) -> Cluster:
        """The client of a cluster."""
        return self._clusters.setdefault(connection, Cluster(connection))

    def account(self, connection: AwsConnection) -> AwsAccount:
        """The client of an account in a region."""
        return self._accounts.setdefault(connection, AwsAccount(connection))

    def google(self, url: str) -> RestApi:
        """The client of an API of Google, by application default credentials."""
        return self._apis.setdefault(url, RestApi(Endpoint(base_url=url, login=self._google, **_PATIENCE)))

    def azure(self, url: str) -> RestApi:
        """The client of Azure's resource manager, by the identity of the environment."""
        return self._apis.setdefault(url, RestApi(Endpoint(base_url=url, login=self._azure, **_PATIENCE)))


def _kube_object(config: Any, clients: Clients) -> Target:  # noqa: ANN401  # every kind that is one field of one object
    return KubeObjectTarget(config.kube_object(), clients.cluster(config.cluster))


def _scalable(kind: Callable[[Any, AwsAccount], Scaled], config: Any, clients: Clients) -> Target:  # noqa: ANN401  # both are scaled alike
    account = clients.account(config.connection)
    return ScalableTarget(kind(config, account), account)


OPENERS: Mapping[type[BaseModel], Callable[[Any, Clients], Target]] = {
    RecordingConfig: lambda config, _: RecordingTarget(VirtualObject(config)),
    KubernetesHpaConfig: _kube_object,
    KedaScaledObjectConfig: _kube_object,
    KserveConfig: _kube_object,
    KnativeConfig: _kube_object,
    AibrixConfig: _kube_object,
    DynamoConfig: _kube_object,
    CapacityBufferConfig: _kube_object,
    KubernetesFieldConfig: _kube_object,
    KubernetesScaleConfig: lambda config, clients: KubernetesScaleTarget(config, clients.cluster(config.cluster)),
    PlaceholderPodsConfig: lambda config, clients: PlaceholderPodsTarget(config, clients.cluster(config.cluster)),
    EksNodegroupConfig: lambda config, clients: EksNodegroupTarget(config, clients.account(config.connection)),
    AsgConfig: lambda config, clients: AsgTarget(config, clients.account(config.connection)),
    SagemakerConfig: lambda config, clients: _scalable(SagemakerFleet, config, clients),
    EcsConfig: lambda config, clients: _scalable(EcsService, config, clients),
    WebhookConfig: lambda config, _: WebhookTarget(config, RestApi(config.endpoint())),
    AksAgentpoolConfig: lambda config, clients: AksAgentpoolTarget(config, clients.azure(config.endpoint_url)),
    GkeNodepoolConfig: lambda config, clients: GkeNodepoolTarget(
        config, clients.google(config.endpoint_url), clients.google(config.compute_url)
    ),
}


NODES: tuple[type[BaseModel], ...] = (
    PlaceholderPodsConfig,
    CapacityBufferConfig,
    EksNodegroupConfig,
    AsgConfig,
    GkeNodepoolConfig,
    AksAgentpoolConfig,
)
"""The kinds that count nodes, which have to be there before the replicas on them."""


def counts_nodes(config: TargetConfig) -> bool:
    """Whether a target counts nodes."""
    return isinstance(config, NODES)


def target_name(config: TargetConfig) -> str:
    """The name under which a configured target stands in pools, records and logs. Two equal names are one object."""
    return config.target


def open_target(config: TargetConfig) -> Target:
    """The target on its own client. Opens no connection yet: what is wrong with it shows at `observe`, as a TargetError."""
    return open_targets([config])[target_name(config)]


def open_targets(configs: Iterable[TargetConfig]) -> dict[str, Target]:
    """Targets by name, on shared clients."""
    clients = Clients()
    return {target_name(config): OPENERS[type(config)](config, clients) for config in configs}

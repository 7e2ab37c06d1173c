"""Every kind of lever by its `type`, and the one place that opens them. A new kind is a member of the union and a row of the table."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

from connectors.http.rest import RestApi
from connectors.kube.cluster import Cluster
from connectors.kube.connection import KubeConnection
from connectors.levers.apisix import ApisixLeverConfig
from connectors.levers.documents import DocumentLever
from connectors.levers.kong import KongLeverConfig
from connectors.levers.kubernetes_field import KubernetesFieldLever, KubernetesFieldLeverConfig
from connectors.levers.litellm import LitellmLeverConfig
from connectors.levers.webhook import WebhookLever, WebhookLeverConfig
from forecaster.ports import Lever

LeverConfig: TypeAlias = Annotated[
    KubernetesFieldLeverConfig | WebhookLeverConfig | LitellmLeverConfig | KongLeverConfig | ApisixLeverConfig,
    Field(discriminator="type", description="A value that may be moved for a while; `type` says of which kind."),
]


class _Clusters:
    """The clients opened so far, by what they reach."""

    def __init__(self) -> None:
        self._opened: dict[KubeConnection, Cluster] = {}

    def of(self, connection: KubeConnection) -> Cluster:
        return self._opened.setdefault(connection, Cluster(connection))


def _document(config: Any, _: _Clusters) -> Lever:  # noqa: ANN401  # every kind that is one value of a document
    return DocumentLever(config.document(), RestApi(config.endpoint()))


OPENERS: Mapping[type[BaseModel], Callable[[Any, _Clusters], Lever]] = {
    KubernetesFieldLeverConfig: lambda config, clusters: KubernetesFieldLever(config, clusters.of(config.cluster)),
    WebhookLeverConfig: lambda config, _: WebhookLever(config, RestApi(config.endpoint())),
    LitellmLeverConfig: _document,
    KongLeverConfig: _document,
    ApisixLeverConfig: _document,
}


def lever_name(config: LeverConfig) -> str:
    """The name under which a configured lever stands in records and logs. Two equal names are one value."""
    return config.lever


def open_levers(configs: Mapping[str, LeverConfig]) -> dict[str, Lever]:
    """Levers by the names that the configuration gives them. Opens no connection yet: what is wrong shows at `observe`."""
    clusters = _Clusters()
    return {name: OPENERS[type(config)](config, clusters) for name, config in configs.items()}

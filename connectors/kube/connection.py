"""How a Kubernetes API server is reached: a section of the configuration, cheap to import."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

if TYPE_CHECKING:
    from kubernetes.client import Configuration

CLUSTER = "How its API server is reached. Default: what kubectl would use, else the pod's own service account."
"""What a field says whose value is a `KubeConnection`."""


class KubeConnection(BaseModel):
    """One cluster. Empty: what `kubectl` would use, else the service account of the pod that we run in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kubeconfig: Path | None = Field(
        default=None,
        description="Path of a kubeconfig file. Default: $KUBECONFIG, else ~/.kube/config, else the pod's own service account, "
        "because that is the order in which kubectl looks.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context of the kubeconfig. Default: its current context. Name it where one Forecaster serves several clusters: "
        "the current context changes under everybody's hands, and the name then also tells the clusters apart in target names.",
    )
    server: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="URL of the API server, instead of a kubeconfig. Default: none, because a kubeconfig also knows the credentials.",
    )
    token: SecretStr | None = Field(
        default=None,
        description="Bearer token for `server`; write it as ${NAME} so that it stays in the environment. Default: none, sent to no server "
        "that is not named here.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="Path of the PEM file that signs the certificate of `server`. Default: the authorities of this machine.",
    )
    timeout_s: float = Field(
        default=10.0,
        gt=0,
        description="Seconds that one request may take. Default 10: an API server that needs longer is in trouble, and the apply job "
        "comes back in a minute.",
    )

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.server is not None and (self.kubeconfig is not None or self.context is not None):
            msg = "server and kubeconfig or context name two clusters: keep one of them"
            raise ValueError(msg)
        if self.server is None and (self.token is not None or self.ca_file is not None):
            msg = "token and ca_file belong to server: name the server, or remove them"
            raise ValueError(msg)
        return self

    @property
    def label(self) -> str:
        """How a sentence names the cluster."""
        if self.server is not None:
            return f"the API server {self.server}"
        if self.context is not None:
            return f"the cluster of context {self.context}"
        return f"the cluster of {self.kubeconfig}" if self.kubeconfig is not None else "the cluster"


def fill(configuration: "Configuration", connection: KubeConnection) -> None:
    """Make the official client's configuration reach the cluster. Raises what the client does where there is no way into it."""
    import kubernetes.config  # noqa: PLC0415

    config: Any = kubernetes.config  # without types inside a package that has them
    if connection.server is not None:
        configuration.host = connection.server.rstrip("/")
        configuration.ssl_ca_cert = str(connection.ca_file) if connection.ca_file is not None else None
        if connection.token is not None:
            configuration.api_key = {"authorization": f"Bearer {connection.token.get_secret_value()}"}
    elif connection.kubeconfig is not None or connection.context is not None or _default_kubeconfig_exists():
        # named here, since the client looks at $KUBECONFIG only once, when it is imported
        path = str(connection.kubeconfig) if connection.kubeconfig is not None else _default_kubeconfig()
        config.load_kube_config(config_file=path, context=connection.context, client_configuration=configuration)
    else:
        config.load_incluster_config(client_configuration=configuration)


def _default_kubeconfig() -> str:
    return os.environ.get("KUBECONFIG") or "~/.kube/config"


def _default_kubeconfig_exists() -> bool:
    return any(Path(place).expanduser().exists() for place in _default_kubeconfig().split(os.pathsep) if place)

"""Who asks a server of metrics: users, and the identities of clouds. What is said where an identity is refused."""

from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from connectors.azure import MONITOR, AzureLogin
from connectors.google import MONITORING_READ, GoogleLogin
from connectors.http.endpoint import Signer
from connectors.login import Login
from connectors.sources.sigv4 import SigV4Signer

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

_CLOCK = ("signature expired", "signature not yet current", "requesttimetooskewed", "requestexpired", "not yet valid", "difference between")
_EXPIRED = ("token included in the request is expired", "expiredtoken", "token has expired", "token is expired", "expired token")


class BasicAuth(BaseModel):
    """A user and a password, sent as HTTP basic authentication."""

    model_config = _STRICT

    username: str = Field(min_length=1, description="The user. No default.")
    password: SecretStr = Field(description="The password; write ${NAME} to take it from the environment. No default.")


class SigV4(BaseModel):
    """An identity of AWS that signs every query: for Amazon Managed Service for Prometheus, or a proxy that checks signatures."""

    model_config = _STRICT

    region: str = Field(min_length=1, description="Region of the workspace, such as eu-west-1. No default: it is part of the signature.")
    profile: str | None = Field(
        default=None,
        min_length=1,
        description="Profile of ~/.aws/config. Default none: boto3's own chain, which finds the role of a pod or of a machine.",
    )
    role: str | None = Field(
        default=None,
        min_length=1,
        description="ARN of a role to assume first, as for a workspace of another account. Default none.",
    )
    service: str = Field(
        default="aps", min_length=1, description="Name of the service that is signed for. Default aps, Amazon's Prometheus."
    )

    def signer(self) -> Signer:
        """Who signs. Reads no credentials yet."""
        return SigV4Signer(region=self.region, service=self.service, profile=self.profile, role=self.role)


class GoogleIdentity(BaseModel):
    """Application default credentials of Google Cloud; needs the extra `gcp`."""

    model_config = _STRICT

    scope: str = Field(
        default=MONITORING_READ, min_length=1, description="Scope of the token. Default monitoring.read: to read metrics and nothing else."
    )

    def login(self) -> Login:
        """Who gives tokens. Reads no credentials yet."""
        return GoogleLogin(self.scope)


class AzureIdentity(BaseModel):
    """The identity of the environment, pod or machine on Azure; needs the extra `azure`."""

    model_config = _STRICT

    scope: str = Field(
        default=MONITOR,
        min_length=1,
        description="Scope of the token. Default that of Azure Monitor workspaces; sovereign clouds have another.",
    )

    def login(self) -> Login:
        """Who gives tokens. Reads no credentials yet."""
        return AzureLogin(self.scope)


def credentials_apart(data: Any) -> Any:  # noqa: ANN401  # pydantic gives whatever was written
    """User and password of a URL as basic_auth, so that no message or repr can show them."""
    if not (isinstance(data, dict) and isinstance(data.get("url"), str)):
        return data
    parts = urlsplit(data["url"])
    if "@" not in parts.netloc:
        return data
    if data.get("basic_auth") is not None:
        raise ValueError("credentials stand in url and in basic_auth; write them in basic_auth only")
    credentials, _, host = parts.netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    return {
        **data,
        "url": urlunsplit(parts._replace(netloc=host)),
        "basic_auth": {"username": unquote(username), "password": unquote(password)},
    }


def identity_fault(said: str) -> str | None:
    """What is wrong with the identity itself, and what to do about it, by what a server said; None where it said neither."""
    low = said.lower()
    if any(words in low for words in _CLOCK):
        return f"finds our clock wrong: {said}; set the clock of this machine, as by NTP: signatures and tokens are good for minutes"
    if any(words in low for words in _EXPIRED):
        return f"finds our credentials expired: {said}; renew them, or let the pod's own role give them"
    return None

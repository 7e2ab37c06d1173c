"""A loopback double of Azure's resource manager for agent pools of AKS, by their public schema (api-version 2025-10-01).

    with aks_to_ask() as aks:
        aks.add_pool("gpu", minimum=1, maximum=20, count=3)
        ...                                   # a target of SUBSCRIPTION, group serving, cluster prod, with endpoint_url aks.url
        assert aks.pools["gpu"]["minCount"] == 8

Like Azure it refuses a PUT under an old etag (412) or while another is carried out (409), a count outside of the limits, and names of
tags with a slash; it forgets what a PUT leaves out, and sets for itself what is read-only.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Self
from urllib.parse import parse_qsl

from tests.json_server import Asked, Json, JsonServer
from tests.tokens import tokens_to_ask

SUBSCRIPTION, GROUP, CLUSTER = "11111111-2222-3333-4444-555555555555", "serving", "prod"

_CLUSTER = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.ContainerService/managedClusters/{CLUSTER}"
_POOLS = f"{_CLUSTER}/agentPools/"
_READ_ONLY = ("eTag", "provisioningState", "currentOrchestratorVersion", "nodeImageVersion", "status")


class AksApi:
    """The server. `pools` holds their properties, `puts` the bodies of the writes carried out."""

    def __init__(self) -> None:
        self.pools: dict[str, Json] = {}
        self.puts: list[Json] = []
        self.state_after_put = "Succeeded"
        self.token_prefix = "azure-"
        self._faults: list[tuple[int, str, str]] = []
        self._server = JsonServer(self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._server.url

    @property
    def asked(self) -> list[Asked]:
        """Every request so far."""
        return self._server.asked

    def add_pool(self, name: str, *, minimum: int, maximum: int, count: int, **properties: object) -> None:
        """An agent pool with an autoscaler, and settings that are no matter to us."""
        self.pools[name] = {
            "count": count,
            "minCount": minimum,
            "maxCount": maximum,
            "enableAutoScaling": True,
            "mode": "User",
            "vmSize": "Standard_ND96isr_H100_v5",
            "nodeTaints": ["sku=gpu:NoSchedule"],
            "gpuProfile": {"driver": "Install"},
            "provisioningState": "Succeeded",
            "nodeImageVersion": "AKSUbuntu-2204gen2containerd-202510.01.0",
            "eTag": "etag-1",
            "tags": {"team": "inference"},
            **properties,
        }

    def edit(self, name: str, *, tags: dict[str, str] | None = None, **properties: object) -> None:
        """Change tags or properties as somebody else does."""
        pool = self.pools[name]
        pool["tags"] = {**(pool.get("tags") or {}), **(tags or {})}
        pool.update(properties)
        self._renew(pool)

    def fail_next(self, status: int, word: str, message: str = "injected", *, times: int = 1) -> None:
        """Answer the next requests by an error."""
        self._faults += [(status, word, message)] * times

    def _answer(self, asked: Asked) -> tuple[int, Json | str]:
        if not asked.headers.get("Authorization", "").startswith(f"Bearer {self.token_prefix}"):
            return _error(
                HTTPStatus.UNAUTHORIZED, "ExpiredAuthenticationToken", "The access token expiry is earlier than the current time."
            )
        if dict(parse_qsl(asked.query)).get("api-version") is None:
            return _error(HTTPStatus.BAD_REQUEST, "MissingApiVersionParameter", "The api-version query parameter is required.")
        return _error(*self._faults.pop(0)) if self._faults else self._agent_pool(asked)

    def _agent_pool(self, asked: Asked) -> tuple[int, Json | str]:
        if not asked.path.startswith(_POOLS):
            return _error(HTTPStatus.FORBIDDEN, "AuthorizationFailed", f"The client has no authorization over scope {asked.path}.")
        name = asked.path.removeprefix(_POOLS)
        if name not in self.pools:
            return _error(HTTPStatus.NOT_FOUND, "NotFound", f"Could not find the agentpool: {name} in managedCluster: {CLUSTER}.")
        if asked.method == "PUT" and (refused := self._put(name, asked)):
            return refused
        return HTTPStatus.OK, self._shown(name)

    def _put(self, name: str, asked: Asked) -> tuple[int, Json] | None:
        pool, wanted = self.pools[name], asked.json["properties"]
        if pool["provisioningState"] not in {"Succeeded", "Failed", "Canceled"}:
            return _error(HTTPStatus.CONFLICT, "OperationNotAllowed", "Operation is not allowed: another operation is in progress.")
        if asked.headers.get("If-Match", pool["eTag"]) != pool["eTag"]:
            return _error(HTTPStatus.PRECONDITION_FAILED, "EtagMismatch", "The etag does not match.")
        if not wanted["minCount"] <= wanted["count"] <= wanted["maxCount"]:
            return _error(HTTPStatus.BAD_REQUEST, "InvalidParameter", "The value of parameter agentPoolProfile.count is invalid.")
        if any("/" in tag for tag in wanted.get("tags") or {}):
            return _error(HTTPStatus.BAD_REQUEST, "InvalidTagNameCharacters", "The tag names have reserved characters.")
        kept = {key: pool[key] for key in _READ_ONLY if key in pool}
        self.pools[name] = {**json.loads(json.dumps(wanted)), **kept, "provisioningState": self.state_after_put}
        self._renew(self.pools[name])
        self.puts.append(asked.json)
        return None

    def _renew(self, pool: Json) -> None:
        pool["eTag"] = f"etag-{int(pool['eTag'].removeprefix('etag-')) + 1}"

    def _shown(self, name: str) -> Json:
        return {
            "id": f"{_POOLS}{name}",
            "name": name,
            "type": "Microsoft.ContainerService/managedClusters/agentPools",
            "properties": self.pools[name],
        }


@contextmanager
def aks_to_ask() -> Iterator[AksApi]:
    """The double, and an identity of Azure for it in the environment of this process meanwhile."""
    with tokens_to_ask(), AksApi() as aks:
        yield aks


def _error(status: int, word: str, message: str) -> tuple[int, Json]:
    return status, {"error": {"code": word, "message": message}}

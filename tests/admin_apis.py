"""Loopback doubles of the admin APIs of gateways, as their public references describe them: Kong, Apache APISIX, the LiteLLM proxy."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import parse_qsl

from tests.json_server import Asked, Json, JsonServer

KONG_TOKEN, APISIX_KEY, MASTER_KEY = "kong-admin-token", "apisix-admin-key", "sk-master-key"


@dataclass(kw_only=True)
class AdminApis:
    """One server for all three. documents: by address; writes: the addresses that were written, in order."""

    documents: dict[str, Json] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    loses: bool = False

    def __post_init__(self) -> None:
        self._server = JsonServer(self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def url(self) -> str:
        return self._server.url

    def _answer(self, asked: Asked) -> tuple[int, Json]:
        if asked.path.startswith("/plugins/"):
            return self._kong(asked)
        return self._apisix(asked) if asked.path.startswith("/apisix/admin/") else self._litellm(asked)

    def _kong(self, asked: Asked) -> tuple[int, Json]:
        """PATCH merges fields, null included: every field of a plugin's schema is always there."""
        if asked.headers.get("Kong-Admin-Token") != KONG_TOKEN:
            return HTTPStatus.UNAUTHORIZED, {"message": "Invalid credentials. Token or User credentials required"}
        if asked.path not in self.documents:
            return HTTPStatus.NOT_FOUND, {"message": "Not found"}
        if asked.method == "PATCH":
            self._write(asked.path, _merged(self.documents[asked.path], asked.json, deletes=False))
        return HTTPStatus.OK, self.documents[asked.path]

    def _apisix(self, asked: Asked) -> tuple[int, Json]:
        """The document stands under `value`; PATCH merges, and null deletes."""
        if asked.headers.get("X-API-KEY") != APISIX_KEY:
            return HTTPStatus.UNAUTHORIZED, {"description": "failed to check token", "error_msg": "..."}
        if asked.path not in self.documents:
            return HTTPStatus.NOT_FOUND, {"message": "Key not found"}
        if asked.method == "PATCH":
            self._write(asked.path, _merged(self.documents[asked.path], asked.json, deletes=True))
            labels = self.documents[asked.path].get("labels", {})
            if any(len(text) > 256 or " " in text for text in labels.values()):
                return HTTPStatus.BAD_REQUEST, {"error_msg": "invalid configuration: property labels validation failed"}
        key = asked.path.replace("/admin", "")
        return HTTPStatus.OK, {"key": key, "value": self.documents[asked.path], "createdIndex": 1, "modifiedIndex": len(self.writes)}

    def _litellm(self, asked: Asked) -> tuple[int, Json]:
        """/key/info tells a key under `info`; /key/update writes what is there and not null, metadata as a whole."""
        if asked.headers.get("Authorization") != f"Bearer {MASTER_KEY}":
            return HTTPStatus.UNAUTHORIZED, {"error": {"message": "Authentication Error", "type": "auth_error", "code": "401"}}
        key = asked.json["key"] if asked.method == "POST" else dict(parse_qsl(asked.query))["key"]
        if key not in self.documents:
            return HTTPStatus.NOT_FOUND, {"error": {"message": f"Key not found in database: {key}", "code": "404"}}
        if asked.method == "GET":
            return HTTPStatus.OK, {"key": key, "info": self.documents[key]}
        said = {name: value for name, value in asked.json.items() if value is not None and name != "key"}
        self._write(key, {**self.documents[key], **said})
        return HTTPStatus.OK, {"key": key, **said}

    def _write(self, address: str, document: Json) -> None:
        self.writes.append(address)
        if not self.loses:
            self.documents[address] = document


def _merged(value: Any, patch: Any, *, deletes: bool) -> Any:
    if not isinstance(value, dict) or not isinstance(patch, dict):
        return patch
    merged = {name: _merged(value.get(name), part, deletes=deletes) for name, part in patch.items()}
    whole = value | merged
    return {name: part for name, part in whole.items() if part is not None} if deletes else whole

"""A receiver of webhook levers as docs/levers.md describes it: keeps values, checks signatures, compares versions."""

import hmac
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import parse_qsl

from connectors.http.signing import SIGNATURE, TIMESTAMP, signed
from forecaster.units import from_epoch_s
from tests.json_server import Asked, Json, JsonServer

SECRET = "only-the-two-of-us-know"


@dataclass(kw_only=True)
class LeverReceiver:
    """values: by lever name; posts: the bodies that were carried out."""

    values: dict[str, Any] = field(default_factory=dict)
    posts: list[Json] = field(default_factory=list)
    _held: dict[str, Any] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._server = JsonServer(self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def url(self) -> str:
        return f"{self._server.url}/levers"

    def held(self, name: str) -> Json | None:
        """What is kept beside a value."""
        found: Json | None = self._held.get(name)
        return found

    def change(self, name: str, value: object) -> None:
        """Somebody else sets the value."""
        self.values[name] = value
        self._versions[name] = self._versions.get(name, 0) + 1

    def _answer(self, asked: Asked) -> tuple[int, Json]:
        at = from_epoch_s(int(asked.headers.get(TIMESTAMP, "0")))
        proof = signed(asked.method, asked.body, secret=SECRET, at=at)[SIGNATURE]
        if not hmac.compare_digest(proof, asked.headers.get(SIGNATURE, "")):
            return HTTPStatus.FORBIDDEN, {"error": "the signature is not ours"}
        body = asked.json
        name = body["lever"] if asked.method == "POST" else dict(parse_qsl(asked.query))["lever"]
        if name not in self.values:
            return HTTPStatus.NOT_FOUND, {"error": f"there is no lever {name}"}
        if asked.method == "POST":
            if body["version"] != str(self._versions.get(name, 0)):
                return HTTPStatus.CONFLICT, {"error": "it has another version"}
            self.change(name, body["value"])
            self._held[name] = body["held"]
            self.posts.append(body)
        state: Json = {"value": self.values[name], "version": str(self._versions.get(name, 0)), "held": self._held.get(name)}
        return HTTPStatus.OK, state

"""A receiver of our users' own behind a web address: how it is set up, asked with a signature, and what its refusals mean.

The protocol stands in docs/targets/webhook.md.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationError

from connectors.http.endpoint import Call, Endpoint
from connectors.http.rest import Json, RestApi, RestFailed
from connectors.http.signing import KEY, signed
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable

ReceiverUrl: TypeAlias = Annotated[
    str, Field(pattern=r"^https?://[^\s?#]+$", description="Address that answers GET and takes POST. No default.")
]
SharedSecret: TypeAlias = Annotated[
    SecretStr,
    Field(
        min_length=16,
        description="What requests are signed with, at least 16 characters; write ${NAME} to take it from the environment. No default.",
    ),
]
Authority: TypeAlias = Annotated[
    Path | None,
    Field(
        description="PEM file of the certificate authority that signed the receiver's certificate. Default none: the system's authorities."
    ),
]
State = TypeVar("State", bound=BaseModel)

_MEANINGS: dict[int, tuple[type[TargetError], str]] = {
    401: (TargetForbidden, "give both sides the same secret, and set their clocks (NTP)"),
    403: (TargetForbidden, "give both sides the same secret, and set their clocks (NTP)"),
    404: (TargetMissing, "correct name and url in the configuration"),
    409: (TargetConflict, "it changed since it was observed: observe it again"),
}
_REFUSED = TargetRefused, "see what the receiver says"
_LATER = TargetUnavailable, "try again later"


def receiver_endpoint(url: str, ca_file: Path | None, *, timeout_s: float, attempts: int) -> Endpoint:
    """A receiver as the HTTP layer takes it."""
    parts = urlsplit(url)
    return Endpoint(base_url=f"{parts.scheme}://{parts.netloc}", ca_file=ca_file, timeout_s=timeout_s, attempts=attempts)


class Receiver:
    """One value behind a receiver's address; `name` is whose sentences its failures are. Both methods raise TargetError.

    Each request is signed at the instant of its cycle. A POST carries an idempotency key, so that one that is sent twice, by us or by
    whoever listened, is carried out once.
    """

    def __init__(self, *, name: str, url: str, secret: SecretStr, api: RestApi) -> None:
        self._name, self._path, self._secret, self._api = name, urlsplit(url).path, secret, api

    def told(self, kind: type[State], query: Mapping[str, str], at: datetime) -> State:
        """What a GET says of the value."""
        return self._answer(kind, Call(method="GET", path=self._path, query=query, headers=self._signed("GET", b"", at)))

    def posted(self, kind: type[State], body: Json, key: str, at: datetime) -> State:
        """What the receiver says of the value after a POST."""
        raw = _raw(body)
        return self._answer(kind, Call(method="POST", path=self._path, body=raw, headers={**self._signed("POST", raw, at), KEY: key}))

    def _signed(self, method: str, raw: bytes, at: datetime) -> dict[str, str]:
        return signed(method, raw, secret=self._secret.get_secret_value(), at=at)

    def _answer(self, kind: type[State], call: Call) -> State:
        try:
            return kind.model_validate(self._api.answer(call))
        except RestFailed as failed:
            error, remedy = _MEANINGS.get(failed.status or 0, _REFUSED if failed.lasting else _LATER)
            raise error(f"{self._name}: {failed}; {remedy}") from failed
        except ValidationError as invalid:
            first = invalid.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the answer"
            msg = f"{self._name} answers with {place} that cannot be used ({first['msg']}): correct the receiver"
            raise TargetRefused(msg) from invalid


def _raw(body: Json) -> bytes:
    return json.dumps(body, sort_keys=True).encode()

"""A lever behind a web address of your own: for gateways and engines that no other kind of lever knows. See docs/levers.md."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from connectors.http.endpoint import Call, Endpoint, Method
from connectors.http.rest import Json, RestApi, RestFailed
from connectors.http.signing import KEY, signed
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.ladder import LeverValue, is_same
from forecaster.levers import LeverSeen, Moved, let_go, set_to, shown
from forecaster.units import iso

_MEANINGS: Mapping[int, tuple[type[TargetError], str]] = {
    401: (TargetForbidden, "give both sides the same secret, and set their clocks (NTP)"),
    403: (TargetForbidden, "give both sides the same secret, and set their clocks (NTP)"),
    404: (TargetMissing, "correct name and url in the configuration"),
    409: (TargetConflict, "it changed since it was observed: observe it again"),
}
_REFUSED = TargetRefused, "see what the receiver says"
_LATER = TargetUnavailable, "try again later"


class WebhookLeverConfig(BaseModel):
    """A receiver of ours that keeps one value."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["webhook"] = Field(description="This kind of lever: a value behind a web address of your own.")
    name: str = Field(min_length=1, description="Name of the value, sent as `lever`. No default: it must be unique.")
    url: str = Field(pattern=r"^https?://[^\s?#]+$", description="Address that answers GET and takes POST. No default.")
    secret: SecretStr = Field(
        min_length=16,
        description="What requests are signed with, at least 16 characters; write ${NAME} to take it from the environment. No default.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="PEM file of the certificate authority that signed the receiver's certificate. Default none: the system's authorities.",
    )
    timeout_s: float = Field(default=3, gt=0, description="Seconds to wait for an answer. Default 3: the next look is five seconds away.")

    @property
    def lever(self) -> str:
        """`webhook:NAME`."""
        return f"{self.type}:{self.name}"

    @property
    def path(self) -> str:
        """The path of the address."""
        return urlsplit(self.url).path

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        return Endpoint(
            base_url=f"{urlsplit(self.url).scheme}://{urlsplit(self.url).netloc}",
            ca_file=self.ca_file,
            timeout_s=self.timeout_s,
            attempts=2,
        )


class WebhookLever:
    """A Lever over a receiver, which keeps the value with our mark and compares and sets by the `version` that it gave."""

    def __init__(self, config: WebhookLeverConfig, receiver: RestApi) -> None:
        self.name = config.lever
        self._config = config
        self._receiver = receiver

    def observe(self, now: datetime) -> LeverSeen:
        """The value as the receiver tells it."""
        state = self._state(self._asked("GET", {}, now))
        held = state.held
        return LeverSeen(
            lever=self.name,
            at=now,
            value=state.value,
            original=state.value if held is None else held.original,
            left=None if held is None else held.value,
            until=None if held is None else held.until.astimezone(UTC),
            version=state.version,
        )

    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved:
        """Posts the value with what we keep beside it."""
        moved = set_to(seen, value, until)
        if moved.written:
            self._post("set", value, {"original": seen.original, "value": value, "until": iso(until)}, seen)
        return moved

    def release(self, seen: LeverSeen) -> Moved:
        """Posts the original, and that we hold nothing."""
        moved = let_go(seen)
        if moved.written:
            self._post("release", moved.after, None, seen)
        return moved

    def _post(self, action: Literal["set", "release"], value: LeverValue | None, held: Json | None, seen: LeverSeen) -> None:
        body = {"action": action, "lever": self._config.name, "value": value, "held": held, "version": seen.version}
        state = self._state(self._asked("POST", body, seen.at))
        if (state.value is None) != (value is None) or (state.value is not None and value is not None and not is_same(state.value, value)):
            msg = f"{self.name} answers that it is {shown(state.value)} after we set {shown(value)}: see what the receiver does"
            raise TargetRefused(msg)

    def _asked(self, method: Method, body: Json, at: datetime) -> Json:
        raw = json.dumps(body, sort_keys=True).encode() if body else b""
        headers = signed(method, raw, secret=self._config.secret.get_secret_value(), at=at)
        call = (
            Call(method=method, path=self._config.path, query={"lever": self._config.name}, headers=headers)
            if method == "GET"
            else Call(method=method, path=self._config.path, body=raw, headers={**headers, KEY: hashlib.sha256(raw).hexdigest()})
        )
        try:
            return self._receiver.answer(call)
        except RestFailed as failed:
            kind, remedy = _MEANINGS.get(failed.status or 0, _REFUSED if failed.lasting else _LATER)
            raise kind(f"{self.name}: {failed}; {remedy}") from failed

    def _state(self, answer: Json) -> "_State":
        try:
            return _State.model_validate(answer)
        except ValidationError as error:
            first: Any = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the answer"
            msg = f"{self.name} answers with {place} that cannot be used ({first['msg']}): correct the receiver"
            raise TargetRefused(msg) from error


class _Held(BaseModel):
    """What we gave the receiver to keep beside the value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    original: LeverValue | None
    value: LeverValue
    until: AwareDatetime


class _State(BaseModel):
    """A value as a receiver tells it. What is said beyond this is refused, since it may have been meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: LeverValue | None
    version: str
    held: _Held | None = None

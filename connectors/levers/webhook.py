"""A lever behind a web address of your own: for gateways and engines that no other kind of lever knows. See docs/levers.md."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from connectors.http.endpoint import Endpoint
from connectors.http.receiver import Authority, Receiver, ReceiverUrl, SharedSecret, receiver_endpoint
from connectors.http.rest import Json, RestApi
from forecaster.errors import TargetRefused
from forecaster.ladder import LeverValue, is_same
from forecaster.levers import LeverSeen, Moved, let_go, set_to, shown
from forecaster.units import iso


class WebhookLeverConfig(BaseModel):
    """A receiver of ours that keeps one value."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["webhook"] = Field(description="This kind of lever: a value behind a web address of your own.")
    name: str = Field(min_length=1, description="Name of the value, sent as `lever`. No default: it must be unique.")
    url: ReceiverUrl
    secret: SharedSecret
    ca_file: Authority = None
    timeout_s: float = Field(default=3, gt=0, description="Seconds to wait for an answer. Default 3: the next look is five seconds away.")

    @property
    def lever(self) -> str:
        """`webhook:NAME`."""
        return f"{self.type}:{self.name}"

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        return receiver_endpoint(self.url, self.ca_file, timeout_s=self.timeout_s, attempts=2)


class WebhookLever:
    """A Lever over a receiver, which keeps the value with our mark and compares and sets by the `version` that it gave."""

    def __init__(self, config: WebhookLeverConfig, api: RestApi) -> None:
        self.name = config.lever
        self._value = config.name
        self._receiver = Receiver(name=self.name, url=config.url, secret=config.secret, api=api)

    def observe(self, now: datetime) -> LeverSeen:
        """The value as the receiver tells it."""
        state = self._receiver.told(_State, {"lever": self._value}, now)
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
        body = {"action": action, "lever": self._value, "value": value, "held": held, "version": seen.version}
        key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        state = self._receiver.posted(_State, body, key, seen.at)
        if (state.value is None) != (value is None) or (state.value is not None and value is not None and not is_same(state.value, value)):
            msg = f"{self.name} answers that it is {shown(state.value)} after we set {shown(value)}: see what the receiver does"
            raise TargetRefused(msg)


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

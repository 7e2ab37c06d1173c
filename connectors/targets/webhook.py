"""A floor behind a web address of your own: for what no other kind of target knows. The protocol stands in docs/targets/webhook.md."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.http.endpoint import Endpoint
from connectors.http.receiver import Authority, Receiver, ReceiverUrl, SharedSecret, receiver_endpoint
from connectors.http.rest import Json, RestApi
from connectors.targets.marks import OURS, Marks, read_marks, written_marks
from connectors.targets.taken import floor_taken, is_ours, original_taken, within_bounds
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetRefused
from forecaster.units import iso

_CEILING = "the ceiling"
_UNKNOWN_WRITER = "an unknown writer"


class WebhookConfig(BaseModel):
    """A receiver of ours that keeps the floor of one object."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["webhook"] = Field(description="This kind of target: a floor behind a web address of your own.")
    name: str = Field(
        min_length=1, description="Name of the object, sent as `target`, in records and on the command line. No default: it must be unique."
    )
    url: ReceiverUrl
    secret: SharedSecret
    ca_file: Authority = None
    timeout_s: float = Field(
        default=10,
        gt=0,
        description="Seconds to wait for an answer. Default 10: a receiver writes down a number, it does not wait for nodes.",
    )

    @property
    def target(self) -> str:
        """`webhook:NAME`."""
        return f"{self.type}:{self.name}"

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        return receiver_endpoint(self.url, self.ca_file, timeout_s=self.timeout_s, attempts=3)


class WebhookTarget:
    """A ScaleTarget over a receiver, which compares and sets by the `version` that it gave."""

    def __init__(self, config: WebhookConfig, api: RestApi) -> None:
        self.name = config.target
        self._object = config.name
        self._receiver = Receiver(name=self.name, url=config.url, secret=config.secret, api=api)

    def observe(self, now: datetime) -> Seen:
        """The object as the receiver tells it."""
        state = self._receiver.told(_State, {"target": self._object}, now)
        marks = self._marks(state, now)
        return Seen(
            target=self.name,
            at=now,
            floor=state.floor,
            ceiling=state.ceiling,
            original=state.floor if marks.original is None else marks.original,
            ready=state.ready,
            pending=state.pending,
            version=json.dumps([state.version, state.marks]),
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=state.writer or _second_writer(state, marks),
            shortage=state.shortage,
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do."""
        whole, reasons = within_bounds(decision.floor, seen, ceiling=_CEILING)
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling=_CEILING)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Posts the floor with its marks."""
        applied = self.would_set(decision, seen)
        if applied.written:
            version, standing = json.loads(seen.version)
            floors = (applied.after,) if is_ours(applied, seen) else ()
            marks = written_marks(original=seen.original, floors=floors, valid_until=decision.valid_until)
            said = {
                "valid_until": iso(decision.valid_until),
                "original": seen.original,
                "workload": decision.workload,
                "pool": decision.pool,
                "plan": decision.plan_id,
                "reason": "; ".join(reason.detail for reason in decision.reasons),
            }
            self._post("set", applied, said, {"version": version, "marks": _beside_ours(standing) | _kept(standing, marks)}, seen.at)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Posts the original, and no marks of ours."""
        applied = self.would_release(seen)
        if applied.written:
            version, standing = json.loads(seen.version)
            said = {"reason": "the original is put back"}
            self._post("release", applied, said, {"version": version, "marks": _beside_ours(standing)}, seen.at)
        return applied

    def _post(self, action: Literal["set", "release"], applied: Applied, said: Json, standing: Json, at: datetime) -> None:
        body = {"action": action, "target": self._object, "floor": applied.after, **said, **standing}
        state = self._receiver.posted(_State, body, _key(body), at)
        if state.floor != applied.after:
            raise TargetRefused(
                f"{self.name} answers that its floor is {state.floor} after we set {applied.after}: see what the receiver does"
            )

    def _marks(self, state: "_State", now: datetime) -> Marks:
        return read_marks(state.marks, where=self.name, now=now)


def _key(body: Json) -> str:
    """One key for one decision on one state of the object, however often, whenever and in whichever words it is sent."""
    decided = [body.get(name) for name in ("target", "action", "floor", "valid_until", "version")]
    return hashlib.sha256(json.dumps(decided).encode()).hexdigest()


def _beside_ours(marks: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in marks.items() if key not in OURS}


def _kept(standing: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Our marks as they will stand: where a value stays somebody else's, the mark of our last write stays as well."""
    return {key: text for key, text in standing.items() if key in OURS} | dict(ours)


def _second_writer(state: "_State", marks: Marks) -> str | None:
    return _UNKNOWN_WRITER if marks.floors and state.floor not in marks.floors else None


class _State(BaseModel):
    """An object as a receiver tells it. What is not said is unknown; what is said beyond this is refused, since it may have been meant."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    floor: int = Field(ge=0)
    version: str
    ceiling: int | None = Field(default=None, ge=0)
    ready: int | None = Field(default=None, ge=0)
    pending: int | None = Field(default=None, ge=0)
    marks: dict[str, str] = Field(default_factory=dict)
    writer: str | None = None
    shortage: str | None = None

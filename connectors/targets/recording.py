"""Dry run is a target: it observes for real and records what a write would have done. It also rehearses on an object that is not there."""

from collections import deque
from datetime import datetime
from typing import Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from connectors.targets.taken import below_ceiling, floor_taken, original_taken
from forecaster.decision import Applied, Decision, Seen

_KEPT = 1_000  # the recordings of a daemon that runs for months must not fill its memory


class Rehearsed(Protocol):
    """A target that can tell what a write would do without doing it: `written` then means "would be written"."""

    name: str

    def observe(self, now: datetime) -> Seen:
        """As `ScaleTarget.observe`."""

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do."""

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""


class RecordingTarget:
    """The inner target without its hands: same name, same observation, same reasons, no write.

    `recorded` holds what would have been done, oldest first, the last 1,000; an intention that is repeated is recorded once.
    Every Applied has `written` False, and in `after` the floor that a write would have left.
    """

    def __init__(self, inner: Rehearsed) -> None:
        self.name = inner.name
        self._inner = inner
        self._recorded: deque[Applied] = deque(maxlen=_KEPT)

    @property
    def inner(self) -> Rehearsed:
        """What is observed, without hands."""
        return self._inner

    @property
    def recorded(self) -> tuple[Applied, ...]:
        """The intentions recorded so far."""
        return tuple(self._recorded)

    def observe(self, now: datetime) -> Seen:
        """The inner target as it stands."""
        return self._inner.observe(now)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Records what the inner target would have written."""
        return self._record(self.would_set(decision, seen))

    def release(self, seen: Seen) -> Applied:
        """Records what the inner target would have put back."""
        return self._record(self.would_release(seen))

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What the inner target would do."""
        return self._inner.would_set(decision, seen)

    def would_release(self, seen: Seen) -> Applied:
        """What the inner target would do."""
        return self._inner.would_release(seen)

    def _record(self, intended: Applied) -> Applied:
        applied = Applied(target=intended.target, before=intended.before, after=intended.after, written=False, reasons=intended.reasons)
        if intended.written and (not self._recorded or self._recorded[-1] != applied):
            self._recorded.append(applied)
        return applied


class RecordingConfig(BaseModel):
    """A virtual object: for a demo, or to watch the plans of a fleet before there is a target for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["recording"] = Field(description="This kind of target: nothing is ever written.")
    name: str = Field(
        min_length=1, description="Name of the virtual object in records and on the command line. No default: it has to be told apart."
    )
    floor: int = Field(
        default=1,
        ge=0,
        description="Replicas of the floor that the object shows, also the value found at adoption. Default 1: what a fresh HPA has.",
    )
    ceiling: int | None = Field(
        default=None,
        ge=1,
        description="Replicas of the ceiling that the object shows. Default: none, so that the plan shows without a limit.",
    )

    @model_validator(mode="after")
    def _floor_below_ceiling(self) -> Self:
        if self.ceiling is not None and self.floor > self.ceiling:
            msg = f"floor must not be above ceiling, got {self.floor} and {self.ceiling}"
            raise ValueError(msg)
        return self

    @property
    def target(self) -> str:
        """`recording:NAME`."""
        return f"{self.type}:{self.name}"


class VirtualObject:
    """An object that is not there and never changes: floor and ceiling as configured, nobody knows how many are ready."""

    def __init__(self, config: RecordingConfig) -> None:
        self.name = config.target
        self._config = config

    def observe(self, now: datetime) -> Seen:
        """The configured bounds, at every instant."""
        return Seen(
            target=self.name,
            at=now,
            floor=self._config.floor,
            ceiling=self._config.ceiling,
            original=self._config.floor,
            ready=None,
            pending=None,
            version="virtual",
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """The decided floor, at most the ceiling."""
        whole, reasons = below_ceiling(decision.floor, seen, ceiling="ceiling")
        return floor_taken(decision, seen, whole=whole, reasons=reasons)

    def would_release(self, seen: Seen) -> Applied:
        """Nothing: nothing is ever held."""
        return original_taken(seen, ceiling="ceiling")

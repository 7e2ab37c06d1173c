"""What the loop remembers from one tick to the next, in the store: so that a restart takes no step twice and forgets no lever."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.live.pages import Look
from forecaster.forecast import State
from forecaster.ladder import LeverValue, Standing
from forecaster.ports import Store
from forecaster.units import iso

_VERSION = 1
_MODEL = "levers"
_INSTANTS = ("since", "moved_at", "high_since", "calm_since")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lever that we moved and that is not back yet: what we set, what stood before, since when."""

    value: LeverValue | None
    original: LeverValue | None
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """standings: by rule or ladder. held: by lever. look: the last one at pages of metrics, None = there was none.

    failing: the error by lever that could not be moved at the last tick, so that it is written down once and not every five seconds.
    released_at: since when a person has all levers put back and left alone, None = they are moved.
    """

    standings: Mapping[str, Standing] = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)
    look: Look | None = None
    failing: Mapping[str, str] = field(default_factory=dict)
    released_at: datetime | None = None

    @property
    def left_alone(self) -> str:
        """That a person had levers put back, as a sentence; empty where they are moved."""
        at = self.released_at
        return "" if at is None else f"levers were released at {iso(at)} and are left alone: `forecaster levers --resume` moves them again"


def key_of(mode: str) -> str:
    """Where the memory of a mode is kept: what mode observe only intends must not be taken for moved."""
    return f"forecaster/levers/{mode}"


def recall(store: Store, mode: str) -> Memory:
    """What was remembered, nothing where it was written by another version. Raises StoreError."""
    kept = store.states([key_of(mode)]).get(key_of(mode))
    return Memory() if kept is None or kept.version != _VERSION else _read(json.loads(kept.payload))


def remember(store: Store, mode: str, memory: Memory) -> None:
    """Keep it. Raises StoreError."""
    payload = json.dumps(_written(memory)).encode()
    store.save_states({key_of(mode): State(model=_MODEL, version=_VERSION, payload=payload)})


def _written(memory: Memory) -> dict[str, Any]:
    standings = {
        name: {"depth": one.depth, "spent": one.spent} | {key: _text(getattr(one, key)) for key in _INSTANTS}
        for name, one in memory.standings.items()
    }
    held = {name: {"value": one.value, "original": one.original, "since": one.since.isoformat()} for name, one in memory.held.items()}
    look = None if memory.look is None else {"at": memory.look.at.isoformat(), "counts": memory.look.counts}
    return {"standings": standings, "held": held, "look": look, "failing": dict(memory.failing), "released_at": _text(memory.released_at)}


def _read(said: dict[str, Any]) -> Memory:
    look = said["look"]
    return Memory(
        standings={
            name: Standing(depth=one["depth"], spent=one["spent"], **{key: _instant(one[key]) for key in _INSTANTS})
            for name, one in said["standings"].items()
        },
        held={
            name: Held(value=one["value"], original=one["original"], since=datetime.fromisoformat(one["since"]))
            for name, one in said["held"].items()
        },
        look=None if look is None else Look(at=datetime.fromisoformat(look["at"]), counts=look["counts"]),
        failing=said.get("failing", {}),
        released_at=_instant(said.get("released_at")),
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else iso(instant)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

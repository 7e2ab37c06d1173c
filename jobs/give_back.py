"""Giving one object back: its original value, because a person asks, or because our word for the floor has run out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from forecaster.decision import Paused, Seen
from forecaster.errors import TargetConflict, TargetError
from forecaster.ports import ScaleTarget

Outcome = TypeVar("Outcome", bound="Released | None")

_ATTEMPTS = 3  # a controller may write between a read and our write, and again between the next two


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What became of one target."""

    sentence: str
    failed: bool


def give_back(name: str, target: ScaleTarget, now: datetime) -> Released:
    """Put the original back, whatever stands there."""
    return tried(name, lambda: _released(name, target, target.observe(now)))


def give_back_expired(name: str, target: ScaleTarget, now: datetime) -> Released | None:
    """Put the original back where valid-until has passed and nobody holds the object; None where our word is still good.

    A target that only records (a dry run) tells what would be put back.
    """

    def once() -> Released | None:
        seen = target.observe(now)
        if seen.valid_until is None or now < seen.valid_until:
            return None
        return _released(name, target, seen) if seen.paused is not Paused.HOLD else _held(name, seen)

    return tried(name, once)


def tried(name: str, once: Callable[[], Outcome], attempts: int = _ATTEMPTS) -> Outcome | Released:
    """One look at a target or lever and what follows from it; again from the look on where somebody wrote in between."""
    try:
        return once()
    except TargetError as error:
        if isinstance(error, TargetConflict) and attempts > 1:
            return tried(name, once, attempts - 1)
        return Released(sentence=f"{name} was not released: {error}", failed=True)


def _released(name: str, target: ScaleTarget, seen: Seen) -> Released:
    applied = target.release(seen)
    if applied.written:
        return Released(sentence=f"{name}: released, floor {applied.before} -> {applied.after}", failed=False)
    if seen.valid_until is None:
        return Released(sentence=f"{name}: nothing of ours is there, floor {applied.after}", failed=False)
    return Released(sentence=f"{name}: would be released, floor {applied.before} -> {applied.after}", failed=False)


def _held(name: str, seen: Seen) -> Released:
    by = seen.paused_by or "the annotation forecaster/paused"
    return Released(sentence=f"{name}: valid-until has passed, and {by} holds it: floor {seen.floor} stays", failed=False)

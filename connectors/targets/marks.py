"""What stands on an object that we hold, whatever its API calls it (annotations, tags): `forecaster/...` texts, and the pause."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from forecaster.decision import Paused
from forecaster.errors import TargetRefused
from forecaster.units import iso

PREFIX = "forecaster/"
ORIGINAL = "forecaster/original"
FLOOR = "forecaster/floor"
VALID_UNTIL = "forecaster/valid-until"
PAUSED = "forecaster/paused"

OURS = (ORIGINAL, FLOOR, VALID_UNTIL)
"""The marks that we write and that a release removes. The pause is not among them: people write it and people take it away."""


_OR = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Our marks as read, counts in the object's own unit. original None = we never wrote this object.

    floors: what we last wrote; the values before and after where a write of ours may have been cut short; empty = nothing is known of it.
    valid_until: an expiry that is missing or cannot be read on an object that we hold counts as reached.
    """

    original: int | None
    floors: tuple[int, ...]
    valid_until: datetime | None
    paused: Paused | None


def read_marks(texts: Mapping[str, str], *, where: str, now: datetime) -> Marks:
    """The marks among an object's texts. Raises TargetRefused where they do not say what the original value was.

    A pause that is neither `hold` nor `release` was meant to stop us: it counts as `hold`.
    """
    original = _count(texts[ORIGINAL], ORIGINAL, where) if ORIGINAL in texts else None
    held = any(key in texts for key in OURS)
    if held and original is None:
        msg = f"{where} carries our marks but not {ORIGINAL}: write the value to go back to there, or remove {', '.join(OURS)}"
        raise TargetRefused(msg)
    return Marks(
        original=original,
        floors=tuple(_count(text, FLOOR, where) for text in texts[FLOOR].split(_OR)) if FLOOR in texts else (),
        valid_until=(_instant(texts.get(VALID_UNTIL)) or now) if held else None,
        paused=pause_of(texts),
    )


def pause_of(texts: Mapping[str, str]) -> Paused | None:
    """The pause among an object's texts."""
    return None if PAUSED not in texts else Paused.RELEASE if texts[PAUSED] == Paused.RELEASE else Paused.HOLD


def written_marks(*, original: int, floors: tuple[int, ...], valid_until: datetime) -> dict[str, str]:
    """The texts to write with a floor, as Marks describes them. Without floors the mark of our last write stays as it is."""
    texts = {ORIGINAL: str(original), VALID_UNTIL: iso(valid_until)}
    return texts | floor_mark(*floors) if floors else texts


def floor_mark(*floors: int) -> dict[str, str]:
    """The mark of our last write alone."""
    return {FLOOR: _OR.join(str(floor) for floor in dict.fromkeys(floors))}


def _count(text: str, key: str, where: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text)
    msg = f"{key} on {where} is {text!r}, not a count: correct it, or remove {', '.join(OURS)}"
    raise TargetRefused(msg)


def _instant(text: str | None) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo is not None else None

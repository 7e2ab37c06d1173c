"""A lever as it was seen, and what comes of setting it or letting it go: pure, so that a rehearsal tells exactly what a write would do."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from forecaster.ladder import LeverValue, is_same, spell_value
from forecaster.units import check_instant, check_named, iso


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverSeen:
    """A lever as it was observed.

    value: what stands there, None = nothing does. original: what stood there before we first wrote. left: what we last wrote; until: ours,
    on the lever; both None = we do not hold it. version: opaque, handed back on a write so that a change in between is noticed.
    """

    lever: str
    at: datetime
    value: LeverValue | None
    original: LeverValue | None
    left: LeverValue | None
    until: datetime | None
    version: str

    def __post_init__(self) -> None:
        check_named("lever", self.lever)
        check_instant("seen.at", self.at)

    @property
    def is_theirs(self) -> bool:
        """Whether somebody else changed the value while we hold it."""
        return self.until is not None and not _equal(self.value, self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was done to a lever: the value before and after (None = nothing stands there), and whether anything was written.

    note: what a person should know of it, None = nothing.
    """

    lever: str
    before: LeverValue | None
    after: LeverValue | None
    written: bool
    note: str | None = None


class MoveKind(StrEnum):
    """What was done to a lever: another value, the same for longer, the original again, or that something was to be done and could not."""

    SET = "set"
    RENEWED = "renewed"
    LET_GO = "let go"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverMove:
    """One entry of the book of levers. lever: by its name in the configuration.

    before, after: values as `shown`, None = nothing stands there, or it is not known. why: which rule, ladder or admission asked, or why
    nobody does any more; of a failure what is wrong. until: when it ends unless it is renewed, None = it does not.
    """

    at: datetime
    lever: str
    kind: MoveKind
    before: str | None
    after: str | None
    why: str
    until: datetime | None

    def __post_init__(self) -> None:
        check_instant("move.at", self.at)
        check_named("move.lever", self.lever)
        check_named("move.why", self.why)


def set_to(seen: LeverSeen, value: LeverValue, until: datetime) -> Moved:
    """The outcome of setting it: no write where value and expiry stand already, nor over a value that somebody else set after us."""
    if seen.is_theirs:
        note = f"{seen.lever} was set to {shown(seen.value)} by somebody else after we had set {shown(seen.left)}: theirs stays"
        return Moved(lever=seen.lever, before=seen.value, after=seen.value, written=False, note=note)
    stands = seen.until is not None and iso(seen.until) == iso(until) and _equal(seen.value, value)
    return Moved(lever=seen.lever, before=seen.value, after=value, written=not stands)


def let_go(seen: LeverSeen) -> Moved:
    """The outcome of a release: the original, or what somebody else set after us; nothing where we do not hold it."""
    if seen.until is None:
        return Moved(lever=seen.lever, before=seen.value, after=seen.value, written=False)
    after = seen.value if seen.is_theirs else seen.original
    note = f"{seen.lever} stays at {shown(seen.value)}, which somebody else set after us" if seen.is_theirs else None
    return Moved(lever=seen.lever, before=seen.value, after=after, written=True, note=note)


def shown(value: LeverValue | None) -> str:
    """A value as sentences have it."""
    return "nothing" if value is None else spell_value(value)


def _equal(one: LeverValue | None, other: LeverValue | None) -> bool:
    return one is None and other is None if one is None or other is None else is_same(one, other)

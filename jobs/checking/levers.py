"""Whether every lever can be observed, moved and put back, as far as that can be asked without moving it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from connectors.levers.access import Checkable, Tried
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetRefused
from forecaster.ladder import LeverValue
from forecaster.levers import LeverSeen, shown
from forecaster.ports import Lever
from forecaster.units import iso
from jobs.checking.finding import Finding, State
from jobs.levers.state import Held

_LOOKS = 3
_ASK = timedelta(hours=1)
"""An end for what is only rehearsed."""


def check_lever(
    name: str, lever: Lever, values: Sequence[LeverValue] | None, held: Held | None, *, auto: bool, now: datetime
) -> list[Finding]:
    """What is to be said of one lever.

    values: what rules and ladders set it to, None = nothing moves it at all. held: what mode auto remembers to have set. auto: whether it
    is moved, so that a missing right is a failure.
    """
    try:
        seen = lever.observe(now)
    except TargetError as error:
        return [_finding(name, State.FAILED, f"{error}{_owed(held)}")]
    oddities = [*_oddities(lever, seen, held, now), *([] if values is not None else ["no rule, ladder or admission moves it: remove it"])]
    found = [_finding(name, State.WARNING if oddities else State.OK, "; ".join((_stands(seen), *oddities)))]
    return [*found, *_write(name, lever, seen, values or (), auto=auto, now=now)]


def check_held(held: Mapping[str, Held], levers: Mapping[str, Lever], *, auto: bool) -> Iterator[Finding]:
    """What mode auto moved and nothing will put back: levers that left the configuration, and all of them in mode observe."""
    for name, one in held.items():
        stands = f"it stands at {shown(one.value)} since {iso(one.since)} and is to go back to {shown(one.original)}"
        if name not in levers:
            told = "it is no longer in the configuration: put it back there until it has been restored"
            yield _finding(name, State.FAILED, f"{stands}, and {told}")
        elif not auto:
            yield _finding(name, State.WARNING, f"{stands}, and mode observe moves nothing: run `forecaster levers --release`")


def _stands(seen: LeverSeen) -> str:
    if seen.until is None:
        return f"stands at {shown(seen.value)}; not ours"
    return f"stands at {shown(seen.value)}; ours until {iso(seen.until)}, original {shown(seen.original)}"


def _oddities(lever: Lever, seen: LeverSeen, held: Held | None, now: datetime) -> Iterator[str]:
    if seen.value is None and seen.until is None:
        told = "nothing stands there now, so that it would be added and taken away again"
        yield f"{told}: correct {lever.name} where there should be a value"
    if seen.is_theirs:
        yield f"somebody else set it after we had set {shown(seen.left)}: theirs stays; let one of the two write it"
    if seen.until is not None and seen.until <= now:
        yield "that has passed: run `forecaster levers`, or give all back with `forecaster levers --release`"
    elif seen.until is not None and held is None:
        yield "this store remembers nothing of it: another Forecaster has it, or the next tick puts it back"


def _write(name: str, lever: Lever, seen: LeverSeen, values: Sequence[LeverValue], *, auto: bool, now: datetime) -> Iterator[Finding]:
    """That it could not be written, that a value would be refused, or that nobody can say; nothing where it could be."""
    try:
        if isinstance(lever, Checkable):
            lever.check_write(seen)
        for value in values or ([] if seen.value is None else [seen.value]):
            _tried(lever, value, now)
    except TargetForbidden as error:
        state, rest = (State.FAILED, "") if auto else (State.WARNING, "; mode observe does without")
        yield _finding(name, state, f"{error}{rest}")
    except TargetRefused as error:
        yield _finding(name, State.FAILED, f"what it is to be set to would be refused: {error}")
    except TargetError as error:
        yield _finding(name, State.WARNING, f"whether it may be written is unknown: {error}")


def _tried(lever: Lever, value: LeverValue, now: datetime, looks: int = _LOOKS) -> None:
    """A rehearsal on the object as it stands then; again where it changed in between."""
    if not isinstance(lever, Tried):
        return
    try:
        lever.try_set(value, now + _ASK, lever.observe(now))
    except TargetConflict:
        if looks == 1:
            raise
        _tried(lever, value, now, looks - 1)


def _owed(held: Held | None) -> str:
    if held is None:
        return ""
    return f"; it was set to {shown(held.value)} at {iso(held.since)} and is to go back to {shown(held.original)}"


def _finding(name: str, state: State, sentence: str) -> Finding:
    return Finding(what="lever", where=name, state=state, sentence=sentence)

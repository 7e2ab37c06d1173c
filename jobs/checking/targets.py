"""Whether every target can be observed, and written where that can be asked."""

from collections.abc import Iterator
from datetime import datetime

from connectors.targets.access import Checkable
from connectors.targets.registry import Target
from forecaster.decision import Seen
from forecaster.errors import TargetError, TargetForbidden, TargetRefused
from forecaster.units import iso
from forecaster.workload import Mode
from jobs.checking.finding import Finding, State


def observe(target: Target, now: datetime) -> tuple[Finding, Seen | None]:
    """The object as it stands."""
    try:
        seen = target.observe(now)
    except TargetError as error:
        return _finding(target.name, State.FAILED, str(error)), None
    oddities = tuple(_oddities(seen, now))
    state = State.WARNING if oddities else State.OK
    return _finding(target.name, state, "; ".join((_stands(seen), *oddities))), seen


def check_write(target: Target, mode: Mode) -> Finding | None:
    """That a floor could not be written, or that nobody can say; None where it could be, and for kinds that cannot be asked."""
    if not isinstance(target, Checkable):
        return None
    try:
        target.check_write()
    except TargetForbidden as error:
        state = State.WARNING if mode is Mode.OBSERVE else State.FAILED
        return _finding(target.name, state, f"{error}{'; mode observe does without' if mode is Mode.OBSERVE else ''}")
    except TargetRefused as error:
        return _finding(target.name, State.FAILED, f"a floor would be refused, as a rehearsal on the API server says: {error}")
    except TargetError as error:
        return _finding(target.name, State.WARNING, f"whether it may be written is unknown: {error}")
    return None


def check_starts(target: Target) -> Iterator[Finding]:
    """A warning for each right that is missing to measure the lead time; floors do without."""
    missing = target.missing_for_starts() if isinstance(target, Checkable) else ()
    for error in missing:
        yield _finding(target.name, State.WARNING, f"the lead time is not measured in full: {error}, or set lead_time.measured to false")


def _stands(seen: Seen) -> str:
    ceiling = "no ceiling" if seen.ceiling is None else f"ceiling {seen.ceiling}"
    ready = "" if seen.ready is None else f", {seen.ready} ready"
    held = "not ours yet" if seen.valid_until is None else f"ours until {iso(seen.valid_until)}, original {seen.original}"
    return f"floor {seen.floor}, {ceiling}{ready}; {held}"


def _oddities(seen: Seen, now: datetime) -> Iterator[str]:
    if seen.paused is not None:
        told = seen.paused_by or f"the annotation forecaster/paused says {seen.paused}"
        yield f"{told}, which is obeyed until it is removed"
    if seen.writer is not None:
        yield f"{seen.writer} wrote the floor after us; {seen.remedy or 'let one of the two write it'}"
    if seen.ceiling is not None and seen.floor > seen.ceiling:
        yield f"its minimum {seen.floor} is above its maximum {seen.ceiling}; raise the maximum, or lower the minimum"
    if seen.valid_until is not None and seen.valid_until <= now:
        yield "that has passed; run `forecaster apply`, or give it back with `forecaster release --expired`"


def _finding(name: str, state: State, sentence: str) -> Finding:
    return Finding(what="target", where=name, state=state, sentence=sentence)

"""What the API of one target says: whether it takes our writes, who else writes, what we may, and whether anything changed meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

from connectors.targets.access import Checkable, Tried
from connectors.targets.recording import RecordingTarget, Rehearsed
from connectors.targets.writers import Owned, Writer
from forecaster.decision import Action, CycleRecord, Decision, Seen
from forecaster.errors import TargetConflict, TargetError, TargetForbidden
from forecaster.guard import bounds_of
from forecaster.units import iso
from jobs.drill.above import above
from jobs.drill.deciding import held
from jobs.drill.outcome import Found, Promise, broken, doubtful, idle, kept
from jobs.drill.props import Standing
from jobs.drill.rights import excess_found
from jobs.drill.stage import Stage, freed
from jobs.give_back import give_back_expired

_LOOKS = 5
"""A controller may write its status between a look and a rehearsal, and again between the next two."""


def spoken(stage: Stage, name: str, record: CycleRecord) -> Iterator[tuple[Promise, Found]]:
    """The rehearsals of one target that its API has a say in. record: what apply would do now."""
    asked, seen = stage.asked[name], stage.seen[name]
    yield Promise.TAKEN, _taken(stage, name, record)
    yield Promise.RIGHTS, _rights(asked)
    page, more = _page(asked.name), asked.excess if isinstance(asked, Tried) else None
    yield Promise.EXCESS, excess_found(more, page=page, enough=f"the rules of {page} alone")
    yield Promise.OWNER, _owner(asked, seen)
    yield Promise.ORIGINAL, _original(stage, name, record)
    yield Promise.WATCHDOG, _watchdog(stage, name, record)
    yield Promise.KILLED, above(name, asked, seen)


def untouched(asked: Rehearsed, before: Seen, now: datetime) -> Found:
    """Whether the object stands at the end as it did at the beginning."""
    try:
        after = asked.observe(now)
    except TargetError as error:
        return broken(f"it could not be read again: {error}")
    if after.version == before.version:
        return kept(f"floor {after.floor}, and the very same version of the object before and after")
    moved = [f"{what}: {old} -> {new}" for what, old, new in _compared(before, after) if old != new]
    if moved:
        return broken(f"it changed meanwhile ({', '.join(moved)}): another Forecaster or a person is at work; drill again")
    return kept(f"floor {after.floor}, bounds and marks before and after; a controller has written its own status meanwhile")


def _compared(before: Seen, after: Seen) -> Iterator[tuple[str, object, object]]:
    for name in ("floor", "ceiling", "original", "valid_until", "paused", "writer"):
        yield name, getattr(before, name), getattr(after, name)


def _taken(stage: Stage, name: str, record: CycleRecord) -> Found:
    """The floor of now, the largest within the bounds, and a release, each up to the point of keeping it."""
    asked, seen = stage.asked[name], stage.free[name]
    look = partial(asked.observe, stage.now)
    if not isinstance(asked, Tried):
        return idle(f"its API rehearses no write; {_page(name)} says what a write needs")
    _, most = bounds_of(stage.policy, seen)
    top = max(record.decision.floor, seen.floor + 1) if most is None else most
    decision = replace(record.decision, action=Action.SET, floor=record.decision.floor)
    try:
        for floor in dict.fromkeys((decision.floor, top)):
            _tried(look, _setting(asked, replace(decision, floor=floor)))
        _tried(look, _releasing(asked, decision))
    except TargetForbidden:
        return idle("without the right to write, of which its own line tells, nothing can be rehearsed")
    except TargetError as error:
        return broken(str(error))
    marks = f"forecaster/original={seen.original} and valid-until {iso(decision.valid_until)}"
    return kept(f"a dry run takes {decision.floor} and {top} with {marks}, and the release; as field manager forecaster")


def _setting(asked: Tried, decision: Decision) -> Callable[[Seen], None]:
    return lambda seen: asked.try_floor(decision, seen)


def _releasing(asked: Tried, decision: Decision) -> Callable[[Seen], None]:
    return lambda seen: asked.try_release(replace(seen, valid_until=seen.valid_until or decision.valid_until))


def _tried(look: Callable[[], Seen], attempt: Callable[[Seen], None], looks: int = _LOOKS) -> None:
    """A rehearsal on the object as it stands then; again where it changed in between."""
    try:
        attempt(freed(look()))
    except TargetConflict:
        if looks == 1:
            raise
        _tried(look, attempt, looks - 1)


def _rights(asked: Rehearsed) -> Found:
    if not isinstance(asked, Checkable):
        return idle(f"its API does not tell what we may; {_page(asked.name)} lists the actions")
    try:
        asked.check_write()
    except TargetForbidden as error:
        return broken(str(error))
    except TargetError as error:
        return doubtful(f"our role may write; {error}")
    missing = asked.missing_for_starts()
    if missing:
        return doubtful(f"a floor may be written; the lead time is not measured in full: {missing[0]}")
    return kept("our role may read and patch what a floor needs, as the API server itself says")


def _owner(asked: Rehearsed, seen: Seen) -> Found:
    if seen.writer is not None:
        return broken(f"{seen.writer} wrote the floor after us and set {seen.floor}: {seen.remedy or 'let one of the two write it'}")
    if not isinstance(asked, Owned):
        return idle("its API keeps no book of who writes; a value that is not ours would be told as a second writer")
    try:
        owner = asked.owner()
    except TargetError as error:
        return doubtful(f"who writes it is not known: {error}")
    return _beside_us(owner, seen)


def _beside_us(owner: Writer | None, seen: Seen) -> Found:
    if owner is None:
        return kept("nobody is known to have written it" if seen.valid_until is None else "the last write is ours")
    if owner.repeats:
        return broken(f"{owner.name} holds the field and will write its own value back: {owner.remedy or 'let one of the two write it'}")
    if owner.remedy is not None:
        return doubtful(f"{owner.name} wrote it last, and its next run would again: {owner.remedy}")
    return kept(f"{owner.name} wrote it last, and not by itself; with our first write it is forecaster's")


def _original(stage: Stage, name: str, record: CycleRecord) -> Found:
    asked, seen = stage.asked[name], stage.free[name]
    after = held(record, seen)
    back, plain = (asked.would_release(replace(each, valid_until=after.valid_until)) for each in (after, seen))
    if not back.written or back.after != plain.after:
        return broken(f"after {after.floor} a release would leave {back.after}, and {plain.after} without it")
    return kept(f"after {after.floor} a release puts {back.after} back, as it would today")


def _watchdog(stage: Stage, name: str, record: CycleRecord) -> Found:
    until, after = record.decision.valid_until, held(record, stage.free[name])
    target = RecordingTarget(Standing(stage.asked[name], after))
    early, late = give_back_expired(name, target, stage.now), give_back_expired(name, target, until)
    if early is not None or late is None or late.failed:
        return broken(f"before {iso(until)}: {early and early.sentence}; then: {late and late.sentence}")
    return kept(f"nothing before {iso(until)}, then {late.sentence.partition(': ')[2]}")


def _page(name: str) -> str:
    return f"docs/targets/{name.partition(':')[0]}.md"

"""One tick of the quick loop: read -> decide -> move -> remember. A lever that fails stops no other."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from forecaster.errors import TargetConflict, TargetError
from forecaster.levers import LeverSeen, Moved, shown
from forecaster.ports import Lever
from forecaster.reasons import Code
from forecaster.tiers import Pulled, Wish, decide
from forecaster.units import iso
from jobs.failure import Failure, failure
from jobs.levers.admitting import admit
from jobs.levers.desk import Desk
from jobs.levers.readings import read
from jobs.levers.state import Held, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One lever in one tick: what was done and why, or why nothing could be; sentence: the same for a person."""

    lever: str
    moved: Moved | None
    sentence: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What came of one tick. moves: whether levers were moved; else all of it is what would be done."""

    at: datetime
    pulled: Pulled
    readings: Mapping[str, float]
    turns: tuple[Turn, ...]
    failures: tuple[Failure, ...]
    memory: Memory
    moves: bool

    @property
    def lost(self) -> tuple[str, ...]:
        """The levers that are to go back and cannot."""
        return tuple(turn.lever for turn in self.turns if turn.failure is not None and turn.failure.error == Code.LEVER_LOST)

    @property
    def written(self) -> int:
        """How many levers were moved."""
        return sum(turn.moved is not None and turn.moved.written for turn in self.turns)


def run_tick(desk: Desk, before: Memory, now: datetime, *, all_levers: bool) -> Tick:
    """Read, decide, move. Raises StoreError.

    all_levers: look also at those that nobody asks for and that we do not remember to hold: after a restart the marks on their objects
    are all that knows of them.
    """
    look, readings, unread = read(desk, before.look, now)
    admitted = admit(desk.fleet, desk.admission, now)
    pulled = decide(desk.rules, before.standings, readings, now, admission=admitted.wishes)
    turns, held = _moved(desk, pulled, before.held, now, all_levers=all_levers)
    failures = (*unread, *admitted.failures, *(turn.failure for turn in turns if turn.failure is not None))
    memory = Memory(standings=pulled.standings, held=held, look=look, failing=_failing(turns))
    return Tick(at=now, pulled=pulled, readings=readings, turns=turns, failures=failures, memory=memory, moves=desk.moves)


def give_back(desk: Desk, before: Memory, now: datetime, *, all_levers: bool) -> Tick:
    """Put every lever back, whatever the rules say; where ladders stood is forgotten. all_levers: as `run_tick` has it."""
    turns, held = _moved(desk, Pulled(), before.held, now, all_levers=all_levers)
    failures = tuple(turn.failure for turn in turns if turn.failure is not None)
    memory = Memory(held=held, look=before.look, failing=_failing(turns), released_at=before.released_at)
    return Tick(at=now, pulled=Pulled(), readings={}, turns=turns, failures=failures, memory=memory, moves=desk.moves)


def _failing(turns: tuple[Turn, ...]) -> dict[str, str]:
    return {turn.lever: turn.failure.error for turn in turns if turn.failure is not None}


def _moved(
    desk: Desk, pulled: Pulled, before: Mapping[str, Held], now: datetime, *, all_levers: bool
) -> tuple[tuple[Turn, ...], dict[str, Held]]:
    turns: list[Turn] = []
    held = {name: one for name, one in before.items() if name not in desk.levers}
    turns += [_stranded(name, one) for name, one in held.items()]
    for name, lever in desk.levers.items():
        wish, kept = pulled.levers.get(name), before.get(name)
        if wish is not None:
            turn, now_held = _set(name, lever, wish, kept, now)
        elif name in pulled.keeps:
            turn, now_held = None, kept
        elif kept is not None or all_levers:
            turn, now_held = _released(name, lever, kept, now, moves=desk.moves)
        else:
            continue
        turns += [turn] if turn is not None else []
        held |= {name: now_held} if now_held is not None else {}
    return tuple(turns), held


def _set(name: str, lever: Lever, wish: Wish, kept: Held | None, now: datetime) -> tuple[Turn, Held | None]:
    """Set a lever, once more where it changed in between. What may have been written counts as held."""
    try:
        seen = lever.observe(now)
    except TargetError as error:
        told = f"{name} is not set to {shown(wish.value)}: {error}"
        return Turn(lever=name, moved=None, sentence=told, failure=failure("levers", error, told)), kept
    held = kept or Held(value=wish.value, original=seen.original, since=now)
    try:
        seen, moved = _once_more(lever, seen, wish, now)
    except TargetError as error:
        told = f"{name} is not set to {shown(wish.value)}: {error}"
        return Turn(lever=name, moved=None, sentence=told, failure=failure("levers", error, told)), held
    after = replace(held, value=moved.after, original=seen.original)
    return Turn(lever=name, moved=moved, sentence=_set_told(name, moved, wish)), after


def _once_more(lever: Lever, seen: LeverSeen, wish: Wish, now: datetime) -> tuple[LeverSeen, Moved]:
    try:
        return seen, lever.set(wish.value, wish.until, seen)
    except TargetConflict:
        again = lever.observe(now)
        return again, lever.set(wish.value, wish.until, again)


def _released(name: str, lever: Lever, kept: Held | None, now: datetime, *, moves: bool) -> tuple[Turn | None, Held | None]:
    """Put a lever back; one that cannot be is held on to and told, tick by tick, until it is."""
    try:
        seen = lever.observe(now)
        try:
            moved = lever.release(seen)
        except TargetConflict:
            moved = lever.release(lever.observe(now))
    except TargetError as error:
        if kept is None:
            told = f"{name} cannot be looked at, so whether it is where it belongs is not known: {error}"
            return Turn(lever=name, moved=None, sentence=told, failure=failure("levers", error, told)), None
        return _lost(name, kept, str(error)), kept
    if not moved.written:
        return (None if kept is None or not moves else _back_already(name, moved, kept)), None
    told = (
        f"{name} goes back from {shown(moved.before)} to {shown(moved.after)}" if moved.note is None else f"{name} is let go: {moved.note}"
    )
    return Turn(lever=name, moved=moved, sentence=told), None


def _back_already(name: str, moved: Moved, held: Held) -> Turn:
    """A lever that we moved and whose object has no mark of ours any more."""
    told = f"{name} is back already, at {shown(moved.after)}: the watchdog or somebody else let go of what we set, {shown(held.value)}"
    return Turn(lever=name, moved=moved, sentence=told)


def _stranded(name: str, held: Held) -> Turn:
    return _lost(name, held, "it is no longer in the configuration: put it back there until it has been restored")


def _lost(name: str, held: Held, why: str) -> Turn:
    told = f"{name} cannot be put back to {shown(held.original)}, it was set to {shown(held.value)} at {iso(held.since)}: {why}"
    return Turn(lever=name, moved=None, sentence=told, failure=Failure(verb="levers", error=Code.LEVER_LOST, sentence=told, cause=told))


def _set_told(name: str, moved: Moved, wish: Wish) -> str:
    if moved.note is not None:
        return moved.note
    was = f", was {shown(moved.before)}" if moved.written and moved.before != moved.after else ""
    return f"{name} stands at {shown(moved.after)}{was}: {wish.why}"

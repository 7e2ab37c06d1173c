"""The promises on levers: read, tried and compared, each on its own object, and never moved."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from connectors.levers.access import Checkable, Tried
from connectors.levers.recording import RecordingLever
from forecaster.errors import TargetConflict, TargetError, TargetForbidden
from forecaster.ladder import LeverValue
from forecaster.levers import LeverSeen, Moved, let_go, set_to, shown
from forecaster.ports import Lever
from forecaster.units import iso
from jobs.drill.outcome import Found, Outcome, Promise, broken, doubtful, idle, kept, told
from jobs.drill.rights import excess_found
from jobs.watchdog.levers import put_back_expired

LEVERS = "levers"
"""What stands in the place of a workload."""
_PAGE = "docs/levers.md"
_SPAN = timedelta(hours=1)
_LOOKS = 5
"""A controller may write its status between a look and a rehearsal, and again between the next two."""


def drill_levers(levers: Mapping[str, Lever], values: Mapping[str, Sequence[LeverValue]], now: datetime) -> Iterator[Outcome]:
    """What each promise comes to, lever by lever. values: what rules and ladders set it to; with none, what stands there is tried."""
    for name, lever in levers.items():
        try:
            for promise, found in _of(lever, values.get(name, ()), now):
                yield told(LEVERS, name, promise, found)
        except Exception as error:  # noqa: BLE001 - the same wall as between workloads
            yield told(LEVERS, name, Promise.WALL, broken(f"the drill broke off: {type(error).__name__}: {error}"))


def _of(lever: Lever, values: Sequence[LeverValue], now: datetime) -> Iterator[tuple[Promise, Found]]:
    try:
        seen = lever.observe(now)
    except TargetError as error:
        yield Promise.SEEN, broken(f"{error}; nothing else of it was rehearsed")
        return
    held = "not ours" if seen.until is None else f"ours until {iso(seen.until)}, original {shown(seen.original)}"
    yield Promise.SEEN, kept(f"stands at {shown(seen.value)}, {held}")
    tried = values or (() if seen.value is None else (seen.value,))
    yield Promise.TAKEN, _taken(lever, tried, now)
    yield Promise.RIGHTS, _rights(lever, seen)
    more = lever.excess if isinstance(lever, Tried) else None
    yield Promise.EXCESS, excess_found(more, page=_PAGE, enough="what `forecaster export lever-rights` prints alone")
    yield Promise.ORIGINAL, _original(seen, tried)
    yield Promise.WATCHDOG, _watchdog(lever.name, seen, tried, now)
    yield Promise.UNTOUCHED, _untouched(lever, seen, now)


def _taken(lever: Lever, values: Sequence[LeverValue], now: datetime) -> Found:
    """Every value that it is set to, and a release, each up to the point of keeping it."""
    if not isinstance(lever, Tried):
        return idle(f"its API rehearses no write; {_PAGE} says what a write needs")
    if not values:
        return idle("nothing moves it and nothing stands there, so there is nothing to rehearse")
    look = partial(lever.observe, now)
    try:
        for value in values:
            _attempt(look, partial(lever.try_set, value, now + _SPAN))
        _attempt(look, lever.try_release)
    except TargetForbidden:
        return idle("without the right to write, of which its own line tells, nothing can be rehearsed")
    except TargetError as error:
        return broken(str(error))
    if look().is_theirs:
        return doubtful("somebody else set it after us, which stays: nothing would be written")
    return kept(f"a dry run takes {' and '.join(map(shown, values))} with our mark, and the release; as field manager forecaster")


def _attempt(look: Callable[[], LeverSeen], attempt: Callable[[LeverSeen], None], looks: int = _LOOKS) -> None:
    """A rehearsal on the object as it stands then; again where it changed in between."""
    try:
        attempt(look())
    except TargetConflict:
        if looks == 1:
            raise
        _attempt(look, attempt, looks - 1)


def _rights(lever: Lever, seen: LeverSeen) -> Found:
    try:
        if isinstance(lever, Checkable):
            lever.check_write(seen)
    except TargetError as error:
        return broken(str(error))
    if not isinstance(lever, Tried):
        return idle(f"it may be read; its API does not tell what else we may: {_PAGE} lists the rights")
    return kept("our role may read and patch it, as the API server itself says")


def _original(seen: LeverSeen, values: Sequence[LeverValue]) -> Found:
    back = {shown(let_go(_set(seen, value)).after) for value in values}
    if not back:
        return idle("nothing moves it")
    if back != {shown(seen.original)}:
        return broken(f"a release would leave {' or '.join(sorted(back))}, and {shown(seen.original)} stood there before us")
    return kept(f"after {' and '.join(map(shown, values))} a release puts {shown(seen.original)} back")


def _watchdog(name: str, seen: LeverSeen, values: Sequence[LeverValue], now: datetime) -> Found:
    if not values:
        return idle("nothing moves it")
    until = now + _SPAN
    standing = RecordingLever(_Standing(name=name, seen=_set(seen, values[-1], until)))
    early, late = put_back_expired(name, standing, until - timedelta(seconds=1)), put_back_expired(name, standing, until)
    if early is not None or late is None or late.failed:
        return broken(f"before {iso(until)}: {early and early.sentence}; then: {late and late.sentence}")
    return kept(f"nothing before {iso(until)}, then {late.sentence.removeprefix(f'{name}: ')}")


def _untouched(lever: Lever, before: LeverSeen, now: datetime) -> Found:
    try:
        after = lever.observe(now)
    except TargetError as error:
        return broken(f"it could not be read again: {error}")
    if replace(after, version="") != replace(before, version=""):
        told_ = f"it changed meanwhile ({shown(before.value)} -> {shown(after.value)})"
        return broken(f"{told_}: another Forecaster or a person is at work; drill again")
    return kept(f"{shown(after.value)}, and the same mark before and after")


def _set(seen: LeverSeen, value: LeverValue, until: datetime | None = None) -> LeverSeen:
    """The lever as a write would leave it."""
    free = seen if seen.until is not None else replace(seen, original=seen.value)
    return replace(free, value=value, left=value, until=until or seen.until or seen.at + _SPAN)


@dataclass(kw_only=True)
class _Standing:
    """A lever as it was seen once, which nobody is asked for again."""

    name: str
    seen: LeverSeen

    def observe(self, now: datetime) -> LeverSeen:
        """As it was seen."""
        return replace(self.seen, at=now)

    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved:
        """What a write would do."""
        return set_to(seen, value, until)

    def release(self, seen: LeverSeen) -> Moved:
        """What a release would do."""
        return let_go(seen)

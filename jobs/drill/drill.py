"""Every rehearsal in its order; one workload that cannot be rehearsed stops no other."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from connectors.targets.recording import RecordingTarget, Rehearsed
from forecaster.decision import Seen
from forecaster.errors import StoreError, TargetError
from forecaster.ports import Lease, ScaleTarget
from jobs.at_once import at_once
from jobs.drill.deciding import decided
from jobs.drill.lease import exclusive
from jobs.drill.objects import spoken, untouched
from jobs.drill.outcome import Found, Outcome, Promise, broken, kept, told
from jobs.drill.stage import record_of, set_up
from jobs.drill.workloads import played_whole
from jobs.fleet import Fleet, Member

FLEET = "the fleet"
_ORDER = tuple(Promise)


def drill(fleet: Fleet, members: Sequence[Member], lease: Callable[[str], Lease] | None, now: datetime) -> tuple[Outcome, ...]:
    """What every promise comes to at `now`: of the fleet, then workload by workload.

    The targets of the members must be recorded ones; nothing is written but the drill's own lease. lease: of a holder, None = the store is
    one process's own. Raises StoreError.
    """
    first = told(FLEET, "", Promise.LEASE, exclusive(lease))
    rest = at_once(partial(_walled, fleet, now=now), members, fleet.workers)
    return (first, *(outcome for outcomes in rest for outcome in outcomes))


def _walled(fleet: Fleet, member: Member, now: datetime) -> tuple[Outcome, ...]:
    name = member.workload.name
    try:
        return tuple(told(name, where, promise, found) for where, promise, found in _of(fleet, member, now))
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - the wall between workloads: whatever breaks one must not hide the others
        return (told(name, "", Promise.WALL, broken(f"the drill broke off: {type(error).__name__}: {error}")),)


def _of(fleet: Fleet, member: Member, now: datetime) -> Iterator[tuple[str, Promise, Found]]:
    asked = {name: _without_hands(target) for name, target in member.targets.items()}
    looks = {name: _look(target, now) for name, target in asked.items()}
    seen = {name: look for name, look in looks.items() if isinstance(look, Seen)}
    stage = set_up(fleet, member, asked, seen, now)
    cycle = stage.played()
    for promise, found in played_whole(stage, cycle):
        yield "", promise, found
    for name, look in looks.items():
        if isinstance(look, TargetError):
            yield name, Promise.SEEN, broken(f"{look}; nothing else of it was rehearsed")
            continue
        yield name, Promise.SEEN, kept(_stands(look))
        rehearsed = [*decided(stage, name, record_of(cycle, name)), *spoken(stage, name, record_of(cycle, name))]
        rehearsed.append((Promise.UNTOUCHED, untouched(asked[name], look, now)))  # last, whatever its place in the list
        for promise, found in sorted(rehearsed, key=lambda each: _ORDER.index(each[0])):
            yield name, promise, found


def _without_hands(target: ScaleTarget) -> Rehearsed:
    """What a recorded target records of. Raises TypeError for one that would write."""
    if not isinstance(target, RecordingTarget):
        msg = f"{target.name} is not recorded"
        raise TypeError(msg)
    return target.inner


def _look(target: Rehearsed, now: datetime) -> Seen | TargetError:
    try:
        return target.observe(now)
    except TargetError as error:
        return error


def _stands(seen: Seen) -> str:
    ceiling = "no ceiling" if seen.ceiling is None else f"ceiling {seen.ceiling}"
    ready = "how many are ready is not told" if seen.ready is None else f"{seen.ready} ready"
    ours = "not ours yet" if seen.valid_until is None else f"ours, original {seen.original}"
    return f"floor {seen.floor}, {ceiling}, {ready}, {ours}"

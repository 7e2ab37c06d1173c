"""Scheduled actions of ours: which ones a schedule asks for, and what to put and delete so that they stand. Pure.

Names carry the instant, `forecaster-20240506T0830Z`, so that an action put again is the same action, and nobody else's has our prefix.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count as counted

from forecaster.schedule import Step
from forecaster.units import MINUTE_S, ceil_to, floor_to

PREFIX = "forecaster-"
MOST = 48
"""So many actions of a schedule at most: as many fit into one call, and their counts into one tag."""
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledFloor:
    """A minimum that AWS sets at an instant, counted in the object's own unit."""

    start: datetime
    count: int

    @property
    def name(self) -> str:
        """Unique to the instant."""
        return f"{PREFIX}{self.start.astimezone(UTC):%Y%m%dT%H%M}Z"


def scheduled_floors(
    steps: Sequence[Step], *, minimum: int, ceiling: int, per_unit: int, room: int = MOST, taken: Iterable[datetime] = ()
) -> tuple[ScheduledFloor, ...]:
    """The actions for a schedule: whole units at whole minutes, at most `room` (2 or more), none at an instant of `taken`.

    minimum, ceiling: what stands now, in the object's own unit. per_unit: replicas.

    Rounding always costs capacity, never lacks it: a raise goes to the minute before, a lowering to the minute after, and where there
    are too many, counts are rounded up to coarser ones until they fit. The last step is kept as it is.
    """
    if not steps:
        return ()
    counts = [(step.start, min(-(-step.replicas // per_unit), ceiling)) for step in steps]
    *coming, restore = counts
    for grain in counted(1):
        coarse = _merged((start, min(_rounded(count, grain), ceiling)) for start, count in coming)
        if len(coarse) < room:
            return _placed([*coarse, restore], frozenset(taken), minimum)
    raise AssertionError  # a grain as large as the ceiling leaves one count


def _rounded(count: int, grain: int) -> int:
    """Up to a multiple of the grain; beyond single units also 0, so that every count meets the others in the end."""
    return count if grain == 1 else -(-max(count, 1) // grain) * grain


def difference(
    wanted: Sequence[ScheduledFloor], standing: Mapping[str, int | None], now: datetime
) -> tuple[tuple[ScheduledFloor, ...], tuple[str, ...]]:
    """What to put and which names to delete. standing: the counts of the actions of ours that are there, by name.

    An action that is due within the next minute is not put any more: AWS takes future instants only, and the floor itself is written.
    """
    put = tuple(action for action in wanted if action.start > now + _MINUTE and standing.get(action.name, -1) != action.count)
    names = {action.name for action in wanted}
    return put, tuple(name for name in standing if name not in names)


def _merged(counts: Iterable[tuple[datetime, int]]) -> list[tuple[datetime, int]]:
    merged: list[tuple[datetime, int]] = []
    for start, count in counts:
        if not merged or merged[-1][1] != count:
            merged.append((start, count))
    return merged


def _placed(counts: Sequence[tuple[datetime, int]], taken: frozenset[datetime], before: int) -> tuple[ScheduledFloor, ...]:
    placed: dict[datetime, int] = {}
    for start, count in counts:
        raised = count > before
        at = floor_to(start, MINUTE_S) if raised else ceil_to(start, MINUTE_S)
        while at in taken or (at in placed and not raised):
            at += -_MINUTE if raised else _MINUTE
        if raised:  # one that had to go before its minute goes before what would lower it again
            placed = {at_other: other for at_other, other in placed.items() if at_other < at}
        placed[at], before = count, count
    return tuple(ScheduledFloor(start=at, count=count) for at, count in sorted(placed.items()))

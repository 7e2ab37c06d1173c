"""Whether what was asked for was there in time: every ramp of a pool's floors against the replicas that were seen ready.

A floor is asked for one lead time before the load that it is for, so it is due one lead time after it was first asked for. A ramp is
a run of raises with at most half an hour between two of them and no lowering; it speaks of the floor at its top.

Beside the ramps, over all minutes in which both are known, in replica-seconds:

    due        the least floor of the last lead time                         what should be ready
    shortfall  max(0, due - ready)                                           and was not
    binding    floor - least, where ready <= floor                           stood there for the floor alone
    wasted     max(0, floor - max(need, least)), where ready <= floor        and had nothing to do, floors asked for a ramp to come included
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats, frozen_floats
from forecaster.units import MINUTE_S, check_instant, check_not_negative

_GAP_MIN = 30
"""Raises further apart are two ramps: the load rests in between."""
_LEAST_RISE, _LEAST_RISE_RATIO = 2, 0.2
"""A ramp rises by two replicas and a fifth at least: what is less is the day's jitter."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Minutes:
    """A pool by the minute from `start` on, NaN where nothing is known; all of shape (minutes,).

    floors: in force on its replicas. nodes: in force on the nodes under them, in replicas; None = there are none. ready: replicas seen
    ready. need: what the load of the minute asked for. lead_min: from a floor to when it is due. least: the floor without us.
    """

    start: datetime
    floors: Floats = field(repr=False)
    nodes: Floats | None = field(default=None, repr=False)
    ready: Floats = field(repr=False)
    need: Floats = field(repr=False)
    lead_min: int
    least: int

    def __post_init__(self) -> None:
        check_instant("minutes.start", self.start)
        check_not_negative("minutes.lead_min", self.lead_min, "minutes")
        for name in ("floors", "ready", "need"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=1, name=f"minutes.{name}"))
        if not self.floors.size == self.ready.size == self.need.size:
            msg = f"minutes need one floor, ready and need each, got {self.floors.size}, {self.ready.size}, {self.need.size}"
            raise ValueError(msg)

    def at(self, minute: int) -> datetime:
        """When a minute begins."""
        return self.start + timedelta(minutes=minute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """One rise to `replicas`: when they were asked for, when they were due, and since when they were there.

    nodes_asked: when the nodes under them were, None = not apart. ready: the first time that all were seen ready, None = they were not by
    the time that nobody asked for them any more. ready_at_due: replicas seen ready at `due`, None = nobody looked.
    """

    replicas: int
    before: int
    asked: datetime
    due: datetime
    nodes_asked: datetime | None
    ready: datetime | None
    ready_at_due: int | None

    @property
    def in_time(self) -> bool | None:
        """Whether all were ready when they were due; None = nobody can say."""
        if self.ready is not None:
            return self.ready <= self.due
        return None if self.ready_at_due is None else False

    @property
    def told(self) -> str:
        """`needed 38 ready by 09:00, had 38 at 08:53; nodes asked 08:31, pods 08:41`, in UTC."""
        asked = f"pods {self.asked:%H:%M}" if self.nodes_asked is not None else f"asked {self.asked:%H:%M}"
        nodes = f"nodes asked {self.nodes_asked:%H:%M}, " if self.nodes_asked is not None else ""
        return f"needed {self.replicas} ready by {self.due:%H:%M}, {self._had}; {nodes}{asked}"

    @property
    def _had(self) -> str:
        if self.ready is not None:
            return f"had {self.replicas} at {self.ready:%H:%M}"
        if self.ready_at_due is None:
            return "and nobody saw how many were"
        return f"had {self.ready_at_due} by then and never all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What floors came to over a span, in replica-seconds, as the module's table has it; None = nothing was seen."""

    due: float | None
    shortfall: float | None
    binding: float | None
    wasted: float | None

    @property
    def ready_by_deadline_ratio(self) -> float | None:
        """The share of what was due that was ready."""
        return None if self.due is None or self.shortfall is None or self.due == 0 else 1 - self.shortfall / self.due


def ramps(minutes: Minutes) -> tuple[Ramp, ...]:
    """Every ramp of the floors, in order."""
    return tuple(_ramp(minutes, before, first, last) for before, first, last in _rises(minutes.floors))


def held(minutes: Minutes) -> Held:
    """What the floors came to, as the module's table has it."""
    due = _due(minutes.floors, minutes.lead_min)
    seen = ~np.isnan(due) & ~np.isnan(minutes.ready)
    stands = ~np.isnan(minutes.floors) & (minutes.ready <= minutes.floors)
    idle = np.maximum(0.0, minutes.floors - np.maximum(np.ceil(minutes.need - 1e-9), minutes.least))
    return Held(
        due=_seconds(due, seen),
        shortfall=_seconds(np.maximum(0.0, due - minutes.ready), seen),
        binding=_seconds(np.where(stands, np.maximum(0.0, minutes.floors - minutes.least), 0.0), seen),
        wasted=_seconds(np.where(stands, idle, 0.0), seen & ~np.isnan(minutes.need)),
    )


def _rises(floors: Floats) -> list[tuple[int, int, int]]:
    """(floor before, minute of the first raise, minute of the last) of each ramp."""
    moves = np.flatnonzero(np.diff(floors) != 0) + 1  # a difference to the unknown is none to zero, and ends a ramp
    found: list[tuple[int, int, int]] = []
    run: tuple[float, int, int] | None = None
    for at in moves.tolist():
        raised = floors[at] > floors[at - 1]
        if run is not None and (not raised or at - run[2] > _GAP_MIN):
            found += _worth(run, floors)
            run = None
        if raised:
            run = (floors[at - 1], at, at) if run is None else (run[0], run[1], at)
    return found + (_worth(run, floors) if run is not None else [])


def _worth(run: tuple[float, int, int], floors: Floats) -> list[tuple[int, int, int]]:
    before, first, last = run
    rise = floors[last] - before
    return [(int(before), first, last)] if rise >= max(_LEAST_RISE, _LEAST_RISE_RATIO * before) else []


def _ramp(minutes: Minutes, before: int, first: int, last: int) -> Ramp:
    top, size = minutes.floors[last], minutes.floors.size
    below = np.flatnonzero(~(minutes.floors[last:] >= top))
    until = last + int(below[0]) if below.size else size  # nobody asks for all of them after that
    there = np.flatnonzero(minutes.ready[first:until] >= top)
    due = last + minutes.lead_min
    at_due = minutes.ready[due] if due < until else np.nan
    return Ramp(
        replicas=int(top),
        before=before,
        asked=minutes.at(last),
        due=minutes.at(due),
        nodes_asked=_nodes_asked(minutes, top, last),
        ready=minutes.at(first + int(there[0])) if there.size else None,
        ready_at_due=None if np.isnan(at_due) else int(at_due),
    )


def _nodes_asked(minutes: Minutes, top: float, last: int) -> datetime | None:
    """Since when the nodes for the top stood there without a break when its replicas were asked for."""
    if minutes.nodes is None or not minutes.nodes[last] >= top:
        return None
    missing = np.flatnonzero(~(minutes.nodes[: last + 1] >= top))
    return minutes.at(int(missing[-1]) + 1 if missing.size else 0)


def _due(floors: Floats, lead_min: int) -> Floats:
    """The least floor over [t - lead, t], NaN where a part of it is unknown."""
    if floors.size <= lead_min:
        return np.full(floors.size, np.nan)
    least: Floats = np.lib.stride_tricks.sliding_window_view(floors, lead_min + 1).min(axis=1)
    return np.concatenate([np.full(lead_min, np.nan), least])


def _seconds(values: Floats, seen: NDArray[np.bool_]) -> float | None:
    return float(values[seen].sum() * MINUTE_S) if seen.any() else None

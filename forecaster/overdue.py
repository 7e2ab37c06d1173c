"""Whether what was asked for has come: a write that was accepted is no replica that is ready.

What floors asked for without a break over the whole lead time, and is not ready, is overdue:

| floors of the last lead time | ready | overdue                                                             |
|------------------------------|-------|---------------------------------------------------------------------|
| 8 all along                  | 8     | none                                                                |
| 8 all along                  | 5     | 3                                                                   |
| 5, then 8 for a minute       | 5     | none: the lead time of the other 3 has not passed                   |
| 8, then 5                    | 5     | none: nobody asks for them any more                                 |
| unknown for a part of it     | any   | nobody can say                                                      |

Floors are absolute: one that is overdue is asked for again at the same height, never at a multiple of it, so a shortage is no ratchet.
What a backlog asks for on top is held where it is while replicas are overdue (`guard`), and a pool that stands in takes over.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from forecaster.decision import Action, Decision, Seen
from forecaster.units import check_positive, iso


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """Replicas of one target that should be ready at `due`, the end of their lead time, and are not. shortage: what is said to be why."""

    replicas: int
    asked: int
    ready: int
    due: datetime
    shortage: str | None = None

    def __post_init__(self) -> None:
        check_positive("overdue.replicas", self.replicas, "replicas")

    @property
    def told(self) -> str:
        """`3 of 8 replicas are overdue since 2024-05-06T08:12Z: no stock in eu-west-1a`."""
        why = f": {self.shortage}" if self.shortage is not None else ""
        return f"{self.replicas} of {self.asked} replicas are overdue since {iso(self.due)}{why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Replicas that should be ready by now, since `at`: the end of their lead time."""

    replicas: int
    at: datetime


def due_of(past: tuple[Decision, ...], lead_s: float, now: datetime) -> Due | None:
    """What floors asked for all over the lead time; None where that is not known, or somebody else held the object meanwhile.

    past: a target's decisions over at least the lead time, oldest first, led by the last one before it; each stands until the next one.
    """
    since = now - timedelta(seconds=lead_s)
    begun = sum(decision.at <= since for decision in past)
    in_force = past[begun - 1 :]
    if not begun or any(decision.action is not Action.SET for decision in in_force):
        return None
    asked = min(decision.floor for decision in in_force)
    first = past[begun - 1]
    for decision in reversed(past[: begun - 1]):
        if decision.floor < asked:
            break
        first = decision
    return Due(replicas=asked, at=first.at + timedelta(seconds=lead_s))


def overdue(due: Due | None, seen: Seen) -> Overdue | None:
    """What of it is not there; None where nothing is missing, or where nobody can say."""
    if due is None or seen.ready is None or due.replicas <= seen.ready:
        return None
    return Overdue(replicas=due.replicas - seen.ready, asked=due.replicas, ready=seen.ready, due=due.at, shortage=seen.shortage)


def is_shortage(found: Overdue | None, seen: Seen) -> bool:
    """Whether more would not come either: the provider says so, or more than a tenth of the fleet is overdue and not one alone."""
    return seen.shortage is not None or (found is not None and found.replicas > max(1, found.ready // 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Replicas of another pool that are overdue, as so many of this one, and why."""

    replicas: int
    told: str


def stand_in(pool: str, found: Overdue, carries_ratio: float) -> StandIn:
    """What makes up for a pool's overdue replicas. carries_ratio: of the load of one of them that one of these carries."""
    return StandIn(replicas=math.ceil(found.replicas / carries_ratio - 1e-9), told=f"stands in for pool {pool}, where {found.told}")

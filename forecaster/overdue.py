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


def overdue(past: tuple[Decision, ...], seen: Seen, lead_s: float, now: datetime) -> Overdue | None:
    """What is overdue on a target at `now`; None where nothing is, or where nobody can say.

    past: its decisions in force over at least the lead time, oldest first, led by the last one before it; each stands until the next one.
    """
    since = now - timedelta(seconds=lead_s)
    before = [decision for decision in past if decision.at <= since]
    if seen.ready is None or not before:
        return None
    in_force = (before[-1], *(decision for decision in past if since < decision.at <= now))
    if any(decision.action is not Action.SET for decision in in_force):
        return None
    asked = min(decision.floor for decision in in_force)
    if asked <= seen.ready:
        return None
    stood = next((d for d in reversed(before) if d.floor < asked), None)
    first = before[0].at if stood is None else stood.at
    due = min(now, first + timedelta(seconds=lead_s))
    return Overdue(replicas=asked - seen.ready, asked=asked, ready=seen.ready, due=due, shortage=seen.shortage)


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

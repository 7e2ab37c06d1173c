"""Floors to come that will not be met, told hours ahead: a ceiling that is too low, or what is out of stock already.

| planned for 14:05 | the object                            | told                                                   |
|-------------------|---------------------------------------|--------------------------------------------------------|
| 42                | takes 60                              | nothing                                                |
| 42                | takes 32                              | 42 are asked for at 14:05 and it takes 32              |
| 42                | takes 60, of 30 asked for 22 are here | 42 are asked for at 14:05, and more do not come now    |

A ceiling that binds right now is the decision's own alert (`ceiling-below-floor`); one that is chosen in the policy (`max`) is none.
"""

from datetime import datetime

from forecaster.decision import Seen
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.units import iso

UNMET = frozenset({Code.CEILING_AHEAD, Code.SHORTAGE_AHEAD, Code.BUDGET_BINDS, Code.ROLE_UNMET, Code.BULK_LATE, Code.CAPACITY_DRIFT})
"""The codes of what is told here, and where a budget of GPUs is too small (`apportion`) where a ratio does not hold
(`balance`), where work that may wait is late (`bulk`) and where replicas carry otherwise than their profile says (`drift`)."""


def unmet(plan: Plan, seen: Seen, now: datetime) -> tuple[Reason, ...]:
    """What of a plan's floors after `now` the object will not give; empty where nothing is known to stand in the way."""
    coming = [floor for floor in plan.floors if floor.until > now]
    above = next((floor for floor in coming if seen.ceiling is not None and floor.replicas > seen.ceiling), None)
    reasons = []
    if above is not None and seen.ceiling is not None:
        most = max(floor.replicas for floor in coming)
        takes = f"which takes {seen.ceiling} (the most to come is {most})"
        detail = f"{_needed(above, now)} on {seen.target}, {takes}: raise its maximum before"
        reasons.append(Reason(code=Code.CEILING_AHEAD, detail=detail, before=above.replicas, after=seen.ceiling))
    more = next((floor for floor in coming if seen.shortage is not None and floor.replicas > (seen.ready or 0)), None)
    if more is not None:
        here = "" if seen.ready is None else f", {seen.ready} are ready"
        detail = f"{_needed(more, now)} on {seen.target}{here} and more do not come now ({seen.shortage}): look for others in time"
        reasons.append(Reason(code=Code.SHORTAGE_AHEAD, detail=detail, before=more.replicas, after=seen.ready))
    return tuple(reasons)


def _needed(floor: Floor, now: datetime) -> str:
    return f"{floor.replicas} replicas are asked for from {iso(max(floor.start, now))}"

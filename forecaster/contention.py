"""What becomes of a floor that somebody else writes as well: a tool, a person, or another Forecaster whose marks stand where ours stood.

| their value        | what we do                                                                                             |
|--------------------|--------------------------------------------------------------------------------------------------------|
| above ours         | it is kept: it may be a person in an incident                                                          |
| below ours         | ours is written again, 5 times an hour: a tool that writes its manifest again was not told of us       |
| below ours, still  | the field is let go for the rest of the hour, and somebody has to choose who writes it                 |

Another Forecaster that wants as much or more is yielded to: the object is left alone, marks and all, so that the higher of the two floors
stands and whoever holds it can lower it again. Kept by both in turn, no floor would ever fall; and of two that want the same, each would
renew its marks over the other's at every turn.
"""

from datetime import timedelta

from forecaster.case import Case
from forecaster.decision import Decision
from forecaster.reasons import Code, Reason
from forecaster.units import HOUR_S

REASSERTIONS = 5
"""An hour: a sync every 12 minutes is outlasted, two controllers that fight within seconds are not."""

ANOTHER = "another Forecaster"


def beside_writer(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """The floor beside the value of a second writer, who is named with what to change."""
    seen, writer = case.seen, _writer(case)
    if writer is None:
        return floor, []
    kept = max(floor, seen.floor)
    name, remedy = writer
    detail = f"{name} also writes the floor and set {seen.floor}{f': {remedy}' if remedy is not None else ''}"
    reasons = [Reason(code=Code.SECOND_WRITER, detail=detail, before=floor, after=kept)]
    if seen.floor < floor:
        detail = f"{floor} is written again over the {seen.floor} of {name}"
        reasons.append(Reason(code=Code.REASSERTED, detail=detail, before=seen.floor, after=floor))
    return kept, reasons


def let_go(case: Case, floor: int) -> Reason | None:
    """Why the value of a second writer is left alone, None where it is not."""
    seen, since, writer = case.seen, case.now - timedelta(seconds=HOUR_S), _writer(case)
    if writer is None:
        return None
    if seen.floor >= floor:
        return _yielded(case) if seen.writer is None else None
    again = sum(decision.at > since and any(r.code is Code.REASSERTED for r in decision.reasons) for decision in case.past)
    if again < REASSERTIONS:
        return None
    name, remedy = writer
    change = remedy or "let one of the two write it"
    detail = f"{name} has undone the floor {again} times within the hour and is left its {seen.floor}, {floor} are wanted: {change}"
    return Reason(code=Code.LET_GO, detail=detail, before=floor, after=seen.floor)


def has_yielded(decision: Decision) -> bool:
    """Whether it left the object to another Forecaster."""
    return any(reason.code is Code.YIELDED for reason in decision.reasons)


def _yielded(case: Case) -> Reason:
    detail = f"the {case.seen.floor} of {ANOTHER} are enough and are left to it until it asks for less"
    return Reason(code=Code.YIELDED, detail=detail, after=case.seen.floor)


def _writer(case: Case) -> tuple[str, str | None] | None:
    """Who else writes it, and what to change; None where nobody does."""
    if case.seen.writer is not None:
        return case.seen.writer, case.seen.remedy
    if case.is_shared:
        return ANOTHER, "name this object in the configuration of one installation only"
    return None

"""What becomes of a floor that somebody else writes as well.

| their value        | what we do                                                                                             |
|--------------------|--------------------------------------------------------------------------------------------------------|
| above ours         | it is kept: it may be a person in an incident                                                          |
| below ours         | ours is written again, 5 times an hour: a tool that writes its manifest again was not told of us       |
| below ours, still  | the field is let go for the rest of the hour, and somebody has to choose who writes it                 |
"""

from datetime import timedelta

from forecaster.case import Case
from forecaster.reasons import Code, Reason
from forecaster.units import HOUR_S

REASSERTIONS = 5
"""An hour: a sync every 12 minutes is outlasted, two controllers that fight within seconds are not."""


def beside_writer(case: Case, floor: int) -> tuple[int, list[Reason]]:
    """The floor beside the value of a second writer, who is named with what to change."""
    seen = case.seen
    if seen.writer is None:
        return floor, []
    kept = max(floor, seen.floor)
    remedy = "" if seen.remedy is None else f": {seen.remedy}"
    detail = f"{seen.writer} also writes the floor and set {seen.floor}{remedy}"
    reasons = [Reason(code=Code.SECOND_WRITER, detail=detail, before=floor, after=kept)]
    if seen.floor < floor:
        detail = f"{floor} is written again over the {seen.floor} of {seen.writer}"
        reasons.append(Reason(code=Code.REASSERTED, detail=detail, before=seen.floor, after=floor))
    return kept, reasons


def let_go(case: Case, floor: int) -> Reason | None:
    """Why a lower value of a second writer is left alone, None where it is not."""
    seen, since = case.seen, case.now - timedelta(seconds=HOUR_S)
    if seen.writer is None or seen.floor >= floor:
        return None
    again = sum(decision.at > since and any(r.code is Code.REASSERTED for r in decision.reasons) for decision in case.past)
    if again < REASSERTIONS:
        return None
    remedy = "let one of the two write it" if seen.remedy is None else seen.remedy
    detail = f"{seen.writer} has undone the floor {again} times within the hour and is left its {seen.floor}, {floor} are wanted: {remedy}"
    return Reason(code=Code.LET_GO, detail=detail, before=floor, after=seen.floor)

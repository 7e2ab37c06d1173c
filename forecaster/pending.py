"""What replicas that are on their way, or do not come, leave of a floor that a backlog asks for."""

from forecaster.backlog import are_stuck, dues_s
from forecaster.case import Case
from forecaster.overdue import is_shortage
from forecaster.reasons import Code, Reason
from forecaster.units import whole_replicas


def beside_pending(case: Case, least: int) -> tuple[int, list[Reason]]:
    """The corrected floor; where a backlog set it, without what replicas on their way serve in time or would have, had they come."""
    correction, seen, plan = case.correction, case.seen, case.in_force.plan
    floor, reasons, backlog = correction.floor, list(correction.reasons), correction.look.backlog
    if reasons[-1].code is not Code.QUEUE_DRAIN or backlog is None or plan is None or plan.demand is None:
        return floor, reasons
    if seen.ready is None or not seen.pending:
        return floor, reasons
    lead_s, stood = plan.demand.lead_time_s, tuple(((case.now - d.since).total_seconds(), d.floor) for d in case.recent)
    due_s = dues_s(seen.ready, seen.pending, stood, lead_s)
    least = max(reasons[-1].before or 0, least)
    if are_stuck(due_s, seen.ready) or is_shortage(case.overdue, seen):
        beside = max(least, min(floor, case.last))
        why = "replicas are overdue" if seen.shortage is None else seen.shortage
        detail = f"{why}, and more of them would not come either: the backlog asks for no more than {beside}"
    else:
        beside = max(least, whole_replicas(backlog.asked_beside(seen.ready, due_s, lead_s)))
        detail = f"{seen.pending} pending replicas serve the backlog in time: {beside} are enough"
    if beside >= floor:
        return floor, reasons
    return beside, [*reasons, Reason(code=Code.PENDING_COUNTED, detail=detail, before=floor, after=beside)]

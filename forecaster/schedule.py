"""The floors of the coming hours, for a target whose API can carry them out without us."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from forecaster.decision import Action, Decision, Seen
from forecaster.guard import bounds_of
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.units import check_instant, check_not_negative
from forecaster.workload import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From `start` on, at least `replicas`, until the next step."""

    start: datetime
    replicas: int

    def __post_init__(self) -> None:
        check_instant("step.start", self.start)
        check_not_negative("step.replicas", self.replicas, "replicas")


def schedule_of(decision: Decision, plan: Plan | None, policy: Policy, seen: Seen, *, ahead_s: float = 0.0) -> tuple[Step, ...]:
    """The steps after a decision, in order; the last one restores the original at `decision.valid_until`.

    plan: the one in force. ahead_s: how much earlier than the plan says the target is asked. A step up comes that much earlier, a step
    down `hold_s` later, as a guarded floor does, so that the schedule and we never pull at one field. Where the decision does not follow
    the plan (overridden, expired) only the restoring step is left; where the object is to be left alone there is none.
    """
    if decision.action is not Action.SET:
        return ()
    restore = Step(start=decision.valid_until, replicas=seen.original)
    if plan is None or decision.plan_id != plan.id or any(reason.code is Code.OVERRIDDEN for reason in decision.reasons):
        return (restore,)
    steps = _steps(decision, plan, policy, seen, timedelta(seconds=ahead_s))
    return (*(after for before, after in pairwise(steps) if after.replicas != before.replicas), restore)


def _steps(decision: Decision, plan: Plan, policy: Policy, seen: Seen, ahead: timedelta) -> list[Step]:
    """The floor of the decision, then one step wherever the largest of [t - hold, t + ahead] may change; equal ones in a row as well."""
    now, hold = decision.at, timedelta(seconds=policy.hold_s)
    coming = [floor for floor in plan.floors if floor.start > now]
    stands_until = coming[0].start if coming else plan.floors[-1].until
    edges = {floor.start - ahead for floor in coming} | {floor.until + hold for floor in coming} | {stands_until + hold}
    steps = [Step(start=now, replicas=decision.floor)]
    for at in sorted(edge for edge in edges if now < edge < decision.valid_until):
        asked = [floor.replicas for floor in coming if floor.start <= at + ahead and floor.until > at - hold]
        if stands_until > at - hold:
            asked.append(decision.floor)
        if asked:
            steps.append(Step(start=at, replicas=_bounded(max(asked), policy, seen)))
    return steps


def _bounded(replicas: int, policy: Policy, seen: Seen) -> int:
    least, most = bounds_of(policy, seen)
    return max(replicas, least) if most is None else min(max(replicas, least), most)

"""What was decided last, before an instant: of a target, and of a pool for others that are decided on at the same time."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from forecaster.contention import has_yielded
from forecaster.decision import Action, CycleRecord, Decision
from forecaster.reasons import Code
from forecaster.roles import Beside
from forecaster.workload import Policy, Pool, Workload


def last_decisions(records: Sequence[CycleRecord], pool: Pool, now: datetime) -> Iterator[Decision]:
    """The last decision before `now` for each target of a pool that counts replicas, or for its nodes where it has nothing else."""
    for target in set(pool.targets) - set(pool.nodes) or set(pool.targets):
        past = [r.decision for r in records if (r.decision.pool, r.decision.target) == (pool.name, target) and r.at < now]
        if past:
            yield past[-1]


def beside(workload: Workload, pool: Pool, records: Sequence[CycleRecord], now: datetime) -> Beside | None:
    """What the pool of the other role asked for by itself last; None for a pool without a role, and while nothing is known."""
    name = workload.roles.other(pool.name) if workload.roles is not None else None
    other = next((each for each in workload.pools if each.name == name), None)
    if workload.roles is None or other is None:
        return None
    asked = max((_own(decision) for decision in last_decisions(records, other, now)), default=None)
    return None if asked is None else Beside(roles=workload.roles, pool=pool.name, other=asked)


def _own(decision: Decision) -> int:
    """What was asked for before the ratio raised it: otherwise the two would lift each other in turns."""
    raised = (reason.before for reason in decision.reasons if reason.code is Code.ROLE_RATIO)
    return next((before for before in raised if before is not None), decision.wanted)


def past_decisions(before: tuple[CycleRecord, ...], policy: Policy, pool: str, target: str, now: datetime) -> tuple[Decision, ...]:
    """The decisions for one target that are remembered, in the present mode, oldest first; those at `now` itself do not count."""
    of_target = (r for r in before if (r.decision.pool, r.decision.target) == (pool, target) and r.at < now)
    return tuple(r.decision for r in of_target if r.mode is policy.mode)


def left_by(before: tuple[CycleRecord, ...], policy: Policy, pool: str, target: str, now: datetime) -> Decision | None:
    """What our last turn left on the object, to another Forecaster too; None where it set nothing, failed, or was in another mode."""
    of_target = [r for r in before if (r.decision.pool, r.decision.target) == (pool, target) and r.at < now]
    last = of_target[-1] if of_target else None
    if last is None or last.error is not None or last.mode is not policy.mode:
        return None
    return last.decision if last.decision.action is Action.SET or has_yielded(last.decision) else None


def recent_of(past: tuple[Decision, ...], policy: Policy, now: datetime) -> tuple[Decision, ...]:
    """Those in force over the hold span."""
    since = now - timedelta(seconds=max(policy.hold_s, 1.0))
    older = sum(decision.at < since for decision in past)
    return past[max(older - 1, 0) :]

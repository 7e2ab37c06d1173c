"""What was decided for a pool last, before an instant: what other pools may know of it while all are decided on at once."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from forecaster.decision import CycleRecord, Decision
from forecaster.reasons import Code
from forecaster.roles import Beside
from forecaster.workload import Pool, Workload


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

"""Coming floors, given ahead of time to the targets whose API carries them out without us."""

from forecaster.decision import CycleRecord, Seen
from forecaster.errors import TargetError
from forecaster.ports import ScaleTarget, Scheduled, Store
from forecaster.schedule import schedule_of
from forecaster.workload import Policy, Pool
from jobs.failure import Failure, failure
from jobs.standing import plans_named


def put_schedule(store: Store, target: ScaleTarget, *, pool: Pool, policy: Policy, record: CycleRecord, seen: Seen) -> Failure | None:
    """Why it was not put there; None where all of it stands, or none is taken. The whole plan is read each time. Raises StoreError."""
    if record.error is not None or not isinstance(target, Scheduled) or not target.takes_schedule:
        return None
    decision = record.decision
    plans = plans_named(store, decision.workload, pool.name, decision.plan_id) if decision.plan_id is not None else ()
    steps = schedule_of(decision, plans[-1] if plans else None, policy, seen, ahead_s=pool.ahead_s(target.name))
    try:
        target.set_schedule(steps, seen)
    except TargetError as error:
        return failure("apply", error, f"the schedule of {target.name} was not written: {error}")
    return None

"""Plans of work that may wait: the floors of other pools leave troughs in a budget of GPUs, and these are filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from forecaster.apportion import Contender, replicas_of
from forecaster.budget import Budget
from forecaster.bulk import BulkPool, Job, Late, Piece, Trough, scheduled
from forecaster.look import Look, SignalLook
from forecaster.plan import Floor, Plan, merged
from forecaster.reasons import Code, Reason
from forecaster.series import Signal
from forecaster.units import HOUR_S, iso, spell_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A pool whose work waits, and the plan that is to be made of it."""

    workload: str
    pool: BulkPool
    expiry_s: float


def left_over(budget: Budget, contenders: Sequence[Contender], start: datetime, until: datetime) -> tuple[Trough, ...]:
    """GPUs that the plans of the others leave from `start` to `until`, never below 0."""
    inside = {
        edge
        for contender in contenders
        if contender.plan is not None
        for floor in contender.plan.floors
        for edge in (floor.start, floor.until)
        if start < edge < until
    }
    edges = sorted({start, until, *inside})
    taken = [[replicas * contender.claim.gpus_per_replica for replicas in replicas_of(contender, edges[:-1])] for contender in contenders]
    gpus = [max(0, budget.gpus - sum(column)) for column in zip(*taken, strict=True)] if taken else [budget.gpus] * (len(edges) - 1)
    return tuple(Trough(start=a, until=b, gpus=n) for (a, b), n in zip(pairwise(edges), gpus, strict=True))


def trough_plans(budget: Budget, troughs: Sequence[Trough], waiting: Sequence[Waiting], issued_at: datetime) -> tuple[Plan, ...]:
    """A plan for each pool, in order; what cannot be done in time is a reason of its own."""
    pieces, late = scheduled(troughs, [each.pool for each in waiting])
    return tuple(
        _plan(budget, each, i, pieces, [one for one in late if one.pool == each.pool.name], issued_at) for i, each in enumerate(waiting)
    )


def no_load(at: datetime) -> Look:
    """What is said of the live load of a pool that has none: it needs nothing, and that is known."""
    none = SignalLook(signal=Signal.RPM, need=0.0, ratio=None, lull_ratio=0.0, lull_need=0.0)
    return Look(at=at, signals=(none,), unknown=(), queue_need=0.0)


def _plan(  # noqa: PLR0917  one pool of a schedule
    budget: Budget, waiting: Waiting, i: int, pieces: Sequence[Piece], late: Sequence[Late], issued_at: datetime
) -> Plan:
    floors = [
        Floor(
            start=piece.start, until=piece.until, replicas=piece.replicas[i], reason=_reason(budget, waiting.pool, piece, piece.replicas[i])
        )
        for piece in pieces
    ]
    name = waiting.pool.name.rpartition("/")[2]
    return Plan(
        workload=waiting.workload,
        pool=name,
        issued_at=issued_at,
        valid_until=min(floors[-1].until, issued_at + timedelta(seconds=waiting.expiry_s)),
        floors=merged(floors),
        demand=None,
        reasons=tuple(Reason(code=Code.BULK_LATE, detail=one.told) for one in late),
    )


def _reason(budget: Budget, pool: BulkPool, piece: Piece, replicas: int) -> Reason:
    job = next((job for job in pool.jobs if job.release < piece.until), None)
    if job is None or replicas <= pool.least:
        return Reason(code=Code.BULK, detail=f"no bulk work in what budget {budget.name} leaves: {replicas} is the minimum", after=replicas)
    return Reason(code=Code.BULK, detail=f"bulk work in what budget {budget.name} leaves: {_told(job)}", after=replicas)


def _told(job: Job) -> str:
    left, whole = (spell_number(each / HOUR_S) for each in (job.work_s, job.whole_s or job.work_s))
    return f"{left} of {whole} replica-hours are left to do by {iso(job.deadline)}"

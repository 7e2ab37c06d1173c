"""Plans of pools whose work may wait, made last: in what the plans of all others leave of their budget of GPUs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.bulk import Bulk, BulkPool, Worked, left_of
from forecaster.decision import Action, CycleRecord
from forecaster.errors import HistoryAtOtherStep
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.series import Window
from forecaster.trough import Waiting, left_over, trough_plans
from forecaster.units import floor_to
from forecaster.workload import Pool
from jobs.budget import Sharer, sharers
from jobs.draft import Draft
from jobs.fleet import Fleet
from jobs.postings import postings
from jobs.ready import ReadyReplicas, ready_replicas


def in_troughs(fleet: Fleet, drafts: Sequence[Draft], compared: Callable[[Draft], Draft], now: datetime) -> tuple[Draft, ...]:
    """The drafts with a plan for each pool whose work may wait; the others' plans are within their budgets already. Raises StoreError."""
    if not any(pool.bulk is not None for member in fleet.members for pool in member.workload.pools):
        return tuple(drafts)
    known, ready = postings(fleet.store), ready_replicas(fleet.store)
    end = now + timedelta(seconds=fleet.horizon_s)
    made: dict[str, list[Plan]] = {}
    for budget in fleet.budgets:
        sharing = sharers(fleet, drafts, budget, known, now)
        waiting = [_waiting(fleet.store, ready, each, each.pool.bulk, now, end) for each in sharing if each.pool.bulk is not None]
        if waiting:
            rooms = left_over(budget, [each.contender for each in sharing], now, end)
            for plan in trough_plans(budget, rooms, waiting, now):
                made.setdefault(plan.workload, []).append(plan)
    return tuple(_with(draft, made, compared) for draft in drafts)


def _waiting(store: Store, ready: ReadyReplicas, each: Sharer, bulk: Bulk, now: datetime, end: datetime) -> Waiting:  # noqa: PLR0917  its work, and when
    """The pool with what is left of its jobs."""
    pool, policy, name = each.pool, each.draft.member.workload.policy, each.draft.name
    jobs = bulk.jobs(now, end)
    worked = tuple(_worked(store, ready, each, jobs[0].release, now)) if jobs else ()
    return Waiting(
        workload=name,
        pool=BulkPool(
            name=f"{name}/{pool.name}",
            gpus_per_replica=each.contender.claim.gpus_per_replica,
            jobs=left_of(jobs, worked, now),
            least=each.contender.minimum,
            most=policy.maximum,
            lead_s=pool.lead_time.plan_s,
        ),
        expiry_s=policy.expiry_s,
    )


def _worked(store: Store, ready: ReadyReplicas, each: Sharer, since: datetime, now: datetime) -> Iterator[Worked]:
    """Replicas at work since an instant: as seen, or as decided where the targets do not tell what is ready."""
    step_s = each.draft.member.step_s
    window = Window(start=floor_to(since, step_s), end=floor_to(now, step_s))
    if window.end <= window.start:
        return
    try:
        seen = ready.of(each.draft.name, each.pool.name, window, step_s)
    except HistoryAtOtherStep:  # a step that was changed since: what was decided tells nearly as much
        seen = None
    if seen is not None and not np.isnan(seen.mean).all():
        for at_s, replicas in zip(seen.times_s().tolist(), seen.mean.tolist(), strict=True):
            start = window.start + timedelta(seconds=at_s - window.start.timestamp())
            yield Worked(start=start, until=start + timedelta(seconds=step_s), replicas=None if np.isnan(replicas) else replicas)
        return
    yield from _decided(store.records(each.draft.name, window), each.pool, window.start, now)


def _decided(records: Sequence[CycleRecord], pool: Pool, since: datetime, now: datetime) -> Iterator[Worked]:
    """The floors of a pool's first target that counts replicas, each until the next one."""
    target = next((name for name in pool.targets if name not in pool.nodes), pool.targets[0])
    stood = [r for r in records if (r.decision.pool, r.decision.target) == (pool.name, target) and r.decision.action is Action.SET]
    for i, record in enumerate(stood):
        start, until = max(record.at, since), stood[i + 1].at if i + 1 < len(stood) else now
        if start < until:
            yield Worked(start=start, until=until, replicas=float(record.decision.floor))


def _with(draft: Draft, made: Mapping[str, Sequence[Plan]], compared: Callable[[Draft], Draft]) -> Draft:
    plans = made.get(draft.name)
    return compared(replace(draft, plans=(*draft.plans, *plans))) if plans else draft

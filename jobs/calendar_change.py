"""What events change in the plans: floors before and after, over the time in which they are felt."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from forecaster.events import Event
from forecaster.plan import Plan
from forecaster.series import Window
from jobs.draft import Draft
from jobs.fleet import Fleet
from jobs.standing import plans_near

Plans: TypeAlias = Mapping[tuple[str, str], Plan]
"""By workload and pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The largest floor of a pool while events are felt, in replicas, and when. before: in the plan that was made last, if it reaches."""

    workload: str
    pool: str
    before: int | None
    after: int
    at: datetime


def last_plans(fleet: Fleet, now: datetime) -> Plans:
    """The plan made last for each pool, as far as one was made within the horizon."""
    pools = [(member.workload.name, pool.name) for member in fleet.members for pool in member.workload.pools]
    plans = {key: plans_near(fleet.store, *key, now, fleet.horizon_s, last=1) for key in pools}
    return {key: found[-1] for key, found in plans.items() if found}


def floors_during(events: tuple[Event, ...], before: Plans, drafts: tuple[Draft, ...], now: datetime) -> tuple[Change, ...]:
    """One entry for each pool whose workload feels any of the events before its new plan ends, from one lead time before on."""
    changes = []
    for draft in drafts:
        theirs = [event for event in events if event.is_for(draft.name)]
        leads = {pool.name: timedelta(seconds=pool.lead_time.plan_s) for pool in draft.member.workload.pools}
        for made in draft.plans if theirs else ():
            ahead = Window(start=now, end=max(made.floors[-1].until, now + timedelta(seconds=1)))
            spans = [Window(start=max(now, span.start - leads[made.pool]), end=span.end) for event in theirs for span in event.spans(ahead)]
            after = _largest(made, spans)
            if after is not None:
                old = before.get((draft.name, made.pool))
                earlier = None if old is None else _largest(old, spans)
                changes.append(Change(workload=draft.name, pool=made.pool, before=earlier and earlier[0], after=after[0], at=after[1]))
    return tuple(changes)


def _largest(plan: Plan, spans: list[Window]) -> tuple[int, datetime] | None:
    """The largest floor that a plan has in any of the spans, and since when; None where it reaches none of them."""
    felt = [
        (floor.replicas, max(floor.start, span.start))
        for floor in plan.floors
        for span in spans
        if floor.start < span.end and floor.until > span.start
    ]
    return max(felt, key=lambda found: (found[0], -found[1].timestamp()), default=None)

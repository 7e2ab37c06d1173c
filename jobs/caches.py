"""What is counted on of the hits of caches, from history, before demand."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from forecaster.caches import Counted, Hits
from forecaster.ports import Store
from forecaster.series import Signal, Window
from forecaster.units import DAY_S, floor_to
from forecaster.workload import Workload
from jobs.draft import Draft
from jobs.fleet import Fleet, Member


def relieved(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """The draft with what is counted on of its caches, the same one where it has none. Raises StoreError and HistoryAtOtherStep."""
    counted = counted_of(draft.member.workload)
    if not counted:
        return draft
    found = {signal: _counted_on(fleet.store, draft.member, signal, each, now) for signal, each in counted.items()}
    hits = Hits(responses=found.get(Signal.RESPONSE_HITS), prefix=found.get(Signal.PREFIX_HITS))
    return replace(draft, member=replace(draft.member, workload=with_hits(draft.member.workload, hits)))


def with_hits(workload: Workload, hits: Hits) -> Workload:
    """The workload whose pools count on these hits."""
    return replace(workload, pools=tuple(replace(pool, caches=replace(pool.caches, hits=hits)) for pool in workload.pools))


def counted_of(workload: Workload) -> Mapping[Signal, Counted]:
    """The shares of hits that any of its pools counts on."""
    return {signal: counted for pool in workload.serving for signal, counted in pool.caches.counted.items()}


def _counted_on(store: Store, member: Member, signal: Signal, counted: Counted, now: datetime) -> float | None:
    end = floor_to(now, member.step_s)
    span = Window(start=floor_to(end - timedelta(seconds=counted.days * DAY_S), member.step_s), end=end)
    return counted.of(store.history(member.workload.name, signal, span, member.step_s))

"""Drift between profiles and production: judged once a planning cycle, kept in one row of the store, and told from there.

What cannot be judged, since a source does not answer or too little was seen, leaves what was found before in force for two days.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import numpy as np
import structlog

from forecaster.drift import Drift, Judged, Measured, drift
from forecaster.errors import HistoryAtOtherStep, NothingKept, SourceError, StoreError
from forecaster.forecast import State
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.profile import Origin, ProfileEntry
from forecaster.profile_best import Source
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Signal, Window
from forecaster.units import DAY_S, check_instant, check_named, epoch_s, floor_to, from_epoch_s, iso
from jobs.at_once import at_once
from jobs.capacity.known import PoolKey, newest_of_each
from jobs.capacity.observed import Sight, alone, lately, observed, sight
from jobs.draft import Draft
from jobs.failure import Failure, failure
from jobs.fleet import Fleet, Member

_KEY = "forecaster/drift"
_VERSION = 1
_SPAN_S = 2 * DAY_S
_BEFORE_S, _LEARNED_S = 28 * DAY_S, 14 * DAY_S
_MEASURED = frozenset({Origin.REPLAY, Origin.FILE, Origin.PRODUCTION})
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """A drift that is in force since an instant; at: when it was last found. sentence: what, why, and what to do."""

    since: datetime
    at: datetime
    ratio: float
    causes: tuple[str, ...]
    sentence: str

    def __post_init__(self) -> None:
        check_instant("drifted.since", self.since)
        check_instant("drifted.at", self.at)
        check_named("drifted.sentence", self.sentence)

    @property
    def words(self) -> str:
        """Since when, and the sentence."""
        return f"drift since {iso(self.since)}: {self.sentence}"


Drifts: TypeAlias = Mapping[PoolKey, Drifted]
"""By workload and pool."""
Unlooked: TypeAlias = Mapping[str, tuple[Failure, ...]]
"""Why a drift could not be looked for, by workload: in nobody's way."""


def drifts(store: Store, now: datetime) -> Drifts:
    """What was found by `now` and not long ago. Raises StoreError."""
    kept = store.states([_KEY]).get(_KEY)
    if kept is None or kept.version != _VERSION:
        return {}
    found = {
        (workload, pool): Drifted(since=from_epoch_s(since), at=from_epoch_s(at), ratio=ratio, causes=tuple(causes), sentence=sentence)
        for workload, pool, since, at, ratio, causes, sentence in json.loads(kept.payload)
    }
    oldest = now - timedelta(seconds=_SPAN_S)
    return {key: each for key, each in found.items() if oldest < each.at and each.since <= now}


def look_for_drift(fleet: Fleet, now: datetime) -> tuple[Drifts, Unlooked]:
    """Judge every pool whose capacity is that of a profile (`with_capacities`), and keep what was found. Raises StoreError."""
    members = [member for member in fleet.members if member.latencies and _measured_pools(member)]
    if not members:
        return {}, {}
    before = drifts(fleet.store, now)
    entries = newest_of_each(fleet.store, [(member.workload.name, name) for member in members for name in _measured_pools(member)], now)
    seen = sight(fleet, members, Window(start=now - timedelta(seconds=_SPAN_S), end=now), now)
    answers = at_once(partial(_look, seen, entries), members, fleet.workers)
    after = _after(before, members, answers, now)
    if after != before:
        _keep(fleet.store, after)
    return after, {member.workload.name: (answer,) for member, answer in zip(members, answers, strict=True) if isinstance(answer, Failure)}


def with_drifts(drafts: Sequence[Draft], found: Drifts) -> tuple[Draft, ...]:
    """The drafts whose plans say of their pool that production serves otherwise than its profile."""
    return tuple(replace(draft, plans=tuple(_told(plan, found) for plan in draft.plans)) for draft in drafts) if found else tuple(drafts)


def _after(before: Drifts, members: Sequence[Member], answers: Sequence[Judged | Failure], now: datetime) -> Drifts:
    """What is in force: of pools that were judged what was found, of the others what was found before."""
    after = dict(before)
    for member, answer in zip(members, answers, strict=True):
        if isinstance(answer, Judged) and not answer.unjudged:
            for name in _measured_pools(member):
                after.pop((member.workload.name, name), None)
            if answer.drift is not None:
                key = (member.workload.name, alone(member).name)
                after[key] = _since(before.get(key), answer.drift, now)
    return after


def _told(plan: Plan, found: Drifts) -> Plan:
    each = found.get((plan.workload, plan.pool))
    if each is None:
        return plan
    return replace(plan, reasons=(*plan.reasons, Reason(code=Code.CAPACITY_DRIFT, detail=f"pool {plan.pool}: {each.words}")))


def _measured_pools(member: Member) -> dict[str, Source]:
    """The pools whose capacity is that of a profile, with what it comes to."""
    used = {name: choice.used for name, choice in member.choices.items()}
    return {name: source for name, source in used.items() if source is not None and source.origin in _MEASURED and source.carried}


def _look(of: Sight, entries: Mapping[PoolKey, Sequence[ProfileEntry]], member: Member) -> Judged | Failure:
    """Whether the member's one pool drifts, or why nobody could look. Raises StoreError."""
    try:
        pool = alone(member)
        source = _measured_pools(member).get(pool.name)
        kept = entries.get((member.workload.name, pool.name), ())
        entry = next((each for each in kept if source is not None and each.profile.origin is source.origin), None)
        if source is None or source.carried is None or entry is None:
            return Judged()
        window = lately(of.now, _SPAN_S, member.step_s)
        hits = _hits_before(of.store, member, entry, window.start)
        measured = Measured(entry=entry, found=source.carried, changed=source.stale, hits_before=hits)
        return drift(measured, observed(of, member, pool, entry.slo, window))
    except (NothingKept, HistoryAtOtherStep) as error:
        return Judged(unjudged=str(error))
    except StoreError:
        raise
    except Exception as error:  # the wall between workloads: whatever breaks one must not stop the others
        if not isinstance(error, SourceError):
            log.exception("drift", workload=member.workload.name)
        return failure("drift", error, f"P95 was not held against the profile: {error}")


def _hits_before(store: Store, member: Member, entry: ProfileEntry, until: datetime) -> float | None:
    """The share of the input that the prefix cache had; None = not known.

    Since the profile was kept, with one that was learned in the two weeks before as well; over four weeks at most.
    """
    if Signal.PREFIX_HITS not in {query.signal for query in member.queries}:
        return None
    learned_s = _LEARNED_S if entry.profile.origin is Origin.PRODUCTION else 0
    start = floor_to(max(entry.at - timedelta(seconds=learned_s), until - timedelta(seconds=_BEFORE_S)), member.step_s)
    if start >= until:
        return None
    hits: Floats = store.history(member.workload.name, Signal.PREFIX_HITS, Window(start=start, end=until), member.step_s).mean
    measured = hits[~np.isnan(hits)]
    return float(measured.mean()) if measured.size else None


def _since(before: Drifted | None, found: Drift, now: datetime) -> Drifted:
    since = now if before is None else before.since
    return Drifted(since=since, at=now, ratio=found.ratio, causes=tuple(map(str, found.causes)), sentence=found.sentence)


def _keep(store: Store, found: Drifts) -> None:
    rows = [[*key, epoch_s(e.since), epoch_s(e.at), e.ratio, list(e.causes), e.sentence] for key, e in sorted(found.items())]
    store.save_states({_KEY: State(model="drift", version=_VERSION, payload=json.dumps(rows).encode())})

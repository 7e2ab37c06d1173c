"""The second half of the line: observe -> correct -> guard -> apply -> record; every 15 to 60 seconds, without any model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType

import structlog

from forecaster.always_on import is_blind, looked_at, sized
from forecaster.approval import InForce
from forecaster.case import Case
from forecaster.claim import Room
from forecaster.correct import Correction, correct
from forecaster.decision import Action, Applied, CycleRecord, Decision, Observation, Seen
from forecaster.demand import Demand
from forecaster.errors import ForecasterError, SourceError, StoreError, TargetConflict, TargetError
from forecaster.explain import sentence
from forecaster.guard import guard
from forecaster.look import FRESH_S, look
from forecaster.overdue import Overdue, overdue
from forecaster.plan import Plan
from forecaster.ports import Query, ScaleTarget
from forecaster.reasons import Code
from forecaster.series import LIVE_SIGNALS, Series, Window, empty_series
from forecaster.trough import no_load
from forecaster.units import MINUTE_S, floor_to
from forecaster.warmth import felt
from forecaster.workload import Mode, Pool
from jobs.at_once import at_once
from jobs.budget import rooms
from jobs.caches import counted_of
from jobs.capacity.known import with_capacities
from jobs.failure import Failure, failure, no_samples, unfetched
from jobs.fleet import Fleet, Member
from jobs.last import beside, left_by, past_decisions, recent_of
from jobs.memory import Memory, remembered
from jobs.postings import post
from jobs.ready import keep_ready
from jobs.scheduling import put_schedule
from jobs.shortfall import missing_of, overdue_in, stands_in
from jobs.standing import standing
from jobs.starts import look_at_pending
from jobs.unread import keep_unread
from jobs.worth import news

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What the decisions for one pool rested on: the plan in force, and live load against it."""

    pool: str
    in_force: InForce
    correction: Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One workload in one apply cycle. seen: the targets as they were before a write. failures: empty when all went well.

    news: the records worth keeping. asides: what failed and kept no floor from being decided. due: by target, the replicas that
    should be ready by now, where that is known. unread: by target, why nothing was decided of it.
    """

    workload: str
    records: tuple[CycleRecord, ...]
    failures: tuple[Failure, ...]
    news: tuple[CycleRecord, ...] = ()
    bases: tuple[Basis, ...] = ()
    seen: tuple[Seen, ...] = ()
    asides: tuple[Failure, ...] = ()
    due: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each thing that failed."""
        return tuple(failed.sentence for failed in self.failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One target in one cycle: what was seen last, what was decided and written, why a write failed, and what is due and overdue."""

    seen: Seen
    record: CycleRecord
    error: TargetError | None
    due: int | None
    overdue: Overdue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """The targets of one pool in one cycle. unread: by target, why it could not be observed."""

    turns: tuple[Turn, ...]
    failures: tuple[Failure, ...]
    unread: Mapping[str, str]


def apply_fleet(fleet: Fleet, now: datetime) -> tuple[Cycle, ...]:
    """Decide and write every target's floor, several workloads at once; a broken one stops no other. Raises StoreError."""
    fleet = with_capacities(fleet, now)
    room = rooms(fleet, now)
    cycles = at_once(partial(_guarded, fleet, now=now, room=room), remembered(fleet.store, fleet.members, now), fleet.workers)
    fleet.store.append_records([record for cycle in cycles for record in cycle.news])
    post(fleet.store, zip(fleet.members, cycles, strict=True), now)
    keep_unread(fleet.store, cycles, now)
    keep_ready(fleet.store, [(member, cycle.seen) for member, cycle in zip(fleet.members, cycles, strict=True)], now)
    unread = look_at_pending(fleet, [seen for cycle in cycles for seen in cycle.seen], now)
    return tuple(replace(cycle, asides=unread.get(cycle.workload, ())) for cycle in cycles)


def apply_member(
    fleet: Fleet, member: Member, memory: Memory, now: datetime, room: Mapping[tuple[str, str], Room] = MappingProxyType({})
) -> Cycle:
    """One workload, from live load to written floors: one look at the load, one plan a pool, one decision a target.

    room: what budgets of GPUs leave, by workload and pool.
    """
    workload = member.workload
    observation, failures = observe(member, now)
    rulings, before = memory.rulings, memory.records
    bases: list[Basis] = []
    turns: list[Turn] = []
    short: dict[str, Overdue] = {}
    missing: dict[str, int] = {}
    unread: dict[str, str] = {}
    for pool in workload.in_order:
        policy = workload.policy_of(pool)
        in_force, plans = standing(fleet.store, workload, pool.name, rulings, now, near=memory.plans[pool.name], span=memory.span)
        followed = _followed(in_force, plans)
        own = sized(workload, pool, missing)
        warm = felt(own, in_force.plan, observation)
        seen = no_load(now) if is_blind(pool) else looked_at(look(observation, followed, warm.pool, policy), pool)
        correction = correct(in_force.plan, seen, policy)
        correction = replace(correction, reasons=(*correction.reasons, *warm.reasons))
        bases.append(Basis(pool=pool.name, in_force=in_force, correction=correction))
        case = partial(
            Case,
            now=now,
            workload=workload.name,
            pool=pool.name,
            policy=policy,
            in_force=in_force,
            correction=correction,
            sizable=any(pool.capacity.of(query.signal) is not None for query in member.queries),
            stands_in=stands_in(workload, pool, short),
            room=room.get((workload.name, pool.name)),
            beside=beside(workload, pool, before, now),
            rulings=rulings,
            conditions=observation.conditions,
            issued=plans,
        )
        found = _turns(fleet, member, pool, case, before, now=now)
        turns += found.turns
        failures += found.failures
        unread |= found.unread
        late = overdue_in(pool, [(turn.seen, turn.overdue) for turn in found.turns])
        short |= {pool.name: late} if late is not None else {}
        missing[pool.name] = missing_of(pool, late, [turn.record.decision for turn in found.turns])
    if not failures:
        failures += _unmeasured(bases)
    failures += [failure("apply", turn.error, f"{turn.seen.target}: {turn.error}") for turn in turns if turn.error is not None]
    records = tuple(turn.record for turn in turns)
    return Cycle(
        workload=workload.name,
        records=records,
        failures=tuple(failures),
        news=tuple(news(records, before)),
        bases=tuple(bases),
        seen=tuple(turn.seen for turn in turns),
        due={turn.seen.target: turn.due for turn in turns if turn.due is not None},
        unread=unread,
    )


def _turns(fleet: Fleet, member: Member, pool: Pool, case: partial[Case], before: tuple[CycleRecord, ...], *, now: datetime) -> Turns:
    """A pool's targets in their order; one that cannot be observed stops no other."""
    policy = member.workload.policy_of(pool)
    turns, failures, unread = [], [], {}
    for name in pool.in_order:
        past = past_decisions(before, policy, pool.name, name, now)
        left = left_by(before, policy, pool.name, name, now)
        decide = partial(case, recent=recent_of(past, policy, now), past=past, left=left, ahead_s=pool.ahead_s(name))
        target = member.targets[name]
        try:
            turn = fleet.breakers.called(name, now, partial(apply_target, target, decide, policy.mode, now))
        except TargetError as error:
            failures.append(failure("apply", error, f"{name} was not observed: {error}"))
            unread[name] = failures[-1].cause
            continue
        turns.append(turn)
        unscheduled = put_schedule(fleet.store, target, pool=pool, policy=policy, record=turn.record, seen=turn.seen)
        failures += [unscheduled] if unscheduled is not None else []
    return Turns(turns=tuple(turns), failures=tuple(failures), unread=unread)


def _followed(in_force: InForce, plans: tuple[Plan, ...]) -> tuple[Demand, ...]:
    """The demands that live load is compared with, oldest first; none under a plan that follows none: older ones were given up."""
    plan = in_force.plan
    if plan is not None and plan.demand is None:
        return ()
    return tuple(p.demand for p in plans if p.demand is not None and (plan is None or p.issued_at <= plan.issued_at))


def _unmeasured(bases: list[Basis]) -> list[Failure]:
    """One failure for each load signal that the source answers without a recent sample."""
    told = f"not measured in the last {FRESH_S // MINUTE_S} min, so no floor is lowered; `forecaster check` asks the source"
    unknown = sorted({name for basis in bases for name in basis.correction.look.unknown})
    return [Failure(verb="fetch", error=Code.LOAD_UNKNOWN, sentence=f"{name} was {told}", cause=no_samples(name)) for name in unknown]


def apply_target(target: ScaleTarget, decide: partial[Case], mode: Mode, now: datetime) -> Turn:
    """Observe, decide, write, say; an object that changed in between is observed and decided on once more."""
    case = decide(seen=target.observe(now))
    decision = guard(case)
    try:
        applied, error = write(target, decision, case.seen), None
    except TargetConflict:
        case = decide(seen=target.observe(now))
        decision = guard(case)
        applied, error = _written_or_error(target, decision, case.seen)
    except TargetError as refused:
        applied, error = None, refused
    said = None if error is None else str(error)
    told = sentence(decision, mode, applied, said)
    record = CycleRecord(at=now, mode=mode, decision=decision, applied=applied, error=said, sentence=told)
    due = case.due
    return Turn(seen=case.seen, record=record, error=error, due=None if due is None else due.replicas, overdue=overdue(due, case.seen))


def write(target: ScaleTarget, decision: Decision, seen: Seen) -> Applied | None:
    """Carry out a decision; None where there is nothing to do."""
    match decision.action:
        case Action.SET:
            return target.set_floor(decision, seen)
        case Action.RELEASE:
            return target.release(seen)
        case Action.LEAVE:
            return None


def _written_or_error(target: ScaleTarget, decision: Decision, seen: Seen) -> tuple[Applied | None, TargetError | None]:
    try:
        return write(target, decision, seen), None
    except TargetError as refused:
        return None, refused


def observe(member: Member, now: datetime) -> tuple[Observation, list[Failure]]:
    """Live load and conditions up to the last whole minute; what cannot be had is unknown, with its sentence."""
    policy, end = member.workload.policy, floor_to(now, MINUTE_S)
    errors: list[tuple[str, SourceError]] = []

    def fetched(name: str, query: Query, span_s: float) -> Series:
        window = Window(start=floor_to(end - timedelta(seconds=span_s), MINUTE_S), end=end)
        try:
            return member.source.fetch(query, window, MINUTE_S)
        except SourceError as error:
            errors.append((name, error))
            return empty_series(query.signal, window, MINUTE_S)

    wanted = {*LIVE_SIGNALS, *counted_of(member.workload)}
    asked = (query for query in member.queries if query.signal in wanted)
    live = tuple(fetched(query.signal, query, policy.blend.live_span_s) for query in asked)
    conditions = tuple((name, fetched(f"the condition {name}", query, policy.hold_when_expiry_s)) for name, query in member.conditions)
    counts_waiting = any(query.counts_waiting for query in member.queries)
    seen = Observation(at=now, live=live, conditions=conditions, counts_waiting=counts_waiting)
    return seen, list(unfetched(errors, "could not be fetched live"))


def _guarded(fleet: Fleet, each: tuple[Member, Memory], now: datetime, room: Mapping[tuple[str, str], Room]) -> Cycle:
    member, memory = each
    try:
        return apply_member(fleet, member, memory, now, room)
    except StoreError:
        raise
    except Exception as error:  # the wall between workloads: whatever breaks one must not stop the others
        if not isinstance(error, ForecasterError):
            log.exception("apply", workload=member.workload.name)
        broke = failure("apply", error)
        return Cycle(workload=member.workload.name, records=(), failures=(broke,), unread=dict.fromkeys(member.targets, broke.cause))

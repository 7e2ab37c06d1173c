"""What is decided for one target: bounds, unknown load, the same twice, pauses, plans that end, an API that is away."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from connectors.targets.recording import Rehearsed
from forecaster.always_on import is_blind
from forecaster.approval import PlanState
from forecaster.decision import Action, CycleRecord, Paused, Seen
from forecaster.guard import bounds_of
from forecaster.reasons import Code
from forecaster.units import MINUTE_S, ceil_to, iso
from forecaster.workload import Mode, Policy
from jobs.drill.outcome import Found, Promise, broken, idle, kept
from jobs.drill.props import Away, Failing, Later, Standing, down, ordered, silent
from jobs.drill.stage import Stage, record_of

_BEYOND = 7
"""So many replicas above a bound, or above what stands there, are ordered to meet it."""


def unfollowed(state: PlanState) -> Found:
    """That no plan is followed, and what would change that."""
    remedy = "`forecaster approve` lets it be" if state is PlanState.AWAITS_APPROVAL else "`forecaster forecast` makes one"
    return idle(f"no plan is followed now ({state}): {remedy}")


def decided(stage: Stage, name: str, record: CycleRecord) -> Iterator[tuple[Promise, Found]]:
    """The rehearsals of one target that was observed. record: what apply would do now."""
    yield Promise.BOUNDS, _bounds(stage, name)
    yield Promise.CEILING, _ceiling(stage, name)
    yield Promise.UNKNOWN, _unknown(stage, name)
    yield Promise.SAME, _same(stage, name, record)
    yield Promise.ONCE, _once(stage, name, record)
    yield Promise.SHOWN, _shown(stage, name)
    yield Promise.EXPIRY, _expiry(stage, name, record)
    yield Promise.PAUSE, _pause(stage, name, record)
    yield Promise.AWAY, _away(stage, name)


def held(record: CycleRecord, seen: Seen) -> Seen:
    """The object as the write of a record would leave it."""
    applied, decision = record.applied, record.decision
    return replace(seen, floor=decision.floor if applied is None else applied.after, valid_until=decision.valid_until)


def _ordered(stage: Stage, name: str, replicas: int, seen: Seen) -> CycleRecord:
    """What becomes of a person's order, without limits on the way there."""
    order = ordered(stage.member.workload.name, replicas, stage.now)
    return record_of(stage.played(memory=stage.with_order(order), seen={name: seen}, policy=_unhurried(stage.policy)), name)


def _unhurried(policy: Policy) -> Policy:
    """The policy without limits on the way to where it goes: what is rehearsed is where it ends."""
    return replace(policy, raise_per_min=None, lower_per_min=None)


def _bounds(stage: Stage, name: str) -> Found:
    seen = stage.free[name]
    least, most = bounds_of(stage.policy, seen)
    if most is not None and least > most:
        remedy = f"raise the maximum of the object or of policy.max to {least}, or lower policy.min"
        return broken(f"the least floor is {least}, and no more than {most} are taken: {remedy}")
    asked = (most if most is not None else max(seen.floor, least)) + _BEYOND
    high, low = _ordered(stage, name, asked, seen), _ordered(stage, name, 0, seen)
    outside = [r for r in (high, low) if r.decision.floor < least or (most is not None and r.decision.floor > most)]
    bounds = f"{least} to {most}" if most is not None else f"at least {least}"
    told = f"an order of {asked} becomes {_after(high)}, one of 0 becomes {_after(low)}"
    return broken(f"{told}: not within {bounds}") if outside else kept(f"{told} (bounds: {bounds})")


def _ceiling(stage: Stage, name: str) -> Found:
    seen = stage.free[name]
    if seen.ceiling is None:
        return idle("the object has no ceiling")
    lowered = max(seen.ceiling // 2, 1)
    record = _ordered(stage, name, seen.ceiling + _BEYOND, replace(seen, ceiling=lowered))
    alerts = sorted({str(reason.code) for reason in record.decision.alerts} & {Code.CEILING_BELOW_FLOOR, Code.MAX_BINDS})
    told = f"with a ceiling of {lowered} an order of {seen.ceiling + _BEYOND} becomes {_after(record)}"
    if record.error is not None or _after(record) > lowered:
        return broken(f"{told}{'' if record.error is None else f' ({record.error})'}")
    return kept(f"{told} and the alert {alerts[0]}") if alerts else broken(f"{told}, and nobody is alerted")


def _unknown(stage: Stage, name: str) -> Found:
    if any(name in pool.targets and is_blind(pool) for pool in stage.member.workload.pools):
        return idle("its floor follows no load")
    seen = stage.free[name]
    _, most = bounds_of(stage.policy, seen)
    top = most if most is not None else seen.floor + _BEYOND
    raised, fresh = {name: replace(seen, floor=top)}, replace(stage.memory, records=())
    for what, unknown in (("no sample", Failing(failing=silent)), ("the source down", Failing(failing=down)), ("no signal", None)):
        now = record_of(stage.played(source=unknown, unasked=unknown is None), name).decision
        high = record_of(stage.played(source=unknown, unasked=unknown is None, seen=raised, memory=fresh), name).decision
        last = seen.floor if now.last is None else now.last
        for decision, stood in ((now, last), (high, top)):
            if decision.floor < (stood if most is None else min(stood, most)):
                return broken(f"with {what} the floor goes {stood} -> {decision.floor}")
    return kept(f"with no sample, no signal and the source down alike a floor of {last} is not lowered, nor one of {top}")


def _same(stage: Stage, name: str, record: CycleRecord) -> Found:
    again = record_of(stage.played(), name)
    if record != again:
        return broken(f"two runs on one input differ: {record.sentence} / {again.sentence}")
    return kept(f"twice the same, also by a new process: {record.sentence.partition(': ')[2].rstrip('.')}")


def _once(stage: Stage, name: str, record: CycleRecord) -> Found:
    if record.decision.action is not Action.SET:
        return idle(f"nothing would be written: {record.sentence}")
    after = held(record, stage.free[name])
    again = stage.asked[name].would_set(record.decision, after)
    if again.written:
        return broken(f"the floor {after.floor} would be written again over itself, as {again.after}")
    return kept(f"once {after.floor} stands there until {iso(record.decision.valid_until)}, the same decision writes nothing")


def _shown(stage: Stage, name: str) -> Found:
    fresh = replace(stage.memory, records=())
    watched, auto = (stage.played(policy=replace(stage.policy, mode=mode), memory=fresh) for mode in (Mode.OBSERVE, Mode.AUTO))
    one, other = record_of(watched, name).decision, record_of(auto, name).decision
    if (one.floor, one.wanted, one.plan_id, one.action) != (other.floor, other.wanted, other.plan_id, other.action):
        return broken(f"observe shows {one.floor} by {one.plan_id}, auto applies {other.floor} by {other.plan_id}")
    if one.plan_id is None:
        return unfollowed(stage.in_force(one.pool).state)
    return kept(f"both follow {one.plan_id}: {stage.free[name].floor} -> {one.floor}")


def _expiry(stage: Stage, name: str, record: CycleRecord) -> Found:
    found = stage.in_force(record.decision.pool)
    if found.state is not PlanState.FRESH or found.plan is None:
        return unfollowed(found.state)
    later = ceil_to(found.plan.valid_until, MINUTE_S) + timedelta(seconds=MINUTE_S)
    by = ceil_to(later, MINUTE_S) - ceil_to(stage.now, MINUTE_S)
    source = Later(inner=stage.member.source, by=by)
    decision = record_of(stage.played(now=later, source=source, policy=_unhurried(stage.policy)), name).decision
    seen = stage.free[name]
    _, most = bounds_of(stage.policy, seen)
    fallback = seen.original if stage.policy.fallback is None else stage.policy.fallback
    ended = {reason.code for reason in decision.reasons} & {Code.PLAN_STALE, Code.PLAN_MISSING}
    if decision.plan_id is not None or not ended or decision.floor < (fallback if most is None else min(fallback, most)):
        return broken(f"a minute after its end, {iso(later)}, the floor is {decision.floor} by {decision.plan_id} (fallback {fallback})")
    return kept(f"a minute after its end, {iso(later)}: fallback {fallback}, with the load of now the floor is {decision.floor}")


def _pause(stage: Stage, name: str, record: CycleRecord) -> Found:
    seen = stage.free[name]
    ours = held(record, seen)
    hold, release = (record_of(stage.played(seen={name: replace(ours, paused=paused)}), name) for paused in (Paused.HOLD, Paused.RELEASE))
    if hold.decision.action is not Action.LEAVE or hold.applied is not None:
        return broken(f"hold is not obeyed: {hold.sentence}")
    if release.decision.action is not Action.RELEASE or release.applied is None:
        return broken(f"release is not obeyed: {release.sentence}")
    paused = stage.seen[name].paused
    stands = "" if paused is None else f"; it is paused now ({paused})"
    return kept(f"hold leaves {ours.floor} as it is, release puts {release.applied.after} back{stands}")


def _away(stage: Stage, name: str) -> Found:
    inner: dict[str, Rehearsed] = {each: Standing(stage.asked[each], seen) for each, seen in stage.free.items()}
    unseen = stage.played(targets={**inner, name: Away(name)})
    if any(record.decision.target == name for record in unseen.records) or not any(name in told for told in unseen.problems):
        return broken("an object that cannot be observed is decided on, or nobody is told")
    record = record_of(stage.played(targets={**inner, name: Away(name, stage.free[name])}), name)
    if record.decision.action is Action.SET and (record.error is None or record.applied is not None):
        return broken(f"a write that was not answered is taken for done: {record.sentence}")
    return kept("unread, nothing is decided; not written, the record says so; either is told, and the floor stands as it is")


def _after(record: CycleRecord) -> int:
    return record.decision.floor if record.applied is None else record.applied.after

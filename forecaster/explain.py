"""One English sentence a decision, and the whole of a past floor from what was kept."""

from dataclasses import dataclass

from forecaster.decision import Action, Applied, CycleRecord, Decision
from forecaster.demand import Demand
from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.series import Signal
from forecaster.units import MINUTE_S, iso, spell_number
from forecaster.workload import Mode


def sentence(decision: Decision, mode: Mode, applied: Applied | None, error: str | None) -> str:
    """What happened to one target in one cycle and why: the same words in the log, on the command line and in the record."""
    return (
        f"{decision.workload}/{decision.pool} on {decision.target}: {_happened(decision, mode, applied, error)}; {_why(decision, applied)}."
    )


def _happened(decision: Decision, mode: Mode, applied: Applied | None, error: str | None) -> str:
    if error is not None:
        return f"floor {decision.floor} was not written ({error.rstrip('.')})"
    before = applied.before if applied is not None else decision.floor
    after = applied.after if applied is not None else decision.floor
    moves = f"{before} -> {after}" if before != after else f"stays at {after}"
    match decision.action:
        case Action.LEAVE:
            return f"left alone at {decision.floor}"
        case Action.RELEASE:
            return f"released, floor {moves}"
        case Action.SET:
            return f"floor {moves}" if mode is not Mode.OBSERVE else f"floor would go {moves}" if before != after else f"floor {moves}"


def _why(decision: Decision, applied: Applied | None) -> str:
    """The reason that gave the number, then the alerts that did not."""
    reasons = (*decision.reasons, *(applied.reasons if applied is not None else ()))
    number = next((r for r in reversed(reasons) if r.after is not None), reasons[-1])
    others = [r for r in (*decision.alerts, *(applied.reasons if applied is not None else ())) if r is not number]
    return "; ".join(dict.fromkeys(r.detail.rstrip(".") for r in (number, *others)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalBasis:
    """What one signal asked for at one instant: median and load at the level over the lead window, in the signal's unit, and replicas.

    binds: the plan's floor is this signal's.
    """

    signal: Signal
    median: float
    load: float
    carry: float
    replicas: float
    binds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How one floor came about: forecast, level, capacity, binding signal, lead time and guards, in one sentence and apart.

    steps: (code, sentence, before, after) in order. basis: what the plan rested on, by name. signals: the same in numbers.
    """

    sentence: str
    steps: tuple[tuple[str, str, int | None, int | None], ...]
    basis: tuple[tuple[str, str], ...]
    signals: tuple[SignalBasis, ...]


def explain(record: CycleRecord, plan: Plan | None) -> Explanation:
    """The floor of a record from the record and the plan that it followed (None when it followed none)."""
    decision = record.decision
    basis = [("decided at", iso(decision.at)), ("mode", str(record.mode)), ("floor", str(decision.floor))]
    basis += [("stands since", iso(decision.since)), ("valid until", iso(decision.valid_until))]
    if plan is not None:
        basis += _plan_basis(plan, record)
    steps = tuple((str(r.code), r.detail, r.before, r.after) for r in decision.reasons)
    signals = _signal_basis(plan, record) if plan is not None else ()
    return Explanation(sentence=_account(record, plan, signals), steps=steps, basis=tuple(basis), signals=signals)


def _signal_basis(plan: Plan, record: CycleRecord) -> tuple[SignalBasis, ...]:
    demand, floor = plan.demand, plan.floor_at(record.at)
    i = demand.index(record.at) if demand is not None else None
    if demand is None or i is None:
        return ()
    needs = demand.needs[:, i]
    binding = int(needs.argmax()) if floor is not None and floor.reason.code is Code.SIGNAL_BINDS else None
    return tuple(
        SignalBasis(
            signal=signal,
            median=float(demand.expected[s, i]),
            load=float(demand.load[s, i]),
            carry=demand.carry[s],
            replicas=float(needs[s]),
            binds=s == binding,
        )
        for s, signal in enumerate(demand.signals)
    )


def _account(record: CycleRecord, plan: Plan | None, signals: tuple[SignalBasis, ...]) -> str:
    """The whole of a floor in one sentence: what was planned and from what, then every step that moved it."""
    decision = record.decision
    planned = _planned(plan, record, signals) if plan is not None else []
    moved = [_moved(reason) for reason in decision.reasons if reason.code is not Code.PLAN_FOLLOWED or not planned]
    failed = [f"it was not written ({record.error.rstrip('.')})"] if record.error is not None else []
    where = f"{decision.workload}/{decision.pool} on {decision.target}"
    stands = "floor" if record.mode is not Mode.OBSERVE else "floor would be"
    return f"{where}: {stands} {decision.floor} since {iso(decision.since)}: {'; '.join([*planned, *moved, *failed])}."


def _moved(reason: Reason) -> str:
    if reason.before is None or reason.after is None or reason.before == reason.after:
        return reason.detail
    return f"{reason.detail} ({reason.before} -> {reason.after})"


def _planned(plan: Plan, record: CycleRecord, signals: tuple[SignalBasis, ...]) -> list[str]:
    """The plan's own floor at the instant, and what it rested on; nothing where the plan does not reach."""
    floor, demand = plan.floor_at(record.at), plan.demand
    if floor is None:
        return []
    if demand is None or not signals:
        return [f"planned {floor.replicas} ({floor.reason.detail})"]
    level, window_min = f"P{demand.level * 100:g}", demand.window_s / MINUTE_S
    ahead = f"the next {window_min:g} min (lead time {demand.lead_time_s / MINUTE_S:g} min and one step)"
    largest = max(signals, key=lambda s: s.replicas)
    load = f"{demand.model} expects {level} of {largest.signal} over {ahead} at {spell_number(largest.load)} {largest.signal.unit}"
    needs = (
        f"a replica carries {spell_number(largest.carry)}, so {largest.replicas:.2f} are needed{demand.margin.explained(largest.replicas)}"
    )
    binds = "" if largest.binds else f", but {floor.reason.detail}"
    return [f"{load}, {needs}{binds} and {floor.replicas} are planned"]


def _lead_time(demand: Demand) -> str:
    return f"{demand.lead_time_s / MINUTE_S:g} min" if demand.lead_time is None else demand.lead_time.told


def _plan_basis(plan: Plan, record: CycleRecord) -> list[tuple[str, str]]:
    basis = [("plan", plan.id), ("plan valid until", iso(plan.valid_until))]
    basis += [
        (f"trust in {found.signal}", f"{found.verdict}: {found.sentence}" if found.is_judged else found.sentence) for found in plan.trusts
    ]
    floor = plan.floor_at(record.at)
    if floor is not None:
        basis.append(("planned floor", f"{floor.replicas} over {iso(floor.start)} .. {iso(floor.until)}"))
    demand = plan.demand
    i = demand.index(record.at) if demand is not None else None
    if demand is None or i is None:
        return basis
    basis += [("model", demand.model), ("level", f"P{demand.level * 100:g}"), ("lead time", _lead_time(demand))]
    for s, signal in enumerate(demand.signals):
        ahead = f"{spell_number(demand.load[s, i])} {signal.unit} at the level over the lead window"
        basis.append((f"{signal} forecast", f"median {spell_number(demand.expected[s, i])}, {ahead}"))
        basis.append(
            (f"{signal} capacity", f"{spell_number(demand.carry[s])} {signal.unit} a replica, so {demand.needs[s, i]:.2f} replicas")
        )
        gains = demand.gains_of(signal)
        if gains is not None:
            lasts = f"{gains.kept(demand.lead_time_s):.0%} of one of two hours lasts {demand.lead_time_s / MINUTE_S:g} min more"
            basis.append((f"{signal} deviations", f"{lasts}, learned from {gains.days} days"))
    return basis

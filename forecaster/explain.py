"""One English sentence a decision, and the whole of a past floor from what was kept."""

from dataclasses import dataclass

from forecaster.decision import Action, Applied, CycleRecord, Decision
from forecaster.plan import Plan
from forecaster.units import iso
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
    return "; ".join(dict.fromkeys(r.detail for r in (number, *others)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How one floor came about. steps: (code, sentence, before, after) in order. basis: what the plan rested on, by name."""

    sentence: str
    steps: tuple[tuple[str, str, int | None, int | None], ...]
    basis: tuple[tuple[str, str], ...]


def explain(record: CycleRecord, plan: Plan | None) -> Explanation:
    """The floor of a record from the record and the plan that it followed (None when it followed none)."""
    decision = record.decision
    basis = [("decided at", iso(decision.at)), ("mode", str(record.mode)), ("floor", str(decision.floor))]
    basis += [("stands since", iso(decision.since)), ("valid until", iso(decision.valid_until))]
    if plan is not None:
        basis += _plan_basis(plan, record)
    steps = tuple((str(r.code), r.detail, r.before, r.after) for r in decision.reasons)
    return Explanation(sentence=record.sentence, steps=steps, basis=tuple(basis))


def _plan_basis(plan: Plan, record: CycleRecord) -> list[tuple[str, str]]:
    basis = [("plan", plan.id), ("plan valid until", iso(plan.valid_until))]
    floor = plan.floor_at(record.at)
    if floor is not None:
        basis.append(("planned floor", f"{floor.replicas} over {iso(floor.start)} .. {iso(floor.until)}"))
    demand = plan.demand
    i = demand.index(record.at) if demand is not None else None
    if demand is None or i is None:
        return basis
    basis += [("model", demand.model), ("level", f"P{demand.level * 100:g}"), ("lead time", f"{demand.lead_time_s / 60:g} min")]
    for s, signal in enumerate(demand.signals):
        ahead = f"{demand.load[s, i]:,.4g} {signal.unit} at the level over the lead window"
        basis.append((f"{signal} forecast", f"median {demand.expected[s, i]:,.4g}, {ahead}"))
        basis.append((f"{signal} capacity", f"{demand.carry[s]:,.4g} {signal.unit} a replica, so {demand.needs[s, i]:.2f} replicas"))
    return basis

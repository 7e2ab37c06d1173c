"""How a past floor came about, from what was kept: the record in force at an instant, its plan, and the forecasts under it."""

from collections.abc import Sequence
from dataclasses import dataclass

from forecaster.decision import CycleRecord, Ruling
from forecaster.errors import NothingKept
from forecaster.explain import Explanation, explain
from forecaster.forecast import Forecast
from forecaster.plan import Plan
from forecaster.recommendation import Recommendation
from forecaster.units import iso
from jobs.unread import Unread
from jobs.views.kept import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One target's floor. plan: the one that was followed, None where none was or it is gone. forecasts: those that it was made from.

    promotion: what holds the workload in auto, None where nothing but its configuration does. point: what was recommended for its pool.
    unread: why nothing was decided since, None where the last apply did.
    """

    record: CycleRecord
    plan: Plan | None
    forecasts: tuple[Forecast, ...]
    explanation: Explanation
    promotion: Ruling | None = None
    point: Recommendation | None = None
    unread: Unread | None = None


def explained(kept: Kept, targets: Sequence[str]) -> tuple[Explained, ...]:
    """The floors in force at `kept.now` on these targets. Raises NothingKept when none was decided by then.

    Records are kept when something changes, and hourly: the last one at or before an instant is in force at it.
    """
    records = [record for record in kept.last_records() if record.decision.target in targets]
    unread = {target: found for target, found in kept.unread().items() if target in targets}
    if not records:
        why = "; ".join(f"{target}: {found.words}" for target, found in unread.items()) or "run `forecaster run` first"
        raise NothingKept(f"{kept.workload.name}: no floor was decided by {iso(kept.now)}; {why}")
    return tuple(_explained(kept, record, unread.get(record.decision.target)) for record in records)


def _explained(kept: Kept, record: CycleRecord, unread: Unread | None) -> Explained:
    decision = record.decision
    plan = kept.plan(decision.pool, decision.plan_id) if decision.plan_id is not None else None
    signals = plan.demand.signals if plan is not None and plan.demand is not None else ()
    forecasts = [kept.forecast(signal, plan.issued_at) for signal in signals] if plan is not None else []
    return Explained(
        record=record,
        plan=plan,
        forecasts=tuple(forecast for forecast in forecasts if forecast is not None),
        explanation=explain(record, plan),
        promotion=kept.member.promotion,
        point=kept.member.points.get(decision.pool),
        unread=unread,
    )

"""What needs a person: plans that wait, things that failed, numbers that cannot be trusted, orders that still stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forecaster.approval import PlanState, active, override_of
from forecaster.decision import CycleRecord, Paused, Ruling, RulingKind
from forecaster.plan import Plan
from forecaster.reasons import ALERTS, PLAN_ALERTS, Code
from forecaster.series import LOAD_SIGNALS
from forecaster.units import HOUR_S, iso
from forecaster.workload import Workload
from jobs.capacity.known import without_capacity
from jobs.unread import Unread
from jobs.views.kept import Kept
from jobs.views.pools import PoolReview
from jobs.views.signals import SignalReview
from jobs.views.stopped import SILENT_S

_GAPS_RATIO = 0.05
"""Gaps up to this share of a day leave its peak and its scores as good as whole."""
_TOLD_BY_PLANS = frozenset({Code.NO_CAPACITY, Code.PLAN_STALE, Code.PLAN_MISSING, Code.AWAITS_APPROVAL, Code.ENVELOPE}) | PLAN_ALERTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """One thing: its reason code, a sentence, and the commands to choose from, as arguments of `forecaster`."""

    code: Code
    sentence: str
    commands: tuple[str, ...] = ()


def attention(kept: Kept, pools: Sequence[PoolReview], signals: Sequence[SignalReview]) -> tuple[Attention, ...]:
    """Everything about one workload, what awaits a decision first."""
    records = {(r.decision.pool, r.decision.target): r for r in kept.last_records()}
    targets = [(pool.name, target) for pool in kept.workload.pools for target in pool.targets]
    unread = kept.unread()
    return (
        *(_waiting(kept.workload, pool, pool.in_force.waiting) for pool in pools if pool.in_force.waiting is not None),
        *orders(kept.workload, kept.rulings(), kept.now),
        *(found for pool in pools for found in _plan_alerts(kept, pool, signals)),
        *_told_by_plans(pools),
        *(found for pool, target in targets for found in target_alerts(target, records.get((pool, target)), kept.now, unread.get(target))),
        *(found for signal in signals if signal.signal in LOAD_SIGNALS for found in _signal_alerts(signal, kept)),
    )


def orders(workload: Workload, rulings: tuple[Ruling, ...], now: datetime) -> list[Attention]:
    """What people ordered and what still holds."""
    found = []
    pause = active(rulings, RulingKind.PAUSE, RulingKind.RESUME, now)
    if pause is not None:
        code = Code.RELEASED if pause.paused is Paused.RELEASE else Code.PAUSED
        found.append(Attention(code=code, sentence=order_words(pause), commands=(f"resume {workload.name}",)))
    override = override_of(rulings, now)
    if override is not None:
        found.append(Attention(code=Code.OVERRIDDEN, sentence=order_words(override), commands=(f"override clear {workload.name}",)))
    return found


def order_words(ruling: Ruling) -> str:
    """A pause, a release or an override, with who gave it, until when and why."""
    what = f"floor set to {ruling.replicas}" if ruling.paused is None else "released" if ruling.paused is Paused.RELEASE else "paused"
    end = f"until {iso(ruling.until)}" if ruling.until is not None else "until it is taken back"
    return f"{what} by {ruling.author} since {iso(ruling.at)}, {end}: {ruling.reason}"


def target_alerts(target: str, record: CycleRecord | None, now: datetime, unread: Unread | None) -> list[Attention]:
    """What the last record of a target says that a person should hear of, and whether it is the last for too long, or why."""
    if unread is not None:
        return [Attention(code=Code.TARGET_FAILED, sentence=f"{target} is {unread.words}")]
    if record is None:
        return [Attention(code=Code.TARGET_FAILED, sentence=f"no floor was decided for {target} yet", commands=("apply",))]
    found = []
    silent_s = (now - record.at).total_seconds()
    if silent_s > SILENT_S:
        last = f"the last decision for {target} is {silent_s / HOUR_S:.0f} h old, of {iso(record.at)}"
        sentence = f"{last}: `forecaster apply` no longer runs, or it fails"
        found.append(Attention(code=Code.TARGET_FAILED, sentence=sentence, commands=("apply",)))
    if record.error is not None:
        found.append(Attention(code=Code.TARGET_FAILED, sentence=f"{target} was not written: {record.error}"))
    said = (*record.decision.reasons, *(record.applied.reasons if record.applied is not None else ()))
    alerts = dict.fromkeys((reason.code, reason.detail) for reason in said if reason.code in ALERTS - _TOLD_BY_PLANS)
    return found + [Attention(code=code, sentence=f"{target}: {detail}") for code, detail in alerts]


def _waiting(workload: Workload, pool: PoolReview, plan: Plan) -> Attention:
    envelope = next((reason.detail for reason in plan.reasons if reason.code is Code.ENVELOPE), None)
    whose = "approved plan" if pool.approval is not None else "plan in force"
    against = f", {pool.floor_before} in the {whose}" if pool.floor_before is not None else ""
    floor = f": floor {pool.floor} at tomorrow's peak{against}" if pool.floor is not None else ""
    return Attention(
        code=Code.AWAITS_APPROVAL if envelope is None else Code.ENVELOPE,
        sentence=f"{plan.id} awaits approval{floor}" + (f"; {envelope}" if envelope is not None else ""),
        commands=(f"approve {workload.name} --plan {plan.id}", f"reject {workload.name} --plan {plan.id}"),
    )


def _plan_alerts(kept: Kept, review: PoolReview, signals: Sequence[SignalReview]) -> list[Attention]:
    pool, forecast = review.pool, [s.signal for s in signals if s.forecast is not None and s.signal in LOAD_SIGNALS]
    if pool.follows_load and forecast and all(pool.capacity.of(signal) is None for signal in forecast):
        return [Attention(code=Code.NO_CAPACITY, sentence=without_capacity(kept.member, pool, ", ".join(forecast)))]
    match review.in_force.state:
        case PlanState.STALE:
            sentence = f"pool {pool.name}: the last plan has expired, fallback and live load hold the floor"
            return [Attention(code=Code.PLAN_STALE, sentence=sentence, commands=("forecast",))]
        case PlanState.MISSING:
            return [
                Attention(code=Code.PLAN_MISSING, sentence=f"pool {pool.name} has no plan that may be followed", commands=("forecast",))
            ]
        case _:
            return []


def _told_by_plans(pools: Sequence[PoolReview]) -> list[Attention]:
    """What the newest plans say of themselves that a person should hear of, once for all pools."""
    told = (reason for pool in pools if pool.proposed is not None for reason in pool.proposed.reasons if reason.code in PLAN_ALERTS)
    return [Attention(code=code, sentence=detail) for code, detail in dict.fromkeys((reason.code, reason.detail) for reason in told)]


def _signal_alerts(review: SignalReview, kept: Kept) -> list[Attention]:
    signal, forecast, found = review.signal, review.forecast, []
    if forecast is None:
        return [Attention(code=Code.PLAN_MISSING, sentence=f"there is no forecast of {signal}", commands=("forecast",))]
    age_s = (kept.now - forecast.issued_at).total_seconds()
    if age_s > kept.workload.policy.expiry_s / 2:
        last = f"the newest forecast of {signal} is {age_s / HOUR_S:.0f} h old, of {iso(forecast.issued_at)}"
        sentence = f"{last}: `forecaster forecast` no longer runs, or it fails"
        found.append(Attention(code=Code.PLAN_STALE, sentence=sentence, commands=("forecast",)))
    elif not review.whole:
        sentence = f"the forecast of {signal} ends at {iso(forecast.end)}, before tomorrow does: make `forecast.horizon` longer"
        found.append(Attention(code=Code.PLAN_STALE, sentence=sentence))
    if review.yesterday is None:
        found.append(Attention(code=Code.GAPS_IN_HISTORY, sentence=f"no {signal} was measured yesterday"))
    elif review.yesterday.measured_ratio < 1 - _GAPS_RATIO:
        sentence = f"{1 - review.yesterday.measured_ratio:.0%} of yesterday's {signal} was not measured"
        found.append(Attention(code=Code.GAPS_IN_HISTORY, sentence=sentence))
    return found

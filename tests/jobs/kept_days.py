"""Days of a workload as the line leaves them in the store: a forecast a day, decisions by the hour, and what was ready."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from forecaster.decision import Action, Applied, CycleRecord, Decision
from forecaster.ports import Store
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Series, Signal
from forecaster.workload import Mode
from jobs.apply import apply_fleet
from jobs.fleet import Fleet
from jobs.forecast import fetch_fleet, forecast_fleet


def watched_days(fleet: Fleet, end: datetime, days: int, *, every: timedelta = timedelta(hours=1)) -> None:
    """Forecast once a day and apply every so often, as the daemon does, until `end`."""
    at = end - timedelta(days=days)
    while at < end:
        if (end - at) % timedelta(days=1) == timedelta(0):
            forecast_fleet(fleet, at)
        apply_fleet(fleet, at)
        at += every
    fetch_fleet(fleet, end)


def decided(store: Store, floors: Sequence[int], end: datetime, *, step: timedelta = timedelta(minutes=15)) -> None:
    """Decisions for chat by a plan, one a step, that end at `end`."""
    starts = [end - step * (len(floors) - i) for i in range(len(floors))]
    store.append_records([_record(at, floor) for at, floor in zip(starts, floors, strict=True)])


def _record(at: datetime, floor: int) -> CycleRecord:
    target = "kubernetes-hpa:serving/chat"
    decision = Decision(
        at=at,
        workload="chat",
        pool="gpu",
        target=target,
        action=Action.SET,
        floor=floor,
        wanted=floor,
        last=None,
        since=at,
        valid_until=at + timedelta(days=1),
        plan_id="chat/gpu@2026-02-01T00:00:00+00:00",
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="as planned", after=floor),),
    )
    applied = Applied(target=target, before=2, after=floor, written=False)
    return CycleRecord(at=at, mode=Mode.OBSERVE, decision=decision, applied=applied, error=None, sentence="as planned")


def seen_ready(store: Store, counts: Floats | Sequence[float], end: datetime, *, name: str = "chat/gpu") -> None:
    """Ready replicas that end at `end`, one a bucket of five minutes; NaN = nobody looked."""
    values = np.asarray(counts, dtype=np.float64)
    start = end - timedelta(minutes=5 * values.size)
    store.append_history(name, Series(signal=Signal.READY, start=start, step_s=300, mean=values, peak=values))

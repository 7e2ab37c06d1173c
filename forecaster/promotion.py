"""Mode `auto` is earned: what has to be known of a workload before its floors are written without a person.

| gate          | passed when                                                                                                         |
|---------------|---------------------------------------------------------------------------------------------------------------------|
| observed days | on 14 of the last 28 days floors were decided by a plan in 20 hours or more: every weekday twice                     |
| coverage      | 7 forecasts or more were scored, and 90 to 99 % of the load lay at or below P95 (more where the band is narrow)     |
| lead time     | it was measured, for every pool                                                                                     |
| capacity      | production confirms it within 15 %, for every pool (`confirmation`)                                                 |
| replay        | over the days that were decided: at most 0.05 points more requests late than the autoscaler alone, at most 5 % dearer |
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from forecaster.capacity import HOW_TO_TELL
from forecaster.confirmation import TOLERANCE_RATIO, Confirmation, Finding
from forecaster.decision import CycleRecord
from forecaster.forecast import Forecast
from forecaster.leadtime import LeadTime
from forecaster.savings import Spent
from forecaster.series import Signal
from forecaster.trust import spread_ratio
from forecaster.units import spell_number

SPAN_DAYS = 28
OBSERVED_DAYS = 14
_HOURS_A_DAY = 20
_SCORED_DAYS = 7
_COVERED = (0.90, 0.99)
"""Two standard errors of a well calibrated P95 over two weeks, an hour and a half being one independent look."""
_NARROW_RATIO = 1.25
_LATER_RATIO = 0.0005
"""What counts as on time in every comparison of ours."""
_DEARER_RATIO = 1.05
_REPLAYED_DAYS = 7
CONFIGURED = "configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One thing that has to be known. found: what is; remedy: what to do, empty where it is passed."""

    name: str
    passed: bool
    found: str
    remedy: str = ""


def observed_days(records: Sequence[CycleRecord], targets: Collection[tuple[str, str]]) -> int:
    """UTC days on which every (pool, target) had floors decided by a plan, without an error, in 20 hours or more."""
    good = [r for r in records if r.error is None and r.decision.plan_id is not None]
    hours = {(r.decision.pool, r.decision.target, r.at.date(), r.at.hour) for r in good}
    days = {day for _, _, day, _ in hours}
    return sum(all(sum((*target, day, hour) in hours for hour in range(24)) >= _HOURS_A_DAY for target in targets) for day in days)


def days_gate(days: int) -> Gate:
    """Whether it was watched long enough."""
    found = f"{days} of the last {SPAN_DAYS} days were decided by a plan"
    missing = f"let it run in observe, or approve its plans in review, for {OBSERVED_DAYS - days} days more"
    return _passed("observed days", found) if days >= OBSERVED_DAYS else _missing("observed days", found, missing)


def coverage_gate(signal: Signal, forecast: Forecast | None) -> Gate:
    """Whether P95 of a load signal is one, by the record of the newest forecast."""
    name, record = f"coverage of {signal}", forecast.record if forecast is not None else None
    if forecast is None or record is None or not math.isfinite(record.coverage):
        return _missing(name, "no forecast was scored yet", "let `forecaster forecast` run for a week")
    found = f"{record.coverage:.1%} of the load lay at or below P95 on {record.days} scored days"
    low, high = _COVERED
    if record.days < _SCORED_DAYS:
        return _missing(name, found, f"{_SCORED_DAYS} scored days are needed: wait {_SCORED_DAYS - record.days} more")
    if record.coverage > high and (spread := spread_ratio(forecast)) <= _NARROW_RATIO:
        return _passed(name, f"{found}, and P95 is only {spread:.2f} times the median")
    remedy = "mark days that will not come again (`forecaster history mark`); its bands are learned anew every day"
    told = f"{found}, the band is {low:.0%} to {high:.0%}"
    return _passed(name, told) if low <= record.coverage <= high else _missing(name, told, remedy)


def lead_time_gate(pool: str, lead_time: LeadTime) -> Gate:
    """Whether a pool's lead time was measured."""
    name, remedy = f"lead time of {pool}", "let starts of its replicas be seen; `forecaster explain` counts them"
    return _missing(name, lead_time.told, remedy) if lead_time.source == CONFIGURED else _passed(name, lead_time.told)


def capacity_gate(pool: str, found: Sequence[Confirmation]) -> Gate:
    """Whether production confirms one of a pool's capacities and contradicts none."""
    name, findings = f"capacity of {pool}", {each.finding for each in found}
    if not found:
        return _missing(name, "it has no capacity", HOW_TO_TELL)
    told = "; ".join(_confirmed_words(each) for each in found)
    if Finding.TOO_HIGH in findings:
        return _missing(name, told, "requests wait below what is configured: lower capacity in its section, or find what slows them")
    if Finding.TOO_LOW in findings:
        return _missing(name, told, "a replica carries more than is configured: raise capacity in its section")
    remedy = (
        "it needs `queue_depth` or `refused` among the signals, replicas seen ready, and an hour that busy: let the autoscaler run hotter"
    )
    return _passed(name, told) if Finding.CONFIRMED in findings else _missing(name, told, remedy)


def replay_gate(days: Sequence[Spent], target_ratio: float, said: str) -> Gate:
    """Whether floors under the autoscaler as it is would have been no worse than it alone. said: where its target is known from."""
    known = [d for d in days if d.planned_hours is not None and d.ours_hours is not None and d.reactive_hours is not None]
    under = f"under an autoscaler that aims at {target_ratio:.0%} ({said})"
    if len(known) < _REPLAYED_DAYS:
        missing = f"{_REPLAYED_DAYS} days with load and floors are needed: wait, or see why days are missing (`forecaster history`)"
        return _missing("replay", f"{len(known)} days could be replayed {under}", missing)
    hours, alone = (math.fsum(getattr(d, name) or 0.0 for d in known) for name in ("ours_hours", "reactive_hours"))
    late, late_alone = (_late_ratio(known, name) for name in ("late_ours", "late_reactive"))
    found = f"{len(known)} days {under}: {hours / alone - 1:+.1%} replica-hours, {late:.2%} late against {late_alone:.2%} alone"
    if late > late_alone + _LATER_RATIO:
        return _missing("replay", found, "floors must not come later than none: see the days in `forecaster savings`")
    if hours > alone * _DEARER_RATIO:
        return _missing("replay", found, "a lower `level` makes floors cheaper, and a hotter autoscaler target pays for them")
    return _passed("replay", found)


def _late_ratio(days: Sequence[Spent], name: str) -> float:
    requests = math.fsum(d.requests or 0.0 for d in days)
    return math.fsum(getattr(d, name) or 0.0 for d in days) / requests if requests > 0 else 0.0


def _confirmed_words(found: Confirmation) -> str:
    configured = f"{spell_number(found.capacity)} {found.signal.unit} a replica configured"
    band = f"within {TOLERANCE_RATIO:.0%}"
    if found.finding is Finding.TOO_HIGH:
        return f"{configured}, and requests waited at less than {1 - TOLERANCE_RATIO:.0%} of it"
    if found.carried_ratio is None:
        return f"{configured}, and not an hour was seen in which load, ready replicas and what waits were all known and nothing waited"
    carried = f"{spell_number(found.carried_ratio * found.capacity)} carried with nothing waiting ({found.carried_ratio:.0%})"
    return f"{configured}, {carried}{', ' + band if found.finding is Finding.CONFIRMED else ''}"


def _passed(name: str, found: str) -> Gate:
    return Gate(name=name, passed=True, found=found)


def _missing(name: str, found: str, remedy: str) -> Gate:
    return Gate(name=name, passed=False, found=found, remedy=remedy)

"""What the commands of the line print, as tables and as JSON."""

from collections import defaultdict
from datetime import datetime, timedelta

from forecaster.calendar import Calendar
from forecaster.decision import CycleRecord
from forecaster.forecast import DailyPeak
from forecaster.plan import Floor, Plan
from forecaster.series import Window
from forecaster.units import DAY_S, HOUR_S, floor_to
from jobs.apply import Cycle
from jobs.cli.show import Cell, Table, moment
from jobs.draft import Draft
from jobs.failure import Failure, told_once
from jobs.fleet import Fleet
from jobs.standing import rulings_of, standing

PEAK_LEVELS = (0.5, 0.9, 0.95)


def peaks_table(drafts: tuple[Draft, ...]) -> Table:
    """Daily peaks of every forecast: the largest step mean of each local day at three levels, and when."""
    rows = []
    for draft in drafts:
        for outlook in draft.outlooks:
            signal = Cell(value=str(outlook.signal), words=f"{outlook.signal} ({outlook.signal.unit})")
            for peak in outlook.daily_peaks:
                calendar = Calendar(zone=peak.zone)
                day = Cell(value=peak.day, words=f"{peak.day:%a %d %b}{_part(peak, calendar)}")
                levels = (peak.at_level(level) for level in PEAK_LEVELS)
                rows.append((draft.name, signal, day, *levels, moment(peak.at, calendar, "%H:%M %Z"), outlook.model))
    columns = ("workload", "signal", "day", *(f"P{level * 100:g}" for level in PEAK_LEVELS), "peak at", "model")
    return Table(title="Daily peaks", columns=columns, rows=tuple(rows), empty="no forecast was made")


def _part(peak: DailyPeak, calendar: Calendar) -> str:
    """Which part of its day a peak speaks of, for people; nothing where it is the whole day."""
    a_day = timedelta(days=1)
    around = Window(start=peak.covers.start - a_day, end=peak.covers.end + a_day)
    whole = dict(calendar.local_days(around))[peak.day]
    begins, ends = (f"{calendar.local(at):%H:%M}" for at in (peak.covers.start, peak.covers.end))
    match peak.covers.start > whole.start, peak.covers.end < whole.end:
        case True, True:
            return f" (from {begins} until {ends})"
        case True, False:
            return f" (from {begins})"
        case False, True:
            return f" (until {ends})"
        case _:
            return ""


def floors_table(drafts: tuple[Draft, ...], now: datetime) -> Table:
    """The floors of the next 24 hours, a row a run."""
    rows = [
        (
            plan.workload,
            plan.pool,
            moment(floor.start, calendar, "%a %H:%M"),
            moment(floor.until, calendar, "%a %H:%M %Z"),
            floor.replicas,
            why,
        )
        for draft in drafts
        for calendar in (draft.member.workload.calendar,)
        for plan in draft.plans
        for floor in upcoming(plan, now)
        for why in (floor.reason.detail,)
    ]
    columns = ("workload", "pool", "from", "until", "replicas", "why")
    return Table(title="Floors of the next 24 hours", columns=columns, rows=tuple(rows), empty="no plan was made")


def hours_table(drafts: tuple[Draft, ...], now: datetime) -> Table:
    """The largest floor of each of the next 24 hours, and why."""
    rows = []
    for draft in drafts:
        calendar = draft.member.workload.calendar
        for plan in draft.plans:
            for hour in (floor_to(now, HOUR_S) + timedelta(hours=i) for i in range(24)):
                inside = [f for f in plan.floors if f.start < hour + timedelta(hours=1) and f.until > max(hour, now)]
                if inside:
                    top = max(inside, key=lambda floor: floor.replicas)
                    least = min(floor.replicas for floor in inside)
                    hour_from = moment(hour, calendar, "%a %H:%M %Z")
                    rows.append((plan.workload, plan.pool, hour_from, least, top.replicas, top.reason.detail))
    columns = ("workload", "pool", "hour from", "least floor", "largest floor", "why the largest")
    return Table(title="Floors of the next 24 hours", columns=columns, rows=tuple(rows), empty="no plan was made")


def upcoming(plan: Plan, now: datetime, span_s: float = DAY_S) -> tuple[Floor, ...]:
    """The floors of a plan that hold within the next `span_s`."""
    return tuple(floor for floor in plan.floors if floor.until > now and floor.start < now + timedelta(seconds=span_s))


def run_json(fleet: Fleet, drafts: tuple[Draft, ...], cycles: tuple[Cycle, ...], now: datetime) -> dict[str, object]:
    """What `run --json` prints."""
    found = problems(drafts, cycles)
    by_name = {cycle.workload: cycle for cycle in cycles}
    workloads = []
    for member in fleet.members:
        rulings = rulings_of(fleet.store, member.workload.name, now)
        plans = [standing(fleet.store, member.workload, pool.name, rulings, now)[0].plan for pool in member.workload.pools]
        floors = [plan_json(plan) for plan in plans if plan is not None]
        pools = [
            {"name": pool.name, "floors": plan_json(plan) if plan is not None else []}
            for pool, plan in zip(member.workload.pools, plans, strict=True)
        ]
        workloads.append(
            {"name": member.workload.name, "floors": floors[0] if floors else [], "pools": pools}
            | cycle_json(by_name[member.workload.name])
            | {"problems": list(found[member.workload.name])}
        )
    return {"now": now, "workloads": workloads}


def problems(drafts: tuple[Draft, ...], cycles: tuple[Cycle, ...]) -> dict[str, tuple[str, ...]]:
    """What failed, by workload; what failed in both halves for one cause is said once."""
    failures: dict[str, list[Failure]] = defaultdict(list)
    for draft in drafts:
        failures[draft.name] += draft.failures
    for cycle in cycles:
        failures[cycle.workload] += cycle.failures
    return {name: tuple(failed.sentence for failed in told_once(all_)) for name, all_ in failures.items()}


def plan_json(plan: Plan) -> list[dict[str, object]]:
    """A plan's floors."""
    return [{"from": floor.start, "until": floor.until, "replicas": floor.replicas} for floor in plan.floors]


def cycle_json(cycle: Cycle) -> dict[str, object]:
    """One workload's decisions; `decision` and `reasons` are those of its first target."""
    decisions = [_decision_json(record) for record in cycle.records]
    first = decisions[0] if decisions else None
    return {
        "name": cycle.workload,
        "decision": first,
        "reasons": first["reasons"] if first else [],
        "decisions": decisions,
        "problems": list(cycle.problems),
    }


def _decision_json(record: CycleRecord) -> dict[str, object]:
    decision = record.decision
    return {
        "pool": decision.pool,
        "target": decision.target,
        "action": decision.action,
        "floor": decision.floor,
        "last": decision.last,
        "valid_until": decision.valid_until,
        "plan": decision.plan_id,
        "written": record.applied.written if record.applied is not None else False,
        "error": record.error,
        "sentence": record.sentence,
        "reasons": [{"code": r.code, "detail": r.detail, "before": r.before, "after": r.after} for r in decision.reasons],
    }

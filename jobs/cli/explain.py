"""What `explain` prints: a sentence, every step, and what the plan rested on."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime

from forecaster.calendar import Calendar
from forecaster.forecast import Forecast
from forecaster.leadtime import LeadTime
from forecaster.plan import Plan
from jobs.cli.members import history_words
from jobs.cli.options import Output
from jobs.cli.points import point_json
from jobs.cli.promotions import promotion_json, promotion_words
from jobs.cli.review_json import reasons_json
from jobs.cli.show import Table, show, terminal
from jobs.cli.trusts import trust_json
from jobs.views.explained import Explained


def steps_table(found: Sequence[Explained]) -> Table:
    """A row a step that made or moved a floor."""
    rows = tuple(
        (f.record.decision.pool, f.record.decision.target, f.record.at, code, before, after, detail)
        for f in found
        for code, detail, before, after in f.explanation.steps
    )
    columns = ("pool", "target", "decided at", "step", "before", "after", "why")
    return Table(title="Steps", columns=columns, rows=rows, named_by=2)


def print_explained(found: Sequence[Explained], calendar: Calendar, now: datetime) -> None:
    """A page a target."""
    from rich.text import Text

    console = terminal()
    for each in found:
        decision, record = each.record.decision, each.record
        when = f"{calendar.local(now):%a %d %b %Y %H:%M:%S %Z}"
        console.print(Text(f"{decision.workload}/{decision.pool} on {decision.target} at {when}\n", style="bold"))
        console.print(Text(each.explanation.sentence))
        if each.unread is not None:
            console.print(Text(f"That was its last decision: {decision.target} is {each.unread.words}"))
        steps = tuple((code, before, after, detail) for code, detail, before, after in each.explanation.steps)
        console.print()
        show(Table(title="Steps", columns=("step", "before", "after", "why"), rows=steps), Output.TABLE)
        origins = tuple((f"forecast of {f.signal}", _origin(f, calendar)) for f in each.forecasts)
        raised = (("auto", promotion_words(each.promotion)),) if each.promotion is not None else ()
        point = (("operating point", each.point.told), ("HPA target", each.point.remedy)) if each.point is not None else ()
        rests = (*each.explanation.basis, *raised, *point, *origins, ("said then", record.sentence))
        show(Table(title="What it rests on", columns=("what", "value"), rows=rests), Output.TABLE)


def _origin(forecast: Forecast, calendar: Calendar) -> str:
    notes = "".join(f"; {note.code}: {note.detail}" for note in forecast.notes)
    issued = f"{calendar.local(forecast.issued_at):%a %d %b %H:%M %Z}"
    return f"{forecast.model}, issued {issued}, from {history_words(forecast)} of history{notes}"


def explained_json(found: Sequence[Explained], workload: str, now: datetime) -> dict[str, object]:
    """The same for programs."""
    return {"now": now, "workload": workload, "floors": [_floor(each) for each in found]}


def _floor(each: Explained) -> dict[str, object]:
    record, decision = each.record, each.record.decision
    return {
        "pool": decision.pool,
        "target": decision.target,
        "decided_at": record.at,
        "mode": record.mode,
        "promotion": promotion_json(each.promotion),
        "action": decision.action,
        "floor": decision.floor,
        "wanted": decision.wanted,
        "last": decision.last,
        "since": decision.since,
        "valid_until": decision.valid_until,
        "written": record.applied.written if record.applied is not None else False,
        "error": record.error,
        "sentence": each.explanation.sentence,
        "unread": each.unread.words if each.unread is not None else None,
        "said_then": record.sentence,
        "steps": reasons_json(decision.reasons),
        "operating_point": point_json(each.point) if each.point is not None else None,
        "plan": _plan(each.plan, each) if each.plan is not None else None,
        "forecasts": [
            {
                "signal": f.signal,
                "model": f.model,
                "issued_at": f.issued_at,
                "trained_from": f.trained_on.start,
                "trained_until": f.trained_on.end,
                "notes": reasons_json(f.notes),
            }
            for f in each.forecasts
        ],
    }


def _lead_time(lead_time: LeadTime) -> dict[str, object]:
    seen = lead_time.evidence
    return {
        "told": lead_time.told,
        "source": lead_time.source,
        "warm_s": lead_time.warm_s,
        "cold_s": lead_time.cold_s,
        "starts": None if seen is None else {field.name: getattr(seen, field.name) for field in fields(seen)},
    }


def _plan(plan: Plan, each: Explained) -> dict[str, object]:
    floor, demand = plan.floor_at(each.record.at), plan.demand
    return {
        "id": plan.id,
        "issued_at": plan.issued_at,
        "valid_until": plan.valid_until,
        "floor": floor.replicas if floor is not None else None,
        "from": floor.start if floor is not None else None,
        "until": floor.until if floor is not None else None,
        "reason": reasons_json((floor.reason,))[0] if floor is not None else None,
        "model": demand.model if demand is not None else None,
        "level": demand.level if demand is not None else None,
        "lead_time_s": demand.lead_time_s if demand is not None else None,
        "lead_time": _lead_time(demand.lead_time) if demand is not None and demand.lead_time is not None else None,
        "lead_window_s": demand.window_s if demand is not None else None,
        "trust": [trust_json(found) for found in plan.trusts],
        "signals": [
            {
                "signal": s.signal,
                "unit": s.signal.unit,
                "median": s.median,
                "load_at_level": s.load,
                "capacity_per_replica": s.carry,
                "replicas": s.replicas,
                "binds": s.binds,
            }
            for s in each.explanation.signals
        ],
    }

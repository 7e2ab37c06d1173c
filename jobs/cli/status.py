"""What `status` prints."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from forecaster.decision import CycleRecord, Ruling
from forecaster.modes import mode_words
from forecaster.plan import Plan
from jobs.cli.points import points_json
from jobs.cli.promotions import promotion_json
from jobs.cli.show import Cell, Table, moment, say, terminal
from jobs.cli.trusts import trust_cell, trust_json
from jobs.views.attention import order_words
from jobs.views.status import PoolStatus, WorkloadStatus
from jobs.views.stopped import Stopped

_COLUMNS = ("workload", "pool", "target", "mode", "floor", "since", "decided", "plan", "plan age", "valid until", "trust", "order", "error")
_KEYS = (
    "workload",
    "pool",
    "target",
    "mode",
    "floor",
    "since",
    "decided_at",
    "plan_state",
    "plan_age_s",
    "plan_valid_until",
    "trust",
    "order",
    "error",
)
_NEAR = timedelta(days=6)
_AGES = ((86_400 * 2, 86_400, "d"), (3_600 * 2, 3_600, "h"), (120, 60, "min"), (0, 1, "s"))


def status_table(found: Sequence[WorkloadStatus], store: str) -> Table:
    """A row a target."""
    rows = []
    for status in found:
        order = "; ".join(order_words(ruling) for ruling in (status.pause, status.override) if ruling is not None) or None
        for pool in status.pools:
            plan = pool.in_force.plan
            for target, record in pool.targets:
                decision = record.decision if record is not None else None
                rows.append(
                    (
                        status.workload.name,
                        pool.pool,
                        target,
                        Cell(value=str(status.workload.policy.mode), words=mode_words(status.workload.policy.mode, status.promotion)),
                        decision.floor if decision is not None else None,
                        _when(decision.since if decision is not None else None, status),
                        _when(record.at if record is not None else None, status),
                        _state(pool),
                        age((status.now - plan.issued_at).total_seconds()) if plan is not None else None,
                        _when(plan.valid_until if plan is not None else None, status, zone=" %Z"),
                        trust_cell(plan.trusts if plan is not None else ()),
                        order,
                        _error(status, target, record),
                    )
                )
    return Table(title=f"Floors in {store}", columns=_COLUMNS, keys=_KEYS, rows=tuple(rows), named_by=2)


def _error(status: WorkloadStatus, target: str, record: CycleRecord | None) -> str | None:
    """Why nothing is decided of a target, else why the last decision was not written."""
    unread = status.unread.get(target)
    if unread is not None:
        return unread.words
    return record.error if record is not None else None


def _when(at: datetime | None, status: WorkloadStatus, *, zone: str = "") -> Cell | None:
    """An instant as briefly as it can be said: a weekday alone names only one of the nearest days."""
    calendar = status.workload.calendar
    if at is None or abs(at - status.now) <= _NEAR:
        return moment(at, calendar, f"%a %H:%M{zone}")
    year = "" if calendar.local(at).year == calendar.local(status.now).year else " %Y"
    return moment(at, calendar, f"%d %b{year} %H:%M{zone}")


def _state(pool: PoolStatus) -> str:
    newer = pool.in_force.plan is not None and pool.in_force.waiting is not None
    return f"{pool.in_force.state}, a newer one awaits approval" if newer else str(pool.in_force.state)


def age(seconds: float) -> Cell:
    """A span in its largest fitting unit."""
    size, unit = next((size, unit) for least, size, unit in _AGES if seconds >= least)
    return Cell(value=seconds, words=f"{seconds / size:.0f} {unit}")


def warn_of(silent: Sequence[Stopped], *, beside_data: bool) -> None:
    """What no longer runs, before all else. beside_data: on stderr, since stdout is a table for programs."""
    from rich.text import Text

    for each in silent:
        if beside_data:
            say(f"forecaster: {each.sentence}")
        else:
            terminal().print(Text(f"! {each.sentence}", style="bold red"))


def print_decisions(found: Sequence[WorkloadStatus]) -> None:
    """The sentence of every last decision, with its local time, and what has not been decided on since."""
    from rich.text import Text

    if not any(status.unread or any(record for pool in status.pools for _, record in pool.targets) for status in found):
        return
    console = terminal()
    console.print(Text("Last decisions", style="bold"))
    for status in found:
        for record in (record for pool in status.pools for _, record in pool.targets if record is not None):
            console.print(Text(f"- {status.workload.calendar.local(record.at):%a %d %b %H:%M:%S %Z} {record.sentence}"))
        for target, unread in status.unread.items():
            console.print(Text(f"- {status.workload.calendar.local(unread.at):%a %d %b %H:%M:%S %Z} {target} is {unread.words}"))


def print_points(found: Sequence[WorkloadStatus]) -> None:
    """Which level and HPA target are recommended, where any are."""
    from rich.text import Text

    console, told = terminal(), [(status.workload.name, pool, point) for status in found for pool, point in status.points.items()]
    if told:
        console.print(Text("Recommended, by replay", style="bold"))
    for workload, pool, point in told:
        console.print(Text(f"- {workload}/{pool}: {point.told}"))


def status_json(found: Sequence[WorkloadStatus], store: str, silent: Sequence[Stopped] = ()) -> dict[str, object]:
    """The same for programs, with every plan and order, and what no longer runs."""
    return {
        "now": found[0].now,
        "store": store,
        "stopped": [{"verb": each.verb, "since": each.since, "silent_s": each.silent_s, "sentence": each.sentence} for each in silent],
        "workloads": [_workload(status) for status in found],
    }


def without_password(url: str) -> str:
    """The store's address as it may be shown."""
    return re.sub(r"://([^:/@]*):.*@", r"://\1:***@", url)


def _workload(status: WorkloadStatus) -> dict[str, object]:
    return {
        "name": status.workload.name,
        "mode": status.workload.policy.mode,
        "configured_mode": status.configured,
        "promotion": promotion_json(status.promotion),
        "operating_points": points_json(status.points),
        "pause": _order(status.pause),
        "override": _order(status.override),
        "pools": [
            {
                "name": pool.pool,
                "state": pool.in_force.state,
                "plan": _plan(pool.in_force.plan, status),
                "waiting": _plan(pool.in_force.waiting, status),
                "targets": [
                    {"name": target} | _record(record) | {"error": _error(status, target, record)} for target, record in pool.targets
                ],
            }
            for pool in status.pools
        ],
    }


def _order(ruling: Ruling | None) -> dict[str, object] | None:
    if ruling is None:
        return None
    return {
        "author": ruling.author,
        "reason": ruling.reason,
        "since": ruling.at,
        "until": ruling.until,
        "replicas": ruling.replicas,
        "paused": ruling.paused,
    }


def _plan(plan: Plan | None, status: WorkloadStatus) -> dict[str, object] | None:
    if plan is None:
        return None
    age_s = (status.now - plan.issued_at).total_seconds()
    return {"id": plan.id, "issued_at": plan.issued_at, "age_s": age_s, "valid_until": plan.valid_until} | {
        "trust": [trust_json(found) for found in plan.trusts]
    }


def _record(record: CycleRecord | None) -> dict[str, object]:
    decision = record.decision if record is not None else None
    return {
        "floor": decision.floor if decision is not None else None,
        "since": decision.since if decision is not None else None,
        "valid_until": decision.valid_until if decision is not None else None,
        "decided_at": record.at if record is not None else None,
        "decided_in_mode": record.mode if record is not None else None,
        "sentence": record.sentence if record is not None else None,
    }

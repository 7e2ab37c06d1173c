"""What requests, tokens and tasks of workloads cost over whole UTC days, and two such accounts side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from forecaster.decision import CycleRecord
from forecaster.errors import HistoryAtOtherStep, NothingKept
from forecaster.ports import Store
from forecaster.series import Signal, Window
from forecaster.unit_cost import Compared, Paid, Task, UnitCost, Used, compared, days_that_count, summed, unit_cost
from forecaster.units import DAY_S
from jobs.cost.asked import task_of
from jobs.cost.days import Days, days_of
from jobs.fleet import Member
from jobs.ready import ReadyReplicas, ready_replicas
from jobs.savings import with_records


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One workload over a span. None = not known.

    days: so many of the span count. hours_of: what its replica-hours are those of. used: the counted days together. in_money: None
    without prices. told: what could not be found out, in sentences.
    """

    workload: str
    window: Window
    days: int
    hours_of: str | None
    used: Used
    task: Task | None
    in_hours: UnitCost
    in_money: UnitCost | None
    currency: str | None
    told: tuple[str, ...] = ()

    @property
    def asked_days(self) -> int:
        """Days of the span."""
        return int(self.window.length_s // DAY_S)

    @property
    def best(self) -> UnitCost:
        """In money where there are prices, else in replica-hours."""
        return self.in_hours if self.in_money is None else self.in_money


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Workloads in their order. left_out: a sentence for each that has no day to count."""

    rows: tuple[Cost, ...]
    left_out: tuple[str, ...] = ()


def costs(store: Store, members: Sequence[Member], window: Window) -> Costs:
    """What each workload's units cost. window: whole UTC days. Raises StoreError, and NothingKept when no workload has a day to count."""
    rows, left_out, replicas = [], [], ready_replicas(store)
    for member, records in with_records(store, members, window):
        try:
            rows.append(_cost(replicas, member, records, window))
        except (NothingKept, HistoryAtOtherStep) as error:
            left_out.append(f"{member.workload.name}: {error}")
    if not rows:
        raise NothingKept(f"there is no cost to tell: {'; '.join(left_out) or 'no workload is configured'}")
    return Costs(rows=tuple(rows), left_out=tuple(left_out))


def cost_of(store: Store, member: Member, window: Window) -> Cost:
    """The same of one workload. Raises StoreError, HistoryAtOtherStep, and NothingKept where no day counts."""
    return _cost(ready_replicas(store), member, store.records(member.workload.name, window), window)


def _cost(replicas: ReadyReplicas, member: Member, records: Sequence[CycleRecord], window: Window) -> Cost:
    days = days_of(replicas, member, records, window)
    counted = days_that_count(days.used)
    if not counted:
        raise NothingKept(_missing(member, days, window))
    found = None if member.task is None else task_of(member.task, member.source, days.load)
    task = found if isinstance(found, Task) else None
    priced = any(day.spend is not None for day in counted)
    used = summed(days.used)
    return Cost(
        workload=member.workload.name,
        window=window,
        days=len(counted),
        hours_of=days.hours_of,
        used=used,
        task=task,
        in_hours=unit_cost(counted, Paid.HOURS, task),
        in_money=unit_cost(counted, Paid.SPEND, task) if priced else None,
        currency=next((prices.currency for prices in member.prices.values()), None),
        told=(*([found] if isinstance(found, str) else []), *_doubts(used)),
    )


def compare(first: Cost, second: Cost) -> Compared:
    """What explains that one costs more than the other."""
    return compared((first.used, first.task), (second.used, second.task))


def _doubts(used: Used) -> Iterator[str]:
    """What speaks against the figures."""
    if used.utilisation_ratio is not None and used.utilisation_ratio > 1:
        yield (
            f"its load filled {used.utilisation_ratio:.0%} of what its replicas carry: a replica carries more than its capacity says, "
            "or replicas of it were not seen"
        )


def _missing(member: Member, days: Days, window: Window) -> str:
    span = f"from {window.start:%Y-%m-%d} to {window.end - timedelta(days=1):%Y-%m-%d}"
    if days.hours_of is None:
        return f"no day {span} on which replicas were seen ready or floors were decided; `forecaster apply` keeps both, one look a bucket"
    if all(day.requests is None and day.tokens is None for day in days.used):
        asked = {query.signal for query in member.queries}
        if not asked & {Signal.RPM, Signal.TOKENS}:
            return "neither rpm nor tokens are among its signals, and what one costs needs one of them"
        return f"no whole day of requests or tokens was kept {span}; `forecaster fetch` brings what the source has"
    return f"no day {span} of which both replicas and load were kept"

"""What the store has kept of one workload, as views ask for it: the newest before an instant, and the plan that a decision followed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from forecaster.decision import CycleRecord, Ruling
from forecaster.event_effects import with_events
from forecaster.events import Event
from forecaster.forecast import Forecast
from forecaster.marks import Mark, marks_in_force
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.series import FORECAST_SIGNALS, Series, Signal, Window
from forecaster.units import DAY_S, HOUR_S, floor_to
from forecaster.workload import Workload
from jobs.fleet import Member
from jobs.route import route, said_of
from jobs.standing import FAR_S, rulings_of
from jobs.unread import Unread, unread_targets

_BACK_S = (2 * HOUR_S, 8 * HOUR_S, 26 * HOUR_S, 4 * DAY_S, FAR_S)
"""How far back the newest forecast is looked for, step by step: with one an hour the first step finds it and reads two."""
_TICK = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One workload's part of the store, as it was known at `now`. Every method raises StoreError.

    events: what its forecasts are shown with, as plans are made with them.
    """

    store: Store
    member: Member
    now: datetime
    events: tuple[Event, ...] = ()

    @property
    def workload(self) -> Workload:
        """The workload."""
        return self.member.workload

    @property
    def forecast_signals(self) -> tuple[Signal, ...]:
        """The signals that are configured and forecast, load first."""
        asked = {query.signal for query in self.member.queries}
        return tuple(signal for signal in FORECAST_SIGNALS if signal in asked)

    def history(self, signal: Signal, since: datetime) -> Series:
        """What was measured from `since` to the last whole bucket before `now`."""
        step_s = self.member.step_s
        end = floor_to(self.now, step_s)
        start = min(floor_to(since, step_s), end - timedelta(seconds=step_s))
        return route(self.store, self.member.lineage, signal, Window(start=start, end=end), step_s).series

    def marks(self, signal: Signal, since: datetime) -> tuple[Mark, ...]:
        """The marks in force from `since` on, as known at `now`, under all names that the traffic had."""
        step_s = self.member.step_s
        end = floor_to(self.now, step_s)
        window = Window(start=min(floor_to(since, step_s), end - timedelta(seconds=step_s)), end=end)
        said = said_of(self.store, self.member.lineage, signal, window, step_s)
        return marks_in_force(mark for mark in said if mark.at <= self.now)

    def forecast(self, signal: Signal, at: datetime) -> Forecast | None:
        """The last forecast issued at or before an instant, of the two weeks before it."""
        until = at + _TICK
        for back_s in _BACK_S:
            since = at - timedelta(seconds=back_s)
            issued = [f for f in self.store.forecasts(self.workload.name, signal, Window(start=since, end=until)) if f.issued_at <= at]
            if issued:
                return with_events(issued[-1], self.workload.name, self.events)
            until = since
        return None

    def first_forecast(self, signal: Signal, within: Window) -> Forecast | None:
        """The first forecast issued in a window."""
        issued = next((f for f in self.store.forecasts(self.workload.name, signal, within) if f.issued_at <= self.now), None)
        return None if issued is None else with_events(issued, self.workload.name, self.events)

    def rulings(self) -> tuple[Ruling, ...]:
        """Every person's word, oldest first."""
        return rulings_of(self.store, self.workload.name, self.now)

    def last_records(self) -> tuple[CycleRecord, ...]:
        """The record in force for each pool and target: the last one at or before `now`."""
        last: dict[tuple[str, str], CycleRecord] = {}
        for record in self.store.records(self.workload.name, Window(start=self.now, end=self.now + _TICK)):
            if record.at <= self.now:
                last[record.decision.pool, record.decision.target] = record
        return tuple(last.values())

    def unread(self) -> dict[str, Unread]:
        """By target, why the last apply decided nothing of it; those that it decided on are absent."""
        known = unread_targets(self.store).items()
        return {target: found for (workload, target), found in known if workload == self.workload.name and found.since <= self.now}

    def records(self, since: datetime) -> tuple[CycleRecord, ...]:
        """The records from `since` to `now`, oldest first, led by the one before it of each pool and target."""
        found = self.store.records(self.workload.name, Window(start=since, end=self.now + _TICK))
        return tuple(record for record in found if record.at <= self.now)

    def plan(self, pool: str, plan_id: str) -> Plan | None:
        """The plan of that id, None when it is not kept: its instant of issue, to the second, is the id's last part."""
        issued_at = datetime.fromisoformat(plan_id.rpartition("@")[2])
        plans = self.store.plans(self.workload.name, pool, Window(start=issued_at, end=issued_at + _TICK))
        return next((plan for plan in plans if plan.id == plan_id), None)

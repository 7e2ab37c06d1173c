"""What a good day leaves in the store, by hand: steady load with a peak at noon, forecasts a tenth above it, a plan and a record."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from connectors.sources.csv import CsvConfig, CsvSource
from connectors.stores.memory import MemoryStore
from forecaster.calendar import Calendar
from forecaster.decision import Ruling, RulingKind
from forecaster.forecast import STANDARD_LEVELS, DailyPeak, Forecast
from forecaster.plan import Floor, Plan
from forecaster.ports import Query, Unit
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Signal, Window
from forecaster.units import floor_to
from forecaster.workload import Mode, Policy, Workload
from jobs.fleet import Member
from jobs.views.days import local_day
from jobs.views.kept import Kept
from tests.contracts.store import record
from tests.values import pool_of

PARIS = Calendar(zone="Europe/Paris")
NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)  # Wednesday, 10:00 in Paris
STEP_S = 300
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def member_of(*, mode: Mode = Mode.AUTO, rpm: float = 10.0, calendar: Calendar = PARIS) -> Member:
    pool = replace(pool_of(rpm=rpm), name="gpu", targets=("recording:chat",))
    return Member(
        workload=Workload(name="chat", pools=(pool,), policy=Policy(mode=mode), calendar=calendar),
        step_s=STEP_S,
        queries=(Query(signal=Signal.RPM, expression="value", unit=Unit.COUNT),),
        conditions=(),
        source=CsvSource(CsvConfig.model_validate({"type": "csv", "path": "/nowhere/to-be-found.csv"})),
        targets={},
    )


def measured(since: datetime, until: datetime, *, base: float = 100.0, noon: float = 200.0) -> Series:
    """`base` all day, and `noon` from 12:00 to 12:30 in Paris."""
    start = floor_to(since, STEP_S)
    n = int((until - start).total_seconds() // STEP_S)
    clocks = [PARIS.local(start + timedelta(seconds=STEP_S * i)) for i in range(n)]
    mean = np.array([noon if clock.hour == 12 and clock.minute < 30 else base for clock in clocks])
    return Series(signal=Signal.RPM, start=start, step_s=STEP_S, mean=mean, peak=mean * 1.1)


def forecast(issued_at: datetime, *, median: float = 110.0, peak: float = 220.0, days: float = 3, calendar: Calendar = PARIS) -> Forecast:
    """The same quantiles all day: half the median at the lowest level, 1.5 x at the highest; each day's peak at 12:15 in Paris."""
    start = floor_to(issued_at, STEP_S)
    spread = np.interp(STANDARD_LEVELS, (0.05, 0.5, 0.95, 0.99), (0.5, 1.0, 1.4, 1.5))
    grid = np.repeat((median * spread)[:, None], int(days * 86_400 // STEP_S), axis=1)
    window = Window(start=start, end=start + timedelta(seconds=STEP_S * grid.shape[1]))
    peaks = tuple(
        DailyPeak(
            day=day,
            zone=calendar.zone,
            covers=covers,
            levels=STANDARD_LEVELS,
            values=peak * spread,
            at=min(max(local_day(calendar, day).start + timedelta(hours=12, minutes=15), covers.start), covers.end - timedelta(seconds=1)),
        )
        for day, covers in calendar.local_days(window)
    )
    return Forecast(
        signal=Signal.RPM,
        issued_at=issued_at,
        start=start,
        step_s=STEP_S,
        levels=STANDARD_LEVELS,
        values=grid,
        window_max=grid,
        window_s=900,
        daily_peaks=peaks,
        model="profile",
        trained_on=Window(start=start - 14 * DAY, end=start),
        coverage=(None,) * len(STANDARD_LEVELS),
    )


def plan(issued_at: datetime, replicas: int, *, held: tuple[Reason, ...] = ()) -> Plan:
    reason = Reason(code=Code.SIGNAL_BINDS, detail="rpm binds")
    floor = Floor(start=issued_at, until=issued_at + 3 * DAY, replicas=replicas, reason=reason)
    return Plan(
        workload="chat",
        pool="gpu",
        issued_at=issued_at,
        valid_until=issued_at + DAY,
        floors=(floor,),
        demand=None,
        reasons=held,
        held=bool(held),
    )


def kept_of(member: Member, store: MemoryStore | None = None, now: datetime = NOW) -> Kept:
    """A store with everything that a good day leaves: a week of history, forecasts, a plan and a record."""
    if store is None:
        store = MemoryStore()
        store.append_history("chat", measured(NOW - 9 * DAY, NOW))
        store.append_forecasts([("chat", forecast(NOW - 2 * DAY)), ("chat", forecast(NOW - HOUR))])
        store.append_plans([plan(NOW - HOUR, 24)])
        store.append_records(
            [replace(said, decision=replace(said.decision, pool="gpu")) for said in (record(NOW - HOUR / 2, target="recording:chat"),)]
        )
    return Kept(store=store, member=member, now=now)


def approval(plan_id: str, at: datetime, *, author: str = "ada", until: datetime | None = None) -> Ruling:
    return Ruling(at=at, workload="chat", kind=RulingKind.APPROVE, author=author, reason="fine", plan_id=plan_id, until=until)

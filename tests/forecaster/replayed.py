"""A generated day, minute by minute, through the real demand, plan, look, correct and guard, over a fleet that starts slowly."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.approval import in_force
from forecaster.case import Case
from forecaster.correct import correct
from forecaster.decision import Decision, Observation, Ruling, Seen
from forecaster.demand import demand
from forecaster.forecast import DailyPeak, Forecast
from forecaster.guard import guard
from forecaster.look import look
from forecaster.plan import Plan, plan
from forecaster.reasons import Code
from forecaster.series import Floats, Series, Signal, Window
from forecaster.units import DAY_S
from forecaster.workload import Mode, Policy, Pool, Workload
from tests.values import NOW, look_of, pool_of

MINUTE = timedelta(minutes=1)
MIDNIGHT = NOW.replace(hour=0, minute=0)
DAY_MIN = 1_440
STEP_S = 300
LEAD_MIN = 10
LEVELS = (0.05, 0.5, 0.95, 0.99)
AUTO = Policy(mode=Mode.AUTO)
_OF_MEDIAN = (0.75, 1.0, 1.25, 1.4)


def usual_day(minutes: int = DAY_MIN, *, night: float = 40.0, noon: float = 400.0) -> Floats:
    """RPM of each minute from midnight: a night, a ramp in the morning, a peak in the early afternoon."""
    at = np.arange(minutes) % DAY_MIN
    busy = 1 / (1 + np.exp(-(at - 8.5 * 60) / 30)) - 1 / (1 + np.exp(-(at - 19 * 60) / 60))
    return night + (noon - night) * np.clip(busy, 0.0, 1.0)


def noisy(rpm: Floats, ratio: float, seed: int = 3) -> Floats:
    """The same load with noise from minute to minute that is no smaller than what counting requests gives."""
    rng = np.random.default_rng(seed)
    return np.maximum(0.0, rpm + rng.normal(0, 1, rpm.size) * np.maximum(ratio * rpm, np.sqrt(rpm)))


def forecast_of(minutes: Floats, *, start: datetime = MIDNIGHT, issued_at: datetime | None = None) -> Forecast:
    """A forecast that expects this load: medians are its five-minute means, P95 a quarter above."""
    median = minutes.reshape(-1, STEP_S // 60).mean(axis=1)
    steps = (LEAD_MIN * 60 + STEP_S) // STEP_S
    ahead = np.lib.stride_tricks.sliding_window_view(np.append(median, np.full(steps - 1, median[-1])), steps).max(axis=1)
    covers = Window(start=start, end=start + timedelta(minutes=minutes.size))
    largest = np.array(_OF_MEDIAN) * median.max()
    at = start + timedelta(seconds=STEP_S * int(median.argmax()))
    return Forecast(
        signal=Signal.RPM,
        issued_at=issued_at or start,
        start=start,
        step_s=STEP_S,
        levels=LEVELS,
        values=np.outer(_OF_MEDIAN, median),
        window_max=np.outer(_OF_MEDIAN, ahead),
        window_s=steps * STEP_S,
        daily_peaks=(DailyPeak(day=start.date(), zone="UTC", covers=covers, levels=LEVELS, values=largest, at=at),),
        model="usual day",
        trained_on=Window(start=start - timedelta(seconds=DAY_S), end=start),
        coverage=(None,) * len(LEVELS),
    )


def planned(minutes: Floats, policy: Policy = AUTO, pool: Pool | None = None, *, start: datetime = MIDNIGHT) -> Plan:
    """The plan of the chat workload for a day that is expected to look like this."""
    pool, forecast = pool or pool_of(), forecast_of(minutes, start=start)
    needed = demand((forecast,), pool, policy)
    assert needed is not None
    return plan(needed, Workload(name="chat", pools=(pool,), policy=policy), pool, forecast.issued_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minute:
    """One minute of a day: what was decided, and the fleet that it found. backlog: requests that wait at its end."""

    at: datetime
    decision: Decision
    ready: int
    pending: int
    backlog: float
    late: float

    @property
    def floor(self) -> int:
        return self.decision.floor

    @property
    def codes(self) -> set[Code]:
        return {reason.code for reason in self.decision.reasons}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Day:
    """Truth and what is seen of it.

    rpm: what arrives, a minute each from `start` on. seen: what the source answers, NaN = nothing; None = the truth. first: the minute
    at which decisions begin. replica_rpm: what a replica serves in truth, by minute. hpa_target: the utilisation that the autoscaler
    above the floor aims at, None = there is none. served: the source counts requests that were served, not those that came. arrive:
    whether replicas ever become ready.
    """

    plans: tuple[Plan, ...]
    rpm: Floats = field(repr=False)
    policy: Policy = AUTO
    pool: Pool = field(default_factory=pool_of)
    seen: Floats | None = field(default=None, repr=False)
    first: int = 0
    replica_rpm: Floats | float = 10.0
    hpa_target: float | None = 0.8
    queue_seen: bool = True
    served: bool = False
    arrive: bool = True
    original: int = 1
    ceiling: int | None = None
    rulings: tuple[Ruling, ...] = ()
    start: datetime = MIDNIGHT


def lived(day: Day, minutes: int | None = None) -> list[Minute]:
    """The day as the apply job would have run it once a minute, up to the end of the record."""
    return list(_lived(day, minutes))


def _lived(day: Day, minutes: int | None) -> Iterator[Minute]:
    end = day.rpm.size if minutes is None else day.first + minutes
    recent: list[Decision] = []
    fleet = _Fleet(day)
    queue = np.full(day.rpm.size, np.nan)
    seen_rpm = (day.rpm if day.seen is None else day.seen).copy()
    for i in range(day.first, end):
        now = day.start + i * MINUTE
        live = [_live(seen_rpm[:i], Signal.RPM, now, day.policy)]
        if day.queue_seen:
            live.append(_live(queue[:i], Signal.QUEUE_DEPTH, now, day.policy))
        standing = in_force(day.plans, (), (), day.policy, now)
        demands = tuple(p.demand for p in day.plans if p.demand is not None and p.issued_at <= now)
        found = look(Observation(at=now, live=tuple(live)), demands, day.pool, day.policy)
        seen = Seen(
            target="recording:chat",
            at=now,
            floor=recent[-1].floor if recent else fleet.ready,
            ceiling=day.ceiling,
            original=day.original,
            ready=fleet.ready,
            pending=fleet.pending,
            version="1",
        )
        decision = guard(
            Case(
                now=now,
                workload="chat",
                pool="main",
                policy=day.policy,
                in_force=standing,
                correction=correct(standing.plan, found, day.policy),
                seen=seen,
                recent=tuple(recent),
                rulings=day.rulings,
            )
        )
        yield Minute(
            at=now, decision=decision, ready=fleet.ready, pending=fleet.pending, backlog=fleet.backlog, late=fleet.passes(i, decision.floor)
        )
        queue[i] = fleet.backlog
        if day.served:
            seen_rpm[i] = fleet.served
        recent = _stood([*recent, decision], now, day.policy.hold_s)


class _Fleet:
    """Replicas become ready a lead time after they were asked for; the autoscaler takes the largest of its own wish and the floor."""

    def __init__(self, day: Day) -> None:
        self._day = day
        self._capacity = np.broadcast_to(np.asarray(day.replica_rpm, dtype=np.float64), day.rpm.shape)
        self.ready = max(1, int(np.ceil(day.rpm[max(day.first - 1, 0)] / self._capacity[day.first] / 0.7)))
        self.due: list[int] = []
        self.backlog = self.served = 0.0
        self._wishes: list[int] = [self.ready]

    @property
    def pending(self) -> int:
        return len(self.due)

    def passes(self, i: int, floor: int) -> float:
        """One minute: what was asked for in time is ready, requests are served, the autoscaler wishes. Requests that were late."""
        arrived = float(self._day.rpm[i])
        wanted = max(floor, max(self._wishes[-5:]) if self._day.hpa_target is not None else 0, 1)
        self._move(wanted, i)
        if self._day.arrive:
            self.ready += sum(due <= i for due in self.due)
            self.due = [due for due in self.due if due > i]
        self.served = min(self.backlog + arrived, self.ready * float(self._capacity[i]))
        self.backlog = max(0.0, self.backlog + arrived - self.served)
        if self._day.hpa_target is not None:
            wish = (arrived + self.backlog) / (float(self._capacity[i]) * self._day.hpa_target)
            self._wishes.append(int(np.ceil(wish - 1e-9)))
        return min(arrived, self.backlog)

    def _move(self, wanted: int, i: int) -> None:
        missing = wanted - self.ready - self.pending
        if missing > 0:
            self.due += [i + LEAD_MIN] * missing
        elif missing < 0:
            cancelled = min(-missing, self.pending)
            self.due = self.due[: self.pending - cancelled]
            self.ready -= -missing - cancelled


def _live(values: Floats, signal: Signal, now: datetime, policy: Policy) -> Series:
    last = values[-int(policy.blend.live_span_s // 60) :]
    return Series(signal=signal, start=now - last.size * MINUTE, step_s=60, mean=last, peak=last)


def _stood(recent: list[Decision], now: datetime, hold_s: float) -> list[Decision]:
    before = [i for i, decision in enumerate(recent) if (now - decision.at).total_seconds() >= hold_s]
    return recent[before[-1] :] if before else recent


def floors(minutes: list[Minute]) -> list[int]:
    return [minute.floor for minute in minutes]


def at(minutes: list[Minute], hour: int, minute: int = 0) -> Minute:
    """The minute of that wall time, UTC, on the first day that has it."""
    return next(m for m in minutes if (m.at.hour, m.at.minute) == (hour, minute))


def late_ratio(minutes: list[Minute], rpm: Floats) -> float:
    """Late requests over all that arrived in those minutes."""
    first = int((minutes[0].at - MIDNIGHT).total_seconds() // 60)
    return sum(m.late for m in minutes) / float(rpm[first : first + len(minutes)].sum())


def codes(decision: Decision) -> set[Code]:
    return {reason.code for reason in decision.reasons}


def follow(case: Case, loads_rpm: list[float | None], the_plan: Plan | None, policy: Policy) -> list[Decision]:
    """One decision a minute, each seeing those before it, as the apply job does."""
    decisions: list[Decision] = []
    for i, load in enumerate(loads_rpm):
        now = NOW + i * MINUTE
        found = replace(look_of(None if load is None else load / 10), at=now)
        before = [*case.recent, *decisions]
        inside = [d for d in before if (now - d.at).total_seconds() <= policy.hold_s]
        recent = tuple(before[max(0, len(before) - len(inside) - 1) :])  # led by the last one before the span
        step = replace(case, now=now, correction=correct(the_plan, found, policy), recent=recent, policy=policy)
        decisions.append(guard(step))
    return decisions


def lowered(minutes: list[Minute]) -> int:
    """How often the floor went down."""
    return int((np.diff(floors(minutes)) < 0).sum())


def with_seen(day: Day, dead_from: int, dead_until: int | None = None) -> Day:
    """The same day with a source that answers nothing over a span of minutes."""
    seen = day.rpm.copy()
    seen[dead_from:dead_until] = np.nan
    return replace(day, seen=seen)

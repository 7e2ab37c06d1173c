"""A store that forgets with its process: for trying out, for backtests, and the fake of every test."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from connectors.stores.days import other_step
from forecaster.decision import CycleRecord, Ruling
from forecaster.events import EventEntry
from forecaster.forecast import Forecast, State
from forecaster.keep import Keep, Pruned
from forecaster.levers import LeverMove
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.profile import ProfileEntry
from forecaster.series import Series, Signal, Window
from forecaster.starts import Start
from forecaster.units import DAY_S, ceil_to, epoch_s

Value = TypeVar("Value")


@dataclass(slots=True, kw_only=True)
class _Timeline(Generic[Value]):
    """Values by instant, one an instant, found by bisection."""

    instants: list[datetime] = field(default_factory=list)
    values: dict[datetime, Value] = field(default_factory=dict)

    def put(self, at: datetime, value: Value) -> None:
        if at not in self.values:
            insort(self.instants, at)
        self.values[at] = value

    def within(self, window: Window) -> list[Value]:
        first, end = bisect_left(self.instants, window.start), bisect_left(self.instants, window.end)
        return [self.values[at] for at in self.instants[first:end]]

    def before(self, instant: datetime) -> list[Value]:
        """The last one before an instant, if any."""
        end = bisect_left(self.instants, instant)
        return [self.values[at] for at in self.instants[max(end - 1, 0) : end]]

    def forget(self, old: Callable[[datetime], bool]) -> int:
        """Drop the instants that are old, but the newest of all; how many went."""
        gone = [at for at in self.instants[:-1] if old(at)]
        for at in gone:
            del self.values[at]
        self.instants = [at for at in self.instants if at in self.values]
        return len(gone)

    def firsts(self) -> set[datetime]:
        """The first instant of each UTC day."""
        return {at for i, at in enumerate(self.instants) if i == 0 or at.date() != self.instants[i - 1].date()}


class MemoryStore:
    """A `forecaster.ports.Store` in this process' memory, safe for its threads. Values are immutable and kept as they are."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._buckets: dict[tuple[str, Signal], dict[int, dict[int, tuple[float, float]]]] = {}  # by step, then start in epoch seconds
        self._forecasts: dict[tuple[str, Signal], _Timeline[Forecast]] = defaultdict(_Timeline)
        self._states: dict[str, State] = {}
        self._plans: dict[tuple[str, str], _Timeline[Plan]] = defaultdict(_Timeline)
        self._records: dict[str, dict[tuple[str, str], _Timeline[CycleRecord]]] = defaultdict(lambda: defaultdict(_Timeline))
        self._rulings: dict[str, dict[tuple[datetime, str, str, str | None], Ruling]] = defaultdict(dict)
        self._marks: dict[str, dict[tuple[object, ...], Mark]] = defaultdict(dict)
        self._events: dict[tuple[str, datetime, str], EventEntry] = {}
        self._starts: dict[tuple[str, str], dict[tuple[str, str], Start]] = defaultdict(dict)
        self._moves: dict[tuple[datetime, str, str], LeverMove] = {}
        self._profiles: dict[tuple[str, str], _Timeline[ProfileEntry]] = defaultdict(_Timeline)

    def append_history(self, workload: str, series: Series) -> None:
        """Keep measured buckets, as the port says."""
        self.append_histories([(workload, series)])

    def append_histories(self, histories: Sequence[tuple[str, Series]]) -> None:
        """Keep those of several, as the port says."""
        for workload, series in list(histories):
            measured = ~np.isnan(series.mean)
            starts = series.times_s()[measured].tolist()
            loads = zip(series.mean[measured].tolist(), series.peak[measured].tolist(), strict=True)
            if starts:
                with self._lock:
                    steps = self._buckets.setdefault((workload, series.signal), {})
                    steps.setdefault(series.step_s, {}).update(zip(starts, loads, strict=True))

    def history(self, workload: str, signal: Signal, window: Window, step_s: int) -> Series:
        """The buckets of `window`, as the port says."""
        start = ceil_to(window.start, step_s)
        times = range(epoch_s(start), epoch_s(ceil_to(window.end, step_s)), step_s)
        with self._lock:
            steps = self._buckets.get((workload, signal), {})
            if steps and step_s not in steps:
                raise other_step(workload, signal, step_s, kept=sorted(steps))
            kept = steps.get(step_s, {})
            loads = np.array([kept.get(time, (np.nan, np.nan)) for time in times]).reshape(-1, 2)
        return Series(signal=signal, start=start, step_s=step_s, mean=loads[:, 0], peak=loads[:, 1])

    def append_forecasts(self, forecasts: Sequence[tuple[str, Forecast]]) -> None:
        """Keep forecasts, as the port says."""
        batch = list(forecasts)
        with self._lock:
            for workload, forecast in batch:
                self._forecasts[workload, forecast.signal].put(forecast.issued_at, forecast)

    def forecasts(self, workload: str, signal: Signal, window: Window) -> tuple[Forecast, ...]:
        """The forecasts issued in `window`, oldest first."""
        with self._lock:
            return tuple(self._forecasts[workload, signal].within(window))

    def save_states(self, states: Mapping[str, State]) -> None:
        """Keep model states, as the port says."""
        with self._lock:
            self._states |= states

    def states(self, keys: Sequence[str]) -> dict[str, State]:
        """The latest model state under each key that has one."""
        with self._lock:
            return {key: self._states[key] for key in keys if key in self._states}

    def append_plans(self, plans: Sequence[Plan]) -> None:
        """Keep plans, as the port says."""
        batch = list(plans)
        with self._lock:
            for plan in batch:
                self._plans[plan.workload, plan.pool].put(plan.issued_at, plan)

    def plans(self, workload: str, pool: str, window: Window, *, last: int | None = None, span: Window | None = None) -> tuple[Plan, ...]:
        """The plans issued in `window`, as the port says."""
        with self._lock:
            found = self._plans[workload, pool].within(window)
        newest = found if last is None else found[max(len(found) - last, 0) :]
        return tuple(newest if span is None else (plan.within(span) for plan in newest))

    def plans_of(
        self, pools: Sequence[tuple[str, str]], window: Window, *, span: Window | None = None
    ) -> dict[tuple[str, str], tuple[Plan, ...]]:
        """The plans of many pools, as the port says."""
        found = {key: self.plans(*key, window, span=span) for key in pools}
        return {key: plans for key, plans in found.items() if plans}

    def append_records(self, records: Sequence[CycleRecord]) -> None:
        """Keep cycle records, as the port says."""
        batch = list(records)
        with self._lock:
            for record in batch:
                decision = record.decision
                self._records[decision.workload][decision.pool, decision.target].put(record.at, record)

    def records(self, workload: str, window: Window) -> tuple[CycleRecord, ...]:
        """A workload's records, as the port says."""
        with self._lock:
            lines = self._records[workload].values()
            found = [record for line in lines for record in (*line.before(window.start), *line.within(window))]
        return tuple(sorted(found, key=attrgetter("at", "decision.pool", "decision.target")))

    def records_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[CycleRecord, ...]]:
        """The records of many workloads, as the port says."""
        found = {workload: self.records(workload, window) for workload in workloads}
        return {workload: records for workload, records in found.items() if records}

    def append_ruling(self, ruling: Ruling) -> None:
        """Keep a person's word; said again at the same instant, it is the last word of that instant."""
        key = (ruling.at, ruling.kind, ruling.author, ruling.plan_id)
        with self._lock:
            said = self._rulings[ruling.workload]
            said.pop(key, None)
            said[key] = ruling

    def rulings(self, workload: str, window: Window) -> tuple[Ruling, ...]:
        """The rulings given in `window`, oldest first."""
        with self._lock:
            said = [ruling for ruling in self._rulings[workload].values() if ruling.at in window]
        return tuple(sorted(said, key=attrgetter("at")))

    def rulings_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[Ruling, ...]]:
        """The rulings on many workloads, as the port says."""
        found = {workload: self.rulings(workload, window) for workload in workloads}
        return {workload: rulings for workload, rulings in found.items() if rulings}

    def append_marks(self, workload: str, marks: Sequence[Mark]) -> None:
        """Keep marks, as the port says."""
        batch = list(marks)
        with self._lock:
            said = self._marks[workload]
            for mark in batch:
                key = (mark.signal, mark.kind, mark.span, mark.at, mark.author)
                said.pop(key, None)
                said[key] = mark

    def marks(self, workload: str, signal: Signal, window: Window) -> tuple[Mark, ...]:
        """The marks and unmarks whose span touches `window`, in the order in which they were said."""
        with self._lock:
            said = [mark for mark in self._marks[workload].values() if mark.signal is signal]
        touching = [mark for mark in said if mark.span.end > window.start and mark.span.start < window.end]
        return tuple(sorted(touching, key=attrgetter("at")))

    def append_events(self, entries: Sequence[EventEntry]) -> None:
        """Keep entries, as the port says."""
        batch = list(entries)
        with self._lock:
            for entry in batch:
                key = (entry.name, entry.at, entry.author)
                self._events.pop(key, None)
                self._events[key] = entry

    def events(self, window: Window) -> tuple[EventEntry, ...]:
        """The entries made in `window`, in the order in which they were said."""
        with self._lock:
            said = [entry for entry in self._events.values() if entry.at in window]
        return tuple(sorted(said, key=attrgetter("at")))

    def append_starts(self, starts: Sequence[tuple[str, str, Start]]) -> None:
        """Keep starts, as the port says."""
        batch = list(starts)
        with self._lock:
            for workload, pool, start in batch:
                of_pool, key = self._starts[workload, pool], (start.target, start.replica)
                if key not in of_pool or of_pool[key].ready is None:
                    of_pool[key] = start

    def starts_of(self, pools: Sequence[tuple[str, str]], window: Window, last: int) -> dict[tuple[str, str], tuple[Start, ...]]:
        """The newest starts of many pools, as the port says."""
        with self._lock:
            found = {pool: [start for start in self._starts[pool].values() if start.requested in window] for pool in pools}
        newest = {pool: sorted(starts, key=attrgetter("target", "replica")) for pool, starts in found.items() if starts}
        kept = {pool: sorted(starts, key=attrgetter("requested"), reverse=True)[:last] for pool, starts in newest.items()}
        return {pool: tuple(sorted(starts, key=attrgetter("requested", "target", "replica"))) for pool, starts in kept.items()}

    def open_starts(self) -> dict[tuple[str, str], tuple[Start, ...]]:
        """Every start that may still become ready, by workload and pool."""
        with self._lock:
            found = {pool: [start for start in starts.values() if start.is_open] for pool, starts in self._starts.items()}
        return {pool: tuple(sorted(starts, key=attrgetter("requested", "target", "replica"))) for pool, starts in found.items() if starts}

    def append_profiles(self, profiles: Sequence[tuple[str, str, ProfileEntry]]) -> None:
        """Keep profiles, as the port says."""
        batch = list(profiles)
        with self._lock:
            for workload, pool, entry in batch:
                self._profiles[workload, pool].put(entry.at, entry)

    def newest_profiles_of(self, pools: Sequence[tuple[str, str]], window: Window) -> dict[tuple[str, str], tuple[ProfileEntry, ...]]:
        """The newest profiles of many pools, as the port says."""
        with self._lock:
            found = {pool: {entry.profile.origin: entry for entry in self._profiles[pool].within(window)} for pool in pools}
        return {pool: tuple(sorted(newest.values(), key=attrgetter("at"))) for pool, newest in found.items() if newest}

    def append_lever_moves(self, moves: Sequence[LeverMove]) -> None:
        """Keep what was done to levers, as the port says."""
        batch = list(moves)
        with self._lock:
            self._moves |= {(move.at, move.lever, move.kind.value): move for move in batch}

    def lever_moves(self, window: Window) -> tuple[LeverMove, ...]:
        """What was done to levers in `window`, oldest first."""
        with self._lock:
            return tuple(self._moves[key] for key in sorted(self._moves) if key[0] in window)

    def prune(self, keep: Keep, now: datetime) -> Pruned:
        """Forget what is old, as the port says."""

        def before(span_s: float) -> Callable[[datetime], bool]:
            return (now - timedelta(seconds=span_s)).__gt__

        with self._lock:
            forecasts = 0
            for line in self._forecasts.values():
                forecasts += line.forget(before(keep.forecasts_s))
                old = {at for at in line.instants if before(keep.all_forecasts_s)(at)}
                forecasts += line.forget((old - line.firsts()).__contains__)
            records = [line for lines in self._records.values() for line in lines.values()]
            return Pruned(
                history=self._forget_days(epoch_s(now - timedelta(seconds=keep.history_s)) // DAY_S),
                forecasts=forecasts,
                plans=sum(line.forget(before(keep.plans_s)) for line in self._plans.values()),
                records=sum(line.forget(before(keep.records_s)) for line in records),
                moves=self._forget_moves(before(keep.records_s)),
                starts=sum(_forget_starts(starts, before(keep.starts_s)) for starts in self._starts.values()),
            )

    def _forget_days(self, first_day: int) -> int:
        days = 0
        for steps in self._buckets.values():
            for buckets in steps.values():
                gone = [start for start in buckets if start // DAY_S < first_day]
                days += len({start // DAY_S for start in gone})
                for start in gone:
                    del buckets[start]
        return days

    def _forget_moves(self, old: Callable[[datetime], bool]) -> int:
        gone = [key for key in self._moves if old(key[0])]
        for key in gone:
            del self._moves[key]
        return len(gone)

    def close(self) -> None:
        """Nothing to let go of."""


def _forget_starts(starts: dict[tuple[str, str], Start], old: Callable[[datetime], bool]) -> int:
    gone = [key for key, start in starts.items() if old(start.requested)]
    for key in gone:
        del starts[key]
    return len(gone)

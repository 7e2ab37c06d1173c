"""Every protocol that the outside must speak. Connectors implement them; jobs put them together; the core only names them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar, runtime_checkable

from forecaster.decision import Applied, CycleRecord, Decision, Ruling, Seen
from forecaster.errors import ForecasterError
from forecaster.events import EventEntry
from forecaster.forecast import Forecast, Issued, Request, State
from forecaster.keep import Keep, Pruned
from forecaster.ladder import LeverValue
from forecaster.levers import LeverMove, LeverSeen, Moved
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.profile import ProfileEntry
from forecaster.schedule import Step
from forecaster.seconds import Seconds
from forecaster.series import Panel, Series, Signal, Window
from forecaster.starts import Start
from forecaster.units import check_named

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class Unit(StrEnum):
    """What a query's numbers mean: a rate a second or a minute, or a count (in the bucket for RPM, in flight for a gauge)."""

    PER_SECOND = "per_second"
    PER_MINUTE = "per_minute"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """How one signal is asked of a source: the source's own expression (PromQL, a CSV column) and the unit it answers in.

    counts_waiting: of concurrency, whether it holds the requests that the workload's queue depth counts.
    """

    signal: Signal
    expression: str
    unit: Unit
    counts_waiting: bool = False

    def __post_init__(self) -> None:
        check_named("query.expression", self.expression)


class Clock(Protocol):
    """The only way to time. `now` is aware UTC; `monotonic` in seconds never jumps; `sleep_until` returns at once when past."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...
    def sleep_until(self, instant: datetime) -> None: ...


class MetricSource(Protocol):
    """Where load is read. Read-only, retried inside, safe to call from several threads.

    `fetch` answers with the buckets of `window` (both edges multiples of `step_s`) in the signal's own unit; what was not measured
    is NaN, never 0, and infinite or negative values count as not measured. A source coarser than `step_s` repeats its bucket's rate. Raises
    SourceUnavailable (try later) or SourceRejected (fix the configuration: no such metric, two series, not a number).
    `remarks` tells what was odd about the samples of a window that was fetched, as marks at `now` within the window: rows that came
    twice or out of order. Nothing where the source cannot see it. It raises as `fetch` does.
    """

    def fetch(self, query: Query, window: Window, step_s: int) -> Series: ...
    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]: ...


@runtime_checkable
class InstantSource(Protocol):
    """A source that can also tell a number of this very moment, where others have whole minutes. It raises as `MetricSource.fetch` does."""

    def newest(self, expression: str, now: datetime) -> float:
        """What the expression is at `now`, as it is; NaN where nothing matches, or no finite number does."""


@runtime_checkable
class SecondSource(Protocol):
    """A source that may also tell single seconds. Read-only.

    `seconds` answers with how far the samples that a query rests on lie apart over `window`, and where that is a second at most with the
    load of each of its seconds as `fetch` would. It raises as `fetch` does.
    """

    def seconds(self, query: Query, window: Window) -> Seconds: ...


class ForecastModel(Protocol):
    """A model of load. Deterministic: equal input, equal bytes out. Never looks past the horizon's start.

    `forecast` answers one a series, in order: an Issued, or NotEnoughHistory or ModelFailed naming the series. `states` is what it gave of
    each series the last time, None = nothing: with it nothing is drawn or scored twice, without it the answer is much the same and takes
    longer. A state of another model or version is as none.
    """

    @property
    def name(self) -> str: ...
    @property
    def minimum_history_s(self) -> int: ...
    def forecast(self, panel: Panel, states: Sequence[State | None], request: Request) -> tuple[Issued | ForecasterError, ...]: ...


class ScaleTarget(Protocol):
    """An object whose floor we may move. `name` is unique: `type:namespace/name`. All numbers in replicas.

    `observe` reads; it never writes. `set_floor` makes the decision's floor stand, keeps the original value and `valid_until` on the object
    in the same write, and writes nothing when both stand already. It compares and sets by `seen.version`: TargetConflict means observe
    again. `release` puts the original back and removes our marks; nothing to release is no error. Raises TargetMissing,
    TargetForbidden, TargetRefused, TargetConflict or TargetUnavailable.
    """

    name: str

    def observe(self, now: datetime) -> Seen: ...
    def set_floor(self, decision: Decision, seen: Seen) -> Applied: ...
    def release(self, seen: Seen) -> Applied: ...


@runtime_checkable
class StartSource(Protocol):
    """A target that can also tell how its replicas came up, where what it scales keeps that. Read-only.

    `starts` answers with the replicas that are there now, ready or on their way, those of a rolling update marked as such. One
    that is not there any more is left out: whoever asks knows what it saw before. Raises as `ScaleTarget.observe` does.
    """

    name: str

    def starts(self, now: datetime) -> tuple[Start, ...]: ...


@runtime_checkable
class Scheduled(Protocol):
    """A target whose API can carry out floors ahead of time, so that they survive our death and end without us.

    `takes_schedule` is whether it is configured to. `set_schedule` makes the coming floors stand there as `schedule_of` gives them: the
    last step restores the original, no steps at all take the schedule away. Idempotent: only the difference is written, and only what is
    ours; the answer is how many entries were. It raises as `ScaleTarget.set_floor` does. `release` takes the schedule away first.
    """

    name: str
    takes_schedule: bool

    def set_schedule(self, steps: Sequence[Step], seen: Seen) -> int: ...


class Lever(Protocol):
    """One value of one object that may be moved for a while. `name` is unique: `type:object/field`.

    `observe` reads; it never writes. `set` makes the value stand, keeps the original, what we wrote and `until` on the object in the
    same write, and writes nothing when they stand already or when somebody else set another value after us. `release` puts the original
    back and removes our marks; nothing to release is no error. Both compare and set by `seen.version`: TargetConflict means observe again.
    All raise TargetMissing, TargetForbidden, TargetRefused, TargetConflict or TargetUnavailable.
    """

    name: str

    def observe(self, now: datetime) -> LeverSeen: ...
    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved: ...
    def release(self, seen: LeverSeen) -> Moved: ...


class Lease(Protocol):
    """Mutual exclusion between processes. `try_acquire` never blocks; a holder that dies loses it without anybody's help."""

    def try_acquire(self) -> bool: ...
    def renew(self) -> bool: ...
    def release(self) -> None: ...


class Executor(Protocol):
    """Runs one function over chunks, here or elsewhere, and yields the results in order.

    Chunks are taken as their turn comes, a few ahead, so that never all are in memory. What the function raises is raised in the place
    of its result, with type and message; the next call goes on with the next chunk. A chunk whose worker died, or whose cluster is
    gone, raises ExecutorFailed. Function, chunks and results are pickled: modules' functions, or partials of them. Raises
    ConfigRejected when what it runs on is not installed.
    """

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]: ...


class Store(Protocol):
    """The memory of Forecaster: append-only but for `prune`, every append atomic and idempotent (the same key again replaces itself).

    Windows are half-open and speak of `start` for history, `issued_at` for forecasts and plans, `at` for records and rulings, so
    that a run for an instant in the past sees what was known then. Raises StoreError.
    """

    def append_history(self, workload: str, series: Series) -> None:
        """Keep measured buckets; a later measurement of a bucket replaces the earlier one, NaN replaces nothing."""

    def append_histories(self, histories: Sequence[tuple[str, Series]]) -> None:
        """The same for (workload, series) pairs, all or none: one wait for the disk instead of hundreds."""

    def history(self, workload: str, signal: Signal, window: Window, step_s: int) -> Series:
        """The buckets of `window`, NaN where nothing was kept. Raises HistoryAtOtherStep when some was kept at other steps only."""

    def append_forecasts(self, forecasts: Sequence[tuple[str, Forecast]]) -> None:
        """Keep (workload, forecast) pairs, all or none."""

    def forecasts(self, workload: str, signal: Signal, window: Window) -> tuple[Forecast, ...]:
        """The forecasts issued in `window`, oldest first."""

    def save_states(self, states: Mapping[str, State]) -> None:
        """Keep model states, all or none; the latest under a key wins."""

    def states(self, keys: Sequence[str]) -> dict[str, State]:
        """The latest model state under each key that has one."""

    def append_plans(self, plans: Sequence[Plan]) -> None:
        """Keep plans, all or none."""

    def plans(self, workload: str, pool: str, window: Window, *, last: int | None = None, span: Window | None = None) -> tuple[Plan, ...]:
        """The plans issued in `window`, oldest first.

        last: only so many, the newest. span: each as `Plan.within` it. Both cost as much less as they leave out.
        """

    def plans_of(
        self, pools: Sequence[tuple[str, str]], window: Window, *, span: Window | None = None
    ) -> dict[tuple[str, str], tuple[Plan, ...]]:
        """The same for many (workload, pool) at once; those without a plan are left out."""

    def append_records(self, records: Sequence[CycleRecord]) -> None:
        """Keep cycle records, all or none."""

    def records(self, workload: str, window: Window) -> tuple[CycleRecord, ...]:
        """A workload's records in `window`, oldest first, led by the last one before it of each pool and target."""

    def records_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[CycleRecord, ...]]:
        """The same for many workloads at once; those without a record are left out."""

    def append_ruling(self, ruling: Ruling) -> None:
        """Keep a person's word."""

    def rulings(self, workload: str, window: Window) -> tuple[Ruling, ...]:
        """The rulings given in `window`, oldest first."""

    def rulings_of(self, workloads: Sequence[str], window: Window) -> dict[str, tuple[Ruling, ...]]:
        """The same for many workloads at once; those without a ruling are left out."""

    def append_marks(self, workload: str, marks: Sequence[Mark]) -> None:
        """Keep what was said of spans of history, all or none; the same said again at one instant is the last word of that instant."""

    def marks(self, workload: str, signal: Signal, window: Window) -> tuple[Mark, ...]:
        """The marks and unmarks whose span touches `window`, in the order in which they were said."""

    def append_events(self, entries: Sequence[EventEntry]) -> None:
        """Keep entries of the book of events, all or none; the same again (name, instant, author) is the last word of that instant."""

    def events(self, window: Window) -> tuple[EventEntry, ...]:
        """The entries made in `window`, in the order in which they were said: what was added, and what was taken away."""

    def append_starts(self, starts: Sequence[tuple[str, str, Start]]) -> None:
        """Keep (workload, pool, start), all or none. Of a replica the newest is kept, until it was ready: that is the last word on it."""

    def starts_of(self, pools: Sequence[tuple[str, str]], window: Window, last: int) -> dict[tuple[str, str], tuple[Start, ...]]:
        """The newest `last` starts of each (workload, pool) requested in `window`, oldest first; those without one are left out."""

    def open_starts(self) -> dict[tuple[str, str], tuple[Start, ...]]:
        """Every start that may still become ready, by (workload, pool)."""

    def append_profiles(self, profiles: Sequence[tuple[str, str, ProfileEntry]]) -> None:
        """Keep (workload, pool, what its replicas were measured to carry), all or none."""

    def newest_profiles_of(self, pools: Sequence[tuple[str, str]], window: Window) -> dict[tuple[str, str], tuple[ProfileEntry, ...]]:
        """The newest profile of each origin that each (workload, pool) was given in `window`, oldest first; others are left out."""

    def append_lever_moves(self, moves: Sequence[LeverMove]) -> None:
        """Keep what was done to levers, all or none."""

    def lever_moves(self, window: Window) -> tuple[LeverMove, ...]:
        """What was done to levers in `window`, oldest first; pruned as records are, and none of them is the last of a line."""

    def prune(self, keep: Keep, now: datetime) -> Pruned:
        """Forget what is older at `now` than `keep` says; never the newest forecast, plan or record of its line, nor what a person said."""

    def close(self) -> None:
        """Let go of connections."""

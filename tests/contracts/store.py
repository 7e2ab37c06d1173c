"""Values for the store's contract: one example of each kind, and hypothesis strategies that reach into the corners."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, TypeVar, overload

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.decision import Action, Applied, CycleRecord, Decision, Paused, Ruling, RulingKind
from forecaster.demand import Demand, PeakDemand
from forecaster.events import Event, EventEntry, Every
from forecaster.forecast import STANDARD_LEVELS, DailyPeak, Forecast
from forecaster.marks import Mark, MarkKind
from forecaster.nowcast import HOURS, SPANS_S, Nowcast
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.series import LOAD_SIGNALS, Floats, Series, Signal, Window
from forecaster.trust import Trust, Verdict
from forecaster.units import DAY_S, HOUR_S
from forecaster.workload import Mode

NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
STEP_S = 300

Item = TypeVar("Item")


def after(seconds: float) -> datetime:
    """The instant that many seconds after NOW."""
    return NOW + timedelta(seconds=seconds)


def span(start_s: float, end_s: float) -> Window:
    """The window between two instants relative to NOW."""
    return Window(start=after(start_s), end=after(end_s))


def same(one: object, other: object) -> bool:
    """Equality by value all the way down, with NaN equal to NaN: most types of the vocabulary compare by identity."""
    if is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    return type(one) is type(other) and one == other


class Interrupted(Exception):
    """What a broken batch raises half way."""


class Broken(Sequence[Item]):
    """A batch that breaks after its first item."""

    def __init__(self, first: Item) -> None:
        self._first = first

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if index == 0:
            return self._first
        raise Interrupted

    def __iter__(self) -> Iterator[Item]:
        yield self._first
        raise Interrupted

    def __len__(self) -> int:
        return 2


def series(mean: Sequence[float], *, start_s: int = 0, step_s: int = STEP_S, signal: Signal = Signal.RPM) -> Series:
    """Measured means from NOW + start_s on, with peaks half as large again."""
    values = np.asarray(mean, dtype=np.float64)
    return Series(signal=signal, start=after(start_s), step_s=step_s, mean=values, peak=values * 1.5)


def forecast(issued_at: datetime = NOW, signal: Signal = Signal.RPM, load: float = 100.0) -> Forecast:
    """Two days from the bucket in progress, the same quantiles at every step."""
    start = datetime.fromtimestamp(issued_at.timestamp() // STEP_S * STEP_S, UTC)
    values = load * np.linspace(0.5, 2, len(STANDARD_LEVELS))
    grid = np.repeat(values[:, None], 2 * DAY_S // STEP_S, axis=1)
    covers = Window(start=start, end=start + timedelta(days=1))
    peak = DailyPeak(day=start.date(), zone="UTC", covers=covers, levels=STANDARD_LEVELS, values=values, at=start)
    return Forecast(
        signal=signal,
        issued_at=issued_at,
        start=start,
        step_s=STEP_S,
        levels=STANDARD_LEVELS,
        values=grid,
        window_max=grid * 1.2,
        window_s=900,
        daily_peaks=(peak,),
        model="profile",
        trained_on=Window(start=start - timedelta(days=56), end=start),
        coverage=(None,) * len(STANDARD_LEVELS),
    )


def plan(issued_at: datetime = NOW, workload: str = "chat", pool: str = "h100", replicas: int = 4) -> Plan:
    """One floor for a day."""
    until = issued_at + timedelta(days=1)
    floor = Floor(start=issued_at, until=until, replicas=replicas, reason=Reason(code=Code.SIGNAL_BINDS, detail="rpm at P95"))
    return Plan(workload=workload, pool=pool, issued_at=issued_at, valid_until=until, floors=(floor,), demand=None)


def record(at: datetime = NOW, *, workload: str = "chat", pool: str = "h100", target: str = "hpa:prod/chat", floor: int = 4) -> CycleRecord:
    """A floor that was set."""
    return CycleRecord(
        at=at,
        mode=Mode.AUTO,
        decision=Decision(
            at=at,
            workload=workload,
            pool=pool,
            target=target,
            action=Action.SET,
            floor=floor,
            wanted=floor,
            last=None,
            since=at,
            valid_until=at + timedelta(seconds=HOUR_S),
            plan_id=f"{workload}/{pool}@2026-05-04T08:00:00Z",
            reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="the plan says so", before=2, after=floor),),
        ),
        applied=Applied(target=target, before=2, after=floor, written=True),
        error=None,
        sentence=f"{workload}/{pool}: floor {floor} on {target}, the plan says so",
    )


def ruling(at: datetime = NOW, kind: RulingKind = RulingKind.OVERRIDE, *, replicas: int | None = 9, workload: str = "chat") -> Ruling:
    """A person's word, with what its kind asks for."""
    speaks_of_plan = kind in {RulingKind.APPROVE, RulingKind.REJECT}
    return Ruling(
        at=at,
        workload=workload,
        kind=kind,
        author="ada",
        reason="launch day",
        replicas=replicas if kind is RulingKind.OVERRIDE else None,
        plan_id="chat/h100@2026-05-04T08:00:00Z" if speaks_of_plan else None,
        paused=Paused.HOLD if kind is RulingKind.PAUSE else None,
        mode=Mode.REVIEW if kind is RulingKind.PROMOTE else None,
    )


def mark(
    at: datetime = NOW, kind: MarkKind = MarkKind.OUTAGE, *, span: Window | None = None, author: str = "", unmark: bool = False
) -> Mark:
    """An outage of the hour before NOW."""
    span = span or Window(start=after(-HOUR_S), end=NOW)
    return Mark(kind=kind, span=span, signal=Signal.RPM, at=at, detail="1.0 h next to nothing", author=author, unmark=unmark)


def event_entry(at: datetime = NOW, name: str = "launch", *, author: str = "ada", removed: bool = False) -> EventEntry:
    """A launch on every Monday morning in Paris, added or taken away."""
    begin = datetime(2026, 5, 4, 9)  # noqa: DTZ001 - a wall time
    event = Event(
        name=name,
        zone="Europe/Paris",
        start=begin,
        end=begin + timedelta(hours=8),
        factor=3.0,
        ramp_up_s=1_800.0,
        workloads=("chat", "embed"),
        every=Every.WEEK,
        days=(0,),
        until=date(2026, 6, 1),
    )
    return EventEntry(at=at, author=author, name=name, event=None if removed else event)


# PostgreSQL keeps no NUL in text, and no name of ours has one.
names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20).filter(str.strip)
instants = st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  hypothesis adds the zone
durations = st.timedeltas(timedelta(microseconds=1), timedelta(days=400))
loads = st.floats(0, 1e300, allow_subnormal=True)
ratios = st.floats(1e-6, 1e6)
levels = st.lists(st.sampled_from(STANDARD_LEVELS), min_size=1, max_size=4, unique=True).map(lambda found: tuple(sorted(found)))
counts = st.integers(0, 10**9)
reasons = st.builds(Reason, code=st.sampled_from(Code), detail=st.text(max_size=30), before=st.none() | counts, after=st.none() | counts)
windows = st.builds(lambda start, length: Window(start=start, end=start + length), instants, durations)


def grid_start(instant: datetime, step_s: int) -> datetime:
    """The bucket that holds an instant."""
    return datetime.fromtimestamp(instant.timestamp() // step_s * step_s, UTC)


@st.composite
def many_series(draw: st.DrawFn) -> Series:
    """Any signal and step, also such as do not divide a day, over any stretch, with gaps."""
    step_s = draw(st.sampled_from([15, 60, 300, 420, 3600, DAY_S, 2 * DAY_S]))
    mean = draw(arrays(np.float64, st.integers(0, 60), elements=loads | st.just(np.nan)))
    return Series(
        signal=draw(st.sampled_from(Signal)),
        start=grid_start(draw(instants), step_s),
        step_s=step_s,
        mean=mean,
        peak=mean * draw(st.floats(1, 10)),
    )


def quantiles(rows: int, columns: int) -> st.SearchStrategy[Floats]:
    """Values that do not decrease from one level to the next."""
    return arrays(np.float64, (rows, columns), elements=loads).map(lambda drawn: np.sort(drawn, axis=0))


@st.composite
def many_nowcasts(draw: st.DrawFn) -> Nowcast:
    stated = draw(levels)
    tails = draw(arrays(np.float64, (HOURS, len(stated)), elements=st.floats(-1e6, 1e6)))
    return Nowcast(
        weights=tuple(draw(st.lists(st.floats(0, 9), min_size=len(SPANS_S), max_size=len(SPANS_S)))),
        lulls=tuple(draw(st.floats(-7, 0)) for _ in SPANS_S),
        base=draw(st.floats(-9, 9)),
        spread=(draw(st.floats(-9, 9)), draw(st.floats(-9, 9))),
        levels=stated,
        tails=np.sort(tails, axis=1),
        offset=draw(ratios),
        most=draw(loads),
        day_start=draw(instants),
        days=draw(st.floats(0, 28)),
    )


@st.composite
def many_daily_peaks(draw: st.DrawFn) -> DailyPeak:
    stated, covers = draw(levels), draw(windows)
    values = draw(quantiles(len(stated), 1))[:, 0]
    return DailyPeak(day=covers.start.date(), zone="Europe/Paris", covers=covers, levels=stated, values=values, at=covers.start)


@st.composite
def many_forecasts(draw: st.DrawFn) -> Forecast:
    stated, n = draw(levels), draw(st.integers(1, 20))
    issued_at, step_s = draw(instants), draw(st.sampled_from([60, 300, 3600]))
    return Forecast(
        signal=draw(st.sampled_from(LOAD_SIGNALS)),
        issued_at=issued_at,
        start=grid_start(issued_at, step_s),
        step_s=step_s,
        levels=stated,
        values=draw(quantiles(len(stated), n)),
        window_max=draw(quantiles(len(stated), n)),
        window_s=draw(st.integers(1, DAY_S)),
        daily_peaks=tuple(draw(st.lists(many_daily_peaks(), max_size=2))),
        model=draw(names),
        trained_on=draw(windows),
        coverage=tuple(draw(st.none() | st.floats(0, 1)) for _ in stated),
        notes=tuple(draw(st.lists(reasons, max_size=2))),
        nowcast=draw(st.none() | many_nowcasts()),
    )


@st.composite
def many_demands(draw: st.DrawFn) -> Demand:
    signals = tuple(draw(st.lists(st.sampled_from(LOAD_SIGNALS), min_size=1, unique=True)))
    n, covers = draw(st.integers(1, 20)), draw(windows)
    load = draw(arrays(np.float64, (4, len(signals), n), elements=loads))
    peak = PeakDemand(day=covers.start.date(), covers=covers, replicas=draw(loads), at=covers.start)
    return Demand(
        start=grid_start(draw(instants), STEP_S),
        step_s=STEP_S,
        signals=signals,
        load=load[0],
        expected=load[1],
        expected_max=load[2],
        carry=tuple(draw(ratios) for _ in signals),
        peaks=(peak,),
        level=draw(st.sampled_from(STANDARD_LEVELS)),
        lead_time_s=draw(loads),
        window_s=draw(st.integers(1, DAY_S)),
        model=draw(names),
        nowcasts=draw(st.just(()) | st.tuples(*[st.none() | many_nowcasts() for _ in signals])),
        least=draw(st.sampled_from([None, load[3]])),
    )


trusts = st.builds(
    Trust,
    signal=st.sampled_from(LOAD_SIGNALS),
    verdict=st.sampled_from(Verdict),
    score=st.none() | st.floats(0, 1),
    pinball_ratio=st.none() | loads,
    coverage=st.none() | st.floats(0, 1),
    drift_log=st.none() | st.floats(-9, 9),
    sentence=st.text(max_size=30),
    cycle_ratio=st.none() | st.floats(-9, 1),
    reason=st.none() | reasons,
)


@st.composite
def many_plans(draw: st.DrawFn) -> Plan:
    edges = [draw(instants)]
    for length in draw(st.lists(durations, min_size=1, max_size=4)):
        edges.append(edges[-1] + length)
    floors = [Floor(start=a, until=b, replicas=draw(counts), reason=draw(reasons)) for a, b in pairwise(edges)]
    return Plan(
        workload=draw(names),
        pool=draw(names),
        issued_at=draw(instants),
        valid_until=draw(instants),
        floors=tuple(floors),
        demand=draw(st.none() | many_demands()),
        reasons=tuple(draw(st.lists(reasons, max_size=2))),
        held=draw(st.booleans()),
        trusts=tuple(draw(st.lists(trusts, max_size=2))),
    )


decisions = st.builds(
    Decision,
    at=instants,
    workload=names,
    pool=names,
    target=names,
    action=st.sampled_from(Action),
    floor=counts,
    wanted=counts,
    last=st.none() | counts,
    since=instants,
    valid_until=instants,
    plan_id=st.none() | names,
    reasons=st.lists(reasons, min_size=1, max_size=3).map(tuple),
)
many_records = st.builds(
    CycleRecord,
    at=instants,
    mode=st.sampled_from(Mode),
    decision=decisions,
    applied=st.none() | st.builds(Applied, target=names, before=counts, after=counts, written=st.booleans()),
    error=st.none() | st.text(max_size=30),
    sentence=st.text(max_size=60),
)


@st.composite
def many_rulings(draw: st.DrawFn) -> Ruling:
    said = ruling(draw(instants), draw(st.sampled_from(RulingKind)), replicas=draw(counts), workload=draw(names))
    return replace(said, author=draw(names), reason=draw(names), until=draw(st.none() | instants))


many_marks = st.builds(
    Mark,
    kind=st.sampled_from(MarkKind),
    span=windows,
    signal=st.sampled_from(Signal),
    at=instants,
    detail=st.text(max_size=30),
    author=st.just("") | names.map(str.strip),
    unmark=st.booleans(),
)


@st.composite
def many_event_entries(draw: st.DrawFn) -> EventEntry:
    name = draw(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20))
    start = draw(st.datetimes(datetime(1990, 1, 1), datetime(2190, 1, 1)))  # noqa: DTZ001 - wall times
    every = draw(st.none() | st.sampled_from(Every))
    effect: dict[str, Any] = draw(
        st.builds(dict, factor=st.floats(0.001, 1_000))
        | st.builds(dict, load=st.floats(0, 1e12), signal=st.sampled_from(LOAD_SIGNALS), workloads=st.lists(names, min_size=1).map(tuple))
    )
    event = Event(
        name=name,
        zone=draw(st.sampled_from(["UTC", "Asia/Kolkata", "America/New_York"])),
        start=start,
        end=start + draw(st.timedeltas(timedelta(minutes=1), timedelta(days=300))),
        ramp_up_s=draw(st.floats(0, DAY_S)),
        ramp_down_s=draw(st.floats(0, DAY_S)),
        every=every,
        days=draw(st.lists(st.integers(1, 6), max_size=3).map(tuple)) if every in {Every.WEEK, Every.MONTH} else (),
        until=draw(st.none() | st.dates(start.date())) if every else None,
        **effect,
    )
    return EventEntry(at=draw(instants), author=draw(names), name=name, event=draw(st.just(event) | st.none()))

"""Demand to floors: replicas rounded up once, for every instant until the plan's end."""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Self, assert_never

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import FloorWindow
from forecaster.demand import Demand, PeakDemand
from forecaster.queueing import WAIT_LEVEL, in_service_of, least_replicas, slots_of
from forecaster.reasons import Code, Reason
from forecaster.series import Window
from forecaster.trust import Trust
from forecaster.units import HOUR_S, MINUTE_S, check_instant, check_named, check_not_negative, iso, spell_number, whole_replicas_each
from forecaster.workload import Policy, Pool, Shape, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """At least `replicas` over [start, until); the reason names what binds."""

    start: datetime
    until: datetime
    replicas: int
    reason: Reason

    def __post_init__(self) -> None:
        check_instant("floor.start", self.start)
        check_instant("floor.until", self.until)
        check_not_negative("floor.replicas", self.replicas, "replicas")
        if self.until <= self.start:
            msg = f"floor.until must be after floor.start, got [{iso(self.start)}, {iso(self.until)})"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """The floors of one pool, contiguous and in order, good until `valid_until`.

    demand: what they were computed from, None when only configured windows speak. held: the plan waits for an approval (mode
    review, or a change beyond the envelope), whatever the mode. trusts: what was thought of the forecasts that it rests on.
    """

    workload: str
    pool: str
    issued_at: datetime
    valid_until: datetime
    floors: tuple[Floor, ...]
    demand: Demand | None = field(repr=False)
    reasons: tuple[Reason, ...] = ()
    held: bool = False
    trusts: tuple[Trust, ...] = ()

    def __post_init__(self) -> None:
        check_named("plan.workload", self.workload)
        check_named("plan.pool", self.pool)
        check_instant("plan.issued_at", self.issued_at)
        check_instant("plan.valid_until", self.valid_until)
        if not self.floors:
            msg = "a plan needs at least one floor"
            raise ValueError(msg)
        if any(a.until != b.start for a, b in pairwise(self.floors)):
            msg = "the floors of a plan must be contiguous and in order"
            raise ValueError(msg)

    @property
    def id(self) -> str:
        """Stable: a plan made again at the same instant from the same history is the same plan."""
        return f"{self.workload}/{self.pool}@{iso(self.issued_at)}"

    def floor_at(self, instant: datetime) -> Floor | None:
        """The floor in force at an instant, None outside of the plan."""
        i = bisect_right(self.floors, instant, key=lambda floor: floor.start) - 1
        return self.floors[i] if i >= 0 and instant < self.floors[i].until else None

    def within(self, span: Window) -> Self:
        """The plan with only those floors that are in force at some time of a span, or the nearest one where none is."""
        first = bisect_right(self.floors, span.start, key=lambda floor: floor.until)
        end = bisect_left(self.floors, span.end, key=lambda floor: floor.start)
        return replace(self, floors=self.floors[min(first, end - 1 if end else 0) : max(end, 1)])

    def replica_hours(self, start: datetime, end: datetime) -> float:
        """What the floors add up to over [start, end), as far as the plan reaches."""
        spans = ((f.replicas, (min(f.until, end) - max(f.start, start)).total_seconds()) for f in self.floors)
        return sum(replicas * span_s for replicas, span_s in spans if span_s > 0) / HOUR_S


def issued_at_of(plan_id: str) -> datetime:
    """When the plan of that id was issued."""
    return datetime.fromisoformat(plan_id.rpartition("@")[2])


def is_plan_of(plan_id: str, workload: str, pool: str) -> bool:
    """Whether an id names a plan of that pool."""
    return plan_id.rpartition("@")[0] == f"{workload}/{pool}"


def plan(demand: Demand, workload: Workload, pool: Pool, issued_at: datetime) -> Plan:
    """The floors that cover the demand, the configured windows and the configured bounds, merged into runs.

    Replicas are rounded up here, once. Shape `profile`: the largest need over the lead window at each step; within a tenth of
    the day's largest need the floor covers the day's peak. Shape `daily-peak`: the day's peak from the ramp minus the lead time to
    the end of the busy span, the profile outside of it. In both, a pool with a promise about waits has the replicas that keep it. What
    pools before it carry comes off what the load asks for, and spare replicas on top of what is left (`Margin`).
    """
    return under_policy(_needed(demand, pool, workload.policy.shape), demand, workload, pool, issued_at)


def under_policy(floors: list[Floor], demand: Demand | None, workload: Workload, pool: Pool, issued_at: datetime) -> Plan:
    """The plan of floors, contiguous and in order, under the configured windows and bounds, merged into runs."""
    policy, span = workload.policy_of(pool), Window(start=floors[0].start, end=floors[-1].until)
    opened = [(occurrence, w.min_replicas) for w in policy.windows for occurrence in w.occurrences(span)]
    pieces = cut_at(floors, sorted({edge for w, _ in opened for edge in (w.start, w.end)}))
    least = [max((replicas for w, replicas in opened if piece.start in w), default=0) for piece in pieces]
    bounded = [_bounded(piece, window, policy) for piece, window in zip(pieces, least, strict=True)]
    return Plan(
        workload=workload.name,
        pool=pool.name,
        issued_at=issued_at,
        valid_until=min(span.end, issued_at + timedelta(seconds=policy.expiry_s)),
        floors=merged(bounded),
        demand=demand,
    )


def window_floor(windows: tuple[FloorWindow, ...], instant: datetime) -> int:
    """The floor that configured windows ask for at an instant; 0 where none is open."""
    moment = Window(start=instant, end=instant + timedelta(seconds=1))
    return max((w.min_replicas for w in windows if any(instant in span for span in w.occurrences(moment))), default=0)


def _needed(demand: Demand, pool: Pool, shape: Shape) -> list[Floor]:
    """What forecast, daily peaks and waits ask for: one floor a run of steps with equal replicas and one thing that binds."""
    needs = demand.needs
    need, binding = needs.max(axis=0), needs.argmax(axis=0)
    peaks = np.zeros_like(need)
    for peak in demand.peaks:
        sized = _sized_by(demand, peak, shape)
        peaks[sized] = np.maximum(peaks[sized], peak.replicas)
    margin = demand.margin
    whole = whole_replicas_each(margin.left_each(np.maximum(need, peaks)))
    binding[peaks > need] = len(demand.signals)
    unhurried = _unhurried(demand, pool, peaks)
    if unhurried is not None:  # one queue before all pools, so that a wait is shorter than in one before this pool alone
        unhurried = whole_replicas_each(margin.left_each(unhurried.astype(np.float64)))
        binding[unhurried > whole] = len(demand.signals) + 1
        whole = np.maximum(whole, unhurried)
    whole = np.where(whole > 0, whole + margin.spare, 0)
    edges = [0, *(np.flatnonzero(np.diff(whole) | np.diff(binding)) + 1).tolist(), need.size]
    instants, carries = [demand.step_start(i) for i in edges], [spell_number(carry) for carry in demand.carry]
    return [
        Floor(
            start=start,
            until=until,
            replicas=replicas,
            reason=_reason(demand, pool, carries, first + int(need[first:last].argmax()), bound, replicas),
        )
        for (start, until), (first, last), replicas, bound in zip(
            pairwise(instants), pairwise(edges), whole[edges[:-1]].tolist(), binding[edges[:-1]].tolist(), strict=True
        )
    ]


def _unhurried(demand: Demand, pool: Pool, peaks: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The replicas that keep requests from waiting at each step, None without a promise about waits or a load that tells arrivals."""
    carries = dict(zip(demand.signals, demand.carry, strict=True))
    slots = slots_of(pool.capacity, pool.slo) if pool.slo is not None else None
    found = in_service_of(pool.slo, carries) if pool.slo is not None else None
    if pool.slo is None or slots is None or found is None:
        return None
    signal, in_service = found
    need = demand.load[demand.signals.index(signal)] / carries[signal]
    return least_replicas(np.maximum(need, peaks) * in_service, slots, pool.slo)


def cut_at(floors: list[Floor], edges: list[datetime]) -> list[Floor]:
    """The same floors, cut wherever an edge lies inside one; edges in order."""
    pieces = []
    for floor in floors:
        inside = edges[bisect_right(edges, floor.start) : bisect_left(edges, floor.until)]
        if inside:
            pieces += [replace(floor, start=start, until=until) for start, until in pairwise([floor.start, *inside, floor.until])]
        else:
            pieces.append(floor)
    return pieces


_NEAR_PEAK_RATIO = 0.9
"""In shape `profile`, steps this close to the day's largest median are lifted to the day's peak: which of them it hits is not known."""


def _sized_by(demand: Demand, peak: PeakDemand, shape: Shape) -> NDArray[np.intp]:
    """The steps that a day's peak sizes; both shapes rest on medians, so that a higher level moves no edge.

    `profile`: those whose median over the lead window comes close to the day's largest. `daily-peak`: from
    the first to the last bucket above the middle between the day's least and largest median, begun one lead time and one step early.
    """
    first = max(0, math.floor((peak.covers.start - demand.start).total_seconds() / demand.step_s))
    last = min(demand.load.shape[1], math.ceil((peak.covers.end - demand.start).total_seconds() / demand.step_s))
    carry = np.asarray(demand.carry)[:, None]
    match shape:
        case Shape.PROFILE:
            median = (demand.expected_max[:, first:last] / carry).max(axis=0)
            near = np.flatnonzero(median >= _NEAR_PEAK_RATIO * median.max())
            return first + near
        case Shape.DAILY_PEAK:
            median = (demand.expected[:, first:last] / carry).max(axis=0)
            busy = np.flatnonzero(median >= (median.min() + median.max()) / 2)
            early = math.ceil(demand.lead_time_s / demand.step_s) + 1
            return np.arange(max(0, first + int(busy[0]) - early), first + int(busy[-1]) + 1)
        case _:
            assert_never(shape)


def _reason(  # noqa: PLR0917  what a floor rests on is that much
    demand: Demand, pool: Pool, carries: list[str], i: int, binding: int, replicas: int
) -> Reason:
    """Why a run of steps asks for that many replicas, told at its neediest step i, which is not the one that a reader may look at.

    binding: past the signals, first the day's peak and then the waits. carries: what a replica carries of each signal, in words.
    """
    level_pct, span_min, own = demand.level * 100, demand.window_s / MINUTE_S, demand.margin.told(replicas)
    if binding == len(demand.signals):
        detail = f"the day's peak at P{level_pct:g} asks for {replicas}{own}"
        return Reason(code=Code.DAILY_PEAK_BINDS, detail=detail, after=replicas)
    at = f"{demand.step_start(i).isoformat()[:16]}Z"
    if binding > len(demand.signals) and pool.slo is not None:
        load = f"P{level_pct:g} of the {span_min:g} min from {at} fills {spell_number(demand.need_at(i))} replicas"
        detail = f"queueing binds: {load}, and {replicas} keep {WAIT_LEVEL:.0%} of waits within {pool.slo.wait_p95_s:g} s{own}"
        return Reason(code=Code.QUEUEING_BINDS, detail=detail, after=replicas)
    signal = demand.signals[binding]
    load = f"P{level_pct:g} of the {span_min:g} min from {at} is {spell_number(demand.load[binding, i])} {signal.unit}"
    detail = f"{signal} binds: {load}, a replica carries {carries[binding]}{own}"
    return Reason(code=Code.SIGNAL_BINDS, detail=detail, after=replicas)


def _bounded(floor: Floor, opened: int, policy: Policy) -> Floor:
    """The floor under an open window's and the configured bounds, with the reason of whichever moved it last."""
    if opened > floor.replicas:
        reason = Reason(code=Code.WINDOW_BINDS, detail=f"a configured window asks for {opened}", before=floor.replicas, after=opened)
        floor = replace(floor, replicas=opened, reason=reason)
    if policy.minimum is not None and floor.replicas < policy.minimum:
        reason = Reason(code=Code.MIN_BINDS, detail=f"min is {policy.minimum}", before=floor.replicas, after=policy.minimum)
        floor = replace(floor, replicas=policy.minimum, reason=reason)
    if policy.maximum is not None and floor.replicas > policy.maximum:
        detail = f"max is {policy.maximum}, {floor.replicas} were asked for"
        reason = Reason(code=Code.MAX_BINDS, detail=detail, before=floor.replicas, after=policy.maximum)
        floor = replace(floor, replicas=policy.maximum, reason=reason)
    return floor


def _cut_by(reason: Reason) -> int:
    """Replicas that the step took away, 0 where it added some or tells of none."""
    return 0 if reason.before is None or reason.after is None else max(0, reason.before - reason.after)


def merged(pieces: list[Floor]) -> tuple[Floor, ...]:
    """Neighbours with equal replicas and code become one floor, which keeps the reason of its first piece, or of the one cut most."""
    runs = [pieces[0]]
    for piece in pieces[1:]:
        last = runs[-1]
        if (piece.replicas, piece.reason.code) == (last.replicas, last.reason.code):
            reason = piece.reason if _cut_by(piece.reason) > _cut_by(last.reason) else last.reason
            runs[-1] = replace(last, until=piece.until, reason=reason)
        else:
            runs.append(piece)
    return tuple(runs)

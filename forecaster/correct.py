"""Live load against the plan: up at once when the load says more, down slowly when the floor is far too high.

| live load                                         | the floor becomes                                                        |
|---------------------------------------------------|--------------------------------------------------------------------------|
| known, and its deviations were learned            | the level's quantile of the largest load ahead, given the last minutes;    |
|                                                   | at least a low quantile of the forecast of the day (`forecaster.nowcast`)   |
| above the median forecast, and nothing was learned | at least the median ahead x what the workload's gains leave of the ratio |
| above `break_glass_ratio` x the median             | at least the median ahead x all of the ratio: the plan is taken for wrong |
| more than the plan carries right now              | at least what the last minutes need, and the backlog within `drain_s`     |
| below `decay_ratio` x the median for `decay_after_s` | fades to the largest need of that span, all of it after as long again    |
| anything else, or unknown                         | the plan's                                                               |
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from forecaster.ahead import ahead, ahead_reasons, asked_ahead, may_lower
from forecaster.demand import Demand
from forecaster.deviation import Deviation
from forecaster.gains import Gains, fading
from forecaster.look import QUIET_RATIO, RECENT_S, Look
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.series import Signal
from forecaster.units import MINUTE_S, spell_number, whole_replicas
from forecaster.workload import Blend, Policy

_TOLD_AGAIN = frozenset(
    {Code.TRUST_NAIVE, Code.TRUST_REACTIVE, Code.OPERATING_POINT, Code.CACHE_HITS, Code.CAPACITY_DRIFT, Code.CAPACITY_STALE}
)
"""What a plan says of itself and every decision repeats, since whoever is paged looks there."""
_BEYOND_ITS_LOAD = frozenset({Code.DAILY_PEAK_BINDS, Code.QUEUEING_BINDS})
"""Floors that rest on the load and lie above what it asks for at their step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The plan's floor after live load spoke. planned: the plan's own floor, None outside of a plan; floor is then the live need.

    need: the fractional replicas that the floor was rounded up from, 0 where a window, a bound or a promise gave whole ones.
    """

    floor: int
    planned: Floor | None
    look: Look
    reasons: tuple[Reason, ...]
    need: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """What one part of live load asks for in fractional replicas, and how that is told."""

    need: float
    code: Code
    detail: Callable[[int], str]


def correct(plan: Plan | None, seen: Look, policy: Policy) -> Correction:
    """The floor that plan and live load ask for together, before hold, limits and bounds; the table above says how."""
    planned = plan.floor_at(seen.at) if plan is not None else None
    if plan is None or planned is None:
        floor, need, reasons = _raised(0, 0.0, _needs_now(seen, learned=False))
        return Correction(floor=floor, planned=None, look=seen, reasons=reasons, need=need)
    floor, need, reasons = _planned(plan, planned, seen)
    live = ((s.signal, s.seen) for s in seen.signals)
    told = ahead(plan.demand, live, seen.at, seen.margin) if plan.demand is not None and seen.known else ()
    if plan.demand is not None and told and (whole_replicas(asked := asked_ahead(told)) > floor or may_lower(planned, policy)):
        reasons += ahead_reasons(plan.demand, told, floor)
        floor, need = whole_replicas(asked), asked
    decayed = _decayed(floor, seen)
    if decayed is not None and whole_replicas(decayed) < floor:
        detail = f"load has stayed below {policy.blend.decay_ratio:.0%} of the forecast for hours"
        reasons += (Reason(code=Code.FLOOR_DECAYED, detail=detail, before=floor, after=whole_replicas(decayed)),)
        floor, need = whole_replicas(decayed), decayed
    floor, need, more = _raised(
        floor, need, (*_carried_forward(plan.demand, seen, policy.blend, learned=bool(told)), *_needs_now(seen, learned=bool(told)))
    )
    return Correction(floor=floor, planned=planned, look=seen, reasons=reasons + more, need=need)


def _raised(floor: int, need: float, asks: Iterable[_Ask]) -> tuple[int, float, tuple[Reason, ...]]:
    """Floor and need after each part of live load has asked in turn, and a reason for each that raised the floor."""
    reasons: list[Reason] = []
    for ask in asks:
        asked = whole_replicas(ask.need)
        if asked > floor:
            reasons.append(Reason(code=ask.code, detail=ask.detail(asked), before=floor, after=asked))
            floor = asked
        need = max(need, ask.need)
    return floor, need, tuple(reasons)


def _planned(plan: Plan, planned: Floor, seen: Look) -> tuple[int, float, tuple[Reason, ...]]:
    """The planned floor, its need and its reasons; raised where pools before this one do not carry what they were to.

    need: the fractional replicas of a floor that follows a signal step by step; 0 for any other, which moves only on purpose.
    """
    again = (reason for reason in plan.reasons if reason.code in _TOLD_AGAIN)
    reasons = (Reason(code=Code.PLAN_FOLLOWED, detail=planned.reason.detail, after=planned.replicas), *again)
    i = plan.demand.index(seen.at) if plan.demand is not None else None
    if plan.demand is None or i is None:
        return planned.replicas, 0.0, reasons
    margin, load, follows = plan.demand.margin, plan.demand.need_at(i), planned.reason.code is Code.SIGNAL_BINDS
    lacks = min(seen.margin.lacks, margin.before)
    asked = replace(margin, before=margin.before - lacks).asked(load)
    if lacks and planned.replicas and planned.reason.code in _BEYOND_ITS_LOAD:
        asked = max(asked, planned.replicas + lacks)
    need = asked if follows else 0.0
    if not lacks or whole_replicas(asked) <= planned.replicas:
        return planned.replicas, need, reasons
    detail = f"stands in for pools before it: what {spell_number(lacks)} replicas of its own would carry is missing there"
    raised = Reason(code=Code.STANDS_IN, detail=detail, before=planned.replicas, after=whole_replicas(asked))
    return whole_replicas(asked), asked, (*reasons, raised)


def _decayed(floor: int, seen: Look) -> float | None:
    """The replicas, fractional, after a lull that all signals agree on; None without one."""
    progress = min((s.lull_ratio for s in seen.signals), default=0.0) if seen.known else 0.0
    if progress == 0:
        return None
    lull = seen.margin.asked(max(max(s.lull_need, s.need) for s in seen.signals))
    return floor - progress * max(0.0, floor - lull)


def _carried_forward(demand: Demand | None, seen: Look, blend: Blend, *, learned: bool) -> Iterator[_Ask]:
    """What the median ahead asks for when live load's deviation is carried into it; once a nowcast was learned, when the glass breaks."""
    i = demand.index(seen.at) if demand is not None else None
    if demand is None or i is None:
        return
    for signal in seen.signals:
        if signal.ratio is None or signal.signal not in demand.signals:
            continue
        s = demand.signals.index(signal.signal)
        gains = demand.gains_of(signal.signal) or fading(blend.fade_half_life_s)
        long = signal.ratio if signal.long_ratio is None else signal.long_ratio
        deviation = Deviation(short=signal.ratio, long=long, broken=signal.ratio > blend.break_glass_ratio)
        if learned and not (deviation.broken and signal.fine):
            continue
        quiet = QUIET_RATIO * demand.carry[s]
        path = demand.expected[s, i : i + max(1, demand.window_s // demand.step_s)] + quiet
        lift = deviation.lift(path, gains, demand.step_s)
        if lift > 1:
            top = max(float(demand.expected_max[s, i]) + quiet, float(path.max()))
            yield _Ask(
                need=seen.margin.asked((top * lift - quiet) / demand.carry[s]),
                code=Code.BREAK_GLASS if deviation.broken else Code.LIVE_ABOVE_PLAN,
                detail=partial(_told, deviation, signal.signal, gains, demand.lead_time_s),
            )


def _told(deviation: Deviation, signal: Signal, gains: Gains, lead_s: float, _asked: int) -> str:
    return deviation.told(signal, gains, lead_s)


def _needs_now(seen: Look, *, learned: bool) -> Iterator[_Ask]:
    """What the last minutes and the backlog ask for. What a nowcast makes of the last hour is more than that hour."""
    for signal in seen.signals:
        if learned and not signal.fine:
            continue
        words = f"live {signal.signal} of the last {RECENT_S // MINUTE_S} min needs {{}}"
        yield _Ask(need=seen.margin.asked(signal.need), code=Code.LIVE_ABOVE_PLAN, detail=words.format)
    if seen.queue_need > 0:
        yield _Ask(need=seen.queue_need, code=Code.QUEUE_DRAIN, detail="load and backlog need {} to drain".format)

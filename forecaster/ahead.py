"""What the last minutes say of the lead window: the nowcast of a demand, asked about now."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from forecaster.demand import LEAST_RATIO, Demand
from forecaster.margin import WHOLE, Margin
from forecaster.nowcast import FINEST_S, SPANS_S, Nowcast, Seen, steps_ahead
from forecaster.plan import Floor
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Signal
from forecaster.units import MINUTE_S, epoch_s, whole_replicas
from forecaster.workload import Policy, Shape

_RECENT_S = 15 * MINUTE_S
_FROM_FORECAST = frozenset({Code.SIGNAL_BINDS, Code.DAILY_PEAK_BINDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What a signal asks for in the lead window at the level of its demand, in fractional replicas, and the least that stays planned."""

    signal: Signal
    need: float
    least: float


def seen_at(  # noqa: PLR0917  load and median are of the buckets that end then
    nowcast: Nowcast, load: Floats, median: Floats, ends_s: NDArray[np.int64], step_s: int, now: datetime
) -> Seen | None:
    """Live load over the spans that a nowcast looks back; None when nothing is known of one of them."""
    both = ~(np.isnan(load) | np.isnan(median))
    deviations = []
    for span_s in SPANS_S:
        first = int(np.searchsorted(ends_s, epoch_s(now) - max(span_s, step_s), side="right"))
        known = both[first:]
        count = np.count_nonzero(known)
        if not count:
            return None
        deviations.append(nowcast.deviation(float(load[first:][known].sum()) / count, float(median[first:][known].sum()) / count))
    recent = load[int(np.searchsorted(ends_s, epoch_s(now) - max(_RECENT_S, step_s), side="right")) :]
    return Seen(deviations=tuple(deviations), load=float(np.nanmean(recent)))


def ahead(demand: Demand, seen: Iterable[tuple[Signal, Seen | None]], now: datetime, margin: Margin = WHOLE) -> tuple[Ahead, ...]:
    """What each signal asks for ahead of now; none at all unless every signal of the demand was seen and has a nowcast.

    margin: what of it is the pool's own now.
    """
    found, live, i = [], dict(seen), demand.index(now)
    if i is None or demand.least is None:
        return ()
    for s, signal in enumerate(demand.signals):
        nowcast, known = demand.nowcast_of(signal), live.get(signal)
        if nowcast is None or known is None:
            return ()
        largest = nowcast.largest_at(demand.level, now, _largest_median(demand, s, i, now), known)
        carry = demand.carry[s]
        least = float(demand.least[s, i]) / carry
        found.append(Ahead(signal=signal, need=margin.asked(largest / carry), least=margin.asked(least)))
    return tuple(found)


def asked_ahead(told: tuple[Ahead, ...]) -> float:
    """The replicas, fractional, that the neediest signal asks for."""
    return max(max(signal.need, signal.least) for signal in told)


def may_lower(planned: Floor, policy: Policy) -> bool:
    """Whether live load may take a floor below the plan's: one that a person's window, bound, shape or expected growth set stands."""
    allowed = policy.blend.live_may_lower and policy.growth_ratio <= 1 and policy.shape is Shape.PROFILE
    return allowed and planned.reason.code in _FROM_FORECAST


def ahead_reasons(demand: Demand, told: tuple[Ahead, ...], planned: int) -> tuple[Reason, ...]:
    """Why the floor is not the plan's, if it is not."""
    most = max(told, key=lambda signal: max(signal.need, signal.least))
    asked = whole_replicas(asked_ahead(told))
    if asked == planned:
        return ()
    level, span_min = f"P{demand.level * 100:g}", demand.window_s / MINUTE_S
    detail = f"after its last minutes, {level} of {most.signal} over the next {span_min:g} min asks for {whole_replicas(most.need)}"
    if most.least > most.need:
        detail += f", and P{100 * LEAST_RATIO * demand.level:.0f} of the day as it was forecast for {asked}"
    code = Code.LIVE_ABOVE_PLAN if asked > planned else Code.LIVE_BELOW_PLAN
    return (Reason(code=code, detail=detail, before=planned, after=asked),)


def _largest_median(demand: Demand, s: int, i: int, now: datetime) -> float:
    """The largest median from now over the lead window. Within long buckets it runs straight from stamp to stamp."""
    width, medians = max(1, demand.window_s // demand.step_s), demand.expected[s]
    if demand.step_s <= FINEST_S:
        return float(medians[i : i + width].max())
    first = (epoch_s(now) - epoch_s(demand.start)) / demand.step_s
    last = first + steps_ahead(width, demand.step_s)
    ends = np.interp((first, last), np.arange(medians.size), medians)
    return float(max(ends.max(), medians[i + 1 : int(last) + 1].max(initial=0.0)))

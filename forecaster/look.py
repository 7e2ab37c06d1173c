"""Live load against the forecasts: what the last minutes need, how far they deviate, how long a lull has lasted."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from forecaster.ahead import seen_at
from forecaster.backlog import Backlog
from forecaster.decision import Observation
from forecaster.demand import Demand, carry_of
from forecaster.expected import as_it_was, expected_as_of_now, median_at, median_of
from forecaster.gains import LONG_S, SHORT_S
from forecaster.margin import Margin
from forecaster.nowcast import Seen
from forecaster.series import LOAD_SIGNALS, Floats, Series, Signal
from forecaster.units import MINUTE_S, epoch_s, whole_replicas
from forecaster.workload import Blend, Policy, Pool

RECENT_S = 3 * MINUTE_S
"""What live load needs now is judged over this span: one minute is noise, and noise is the reactive autoscaler's part."""
FRESH_S = 5 * MINUTE_S
"""Live load older than this (or than two of its buckets) is unknown."""
QUIET_RATIO = 0.05
"""Share of one replica's load added to both sides of a ratio, so that near-zero loads do not look like surges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalLook:
    """One load signal now: replicas needed by the last minutes, live over median forecast, and how far a lull has gone.

    need: fractional replicas, those of pools before this one included. ratio, long_ratio: over the last 15 and 120 minutes, None where no
    forecast covers them. lull_ratio: 0 no lull .. 1 the floor may have decayed fully. lull_need: as need, for the largest load of the lull.
    seen: what a nowcast wants to know, None where none was learned or too little was measured. fine: whether its buckets are short enough
    to be the last minutes, and not the last hour.
    """

    signal: Signal
    need: float
    ratio: float | None
    lull_ratio: float
    lull_need: float
    long_ratio: float | None = None
    seen: Seen | None = None
    fine: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What live load says, whatever the level of the plan. unknown: load signals that should be there and are not.

    queue_need: fractional replicas for the last minutes and the backlog, 0 without a measured queue. backlog: the same in parts, None
    where requests a minute are not known. margin: what of all of them is the pool's own, with the pools before it as they are now.
    """

    at: datetime
    signals: tuple[SignalLook, ...]
    unknown: tuple[str, ...]
    queue_need: float
    backlog: Backlog | None = None
    margin: Margin = field(default_factory=Margin)

    @property
    def known(self) -> bool:
        """Whether every load signal that has a capacity and is supplied was measured just now, and there is at least one."""
        return bool(self.signals) and not self.unknown

    @property
    def need(self) -> int | None:
        """Whole replicas that the last minutes ask for, backlog included; None when no signal is known."""
        if not self.signals:
            return None
        return whole_replicas(max(*(self.margin.asked(s.need) for s in self.signals), self.queue_need))


def look(observation: Observation, demands: tuple[Demand, ...], pool: Pool, policy: Policy) -> Look:
    """What live load says about a pool. `demands` are those of the plans in force over the last hours, oldest first.

    A load signal counts when the pool has a capacity for it. One that is not supplied has no opinion; one that is supplied but
    was not measured just now makes the load unknown.
    """
    signals, unknown = [], []
    for signal in LOAD_SIGNALS:
        live = observation.of(signal)
        if live is None or pool.capacity.of(signal) is None:
            continue
        live = live.known_at(observation.at)
        if _is_fresh(live, observation.at):
            signals.append(_look_at(live, demands, pool, policy, observation.at))
        else:
            unknown.append(str(signal))
    queue, backlog = _queue_need(observation, signals, pool, policy)
    found, missing = tuple(signals), tuple(unknown)
    return Look(at=observation.at, signals=found, unknown=missing, queue_need=queue, backlog=backlog, margin=pool.margin)


def _is_fresh(live: Series, now: datetime) -> bool:
    measured = np.flatnonzero(~np.isnan(live.mean))
    if measured.size == 0:
        return False
    last_end = live.start + timedelta(seconds=live.step_s * (int(measured[-1]) + 1))
    return (now - last_end).total_seconds() < max(FRESH_S, 2 * live.step_s)


def _look_at(live: Series, demands: tuple[Demand, ...], pool: Pool, policy: Policy, now: datetime) -> SignalLook:
    carry = carry_of(pool.capacity, live.signal, policy)
    load: Floats = live.mean * (pool.share_ratio * pool.caches.left(live.signal))
    quiet = QUIET_RATIO * carry
    times_s = live.times_s()
    ends = times_s + live.step_s
    measured = np.flatnonzero(~np.isnan(load))
    recent = load[measured][ends[measured] > ends[measured[-1]] - max(RECENT_S, live.step_s)]
    medians = tuple(median_of(demand, live.signal, times_s) for demand in demands)
    in_force = medians[-1] if medians else np.full(len(live), np.nan)
    expected = expected_as_of_now(demands, medians, len(live), live.signal, quiet, now)
    ratio, long_ratio = (
        _ratio(load[span], expected[span], live.step_s, quiet)
        for span in (ends > epoch_s(now) - max(span_s, live.step_s) for span_s in (SHORT_S, LONG_S))
    )
    fall = _fall(demands[-1:], live.signal, float(in_force[measured[-1]]) + quiet, quiet, now)
    lull_ratio, lull_load = _lull(load, as_it_was(medians, len(live)), live.step_s, quiet, policy.blend)
    nowcast = demands[-1].nowcast_of(live.signal) if demands else None
    return SignalLook(
        signal=live.signal,
        need=float(recent.mean()) * fall / carry,
        ratio=ratio,
        lull_ratio=lull_ratio,
        lull_need=lull_load / carry,
        long_ratio=long_ratio,
        seen=seen_at(nowcast, load, expected, ends, live.step_s, now) if nowcast is not None else None,
        fine=live.step_s <= FRESH_S,
    )


def _lately(live: Series) -> Floats:
    """The measured buckets of the last minutes, at least one where any was measured."""
    measured = np.flatnonzero(~np.isnan(live.mean))
    ends = live.times_s()[measured] + live.step_s
    lately: Floats = live.mean[measured][ends > ends[-1] - max(RECENT_S, live.step_s)]
    return lately


def _fall(demands: tuple[Demand, ...], signal: Signal, then: float, quiet: float, now: datetime) -> float:
    """How far the median forecast has fallen since the last measured bucket, 1 where it has not: an hourly mean lags an evening."""
    expected = median_at(demands[-1], signal, now) if demands else None
    return 1.0 if expected is None or np.isnan(then) else min(1.0, (expected + quiet) / then)


def _ratio(load: Floats, expected: Floats, step_s: int, quiet: float) -> float | None:
    """Live over median forecast; None with fewer measured and forecast minutes than the last ones."""
    both = ~np.isnan(load) & ~np.isnan(expected)
    if both.sum() * step_s < RECENT_S:
        return None
    return float((load[both].mean() + quiet) / (expected[both].mean() + quiet))


def _lull(load: Floats, expected: Floats, step_s: int, quiet: float, blend: Blend) -> tuple[float, float]:
    """How far a floor may have decayed, 0..1, and the lull's largest load. An unmeasured bucket ends the lull.

    A lull is a run of means over 15 minutes, since one noisy minute ends none; it is over at once when the last minutes say so.
    """
    surplus = load + quiet - blend.decay_ratio * (expected + quiet)  # below 0 = low
    last = int(np.flatnonzero(~np.isnan(load))[-1])
    recent, width = (max(1, int(span_s // step_s)) for span_s in (RECENT_S, SHORT_S))
    if not surplus[max(0, last + 1 - recent) : last + 1].sum() < 0:
        return 0.0, 0.0
    unmeasured = np.isnan(surplus[: last + 1])
    sums = np.convolve(np.where(unmeasured, 0.0, surplus[: last + 1]), np.ones(width))[: last + 1]
    breaks = np.flatnonzero(unmeasured | (sums >= 0))
    first = int(breaks[-1]) + 1 if breaks.size else 0
    progress = min(1.0, max(0.0, (last + 1 - first) * step_s / blend.decay_after_s - 1.0))
    span = load[max(first, last + 1 - int(blend.decay_after_s // step_s)) : last + 1]
    return progress, float(span.max(initial=0.0)) if progress > 0 else 0.0


def _queue_need(observation: Observation, signals: list[SignalLook], pool: Pool, policy: Policy) -> tuple[float, Backlog | None]:
    """Replicas that serve the last minutes' load and the backlog within `drain_s`, and its parts; 0 and None without a measured queue."""
    queue = observation.of(Signal.QUEUE_DEPTH)
    if queue is None or not _is_fresh(queue.known_at(observation.at), observation.at):
        return 0.0, None
    lately = _lately(queue.known_at(observation.at)) * pool.share_ratio
    depth, counted = float(lately[-1]), float(lately.mean()) if observation.counts_waiting else 0.0
    fill = {s.signal: depth / carry_of(pool.capacity, s.signal, policy) for s in signals}  # replicas' worth
    grown = max(0.0, 1.0 - counted / depth) if depth > 0 else 0.0  # a concurrency that counts what waits has its mean already
    least = max((s.need + (grown * fill[s.signal] if s.signal is Signal.CONCURRENCY else 0.0) for s in signals), default=0.0)
    need = next((s.need for s in signals if s.signal is Signal.RPM), None)
    if need is None:
        return pool.margin.asked(least), None
    work_s = fill[Signal.RPM] * MINUTE_S
    backlog = Backlog(need=need, work_s=work_s, drain_s=policy.blend.drain_s, least=least, margin=pool.margin)
    return backlog.asked, backlog

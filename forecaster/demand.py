"""Load to replicas, still fractional: what the forecast asks for, signal by signal."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np

from forecaster.caches import Hits
from forecaster.capacity import Capacity
from forecaster.forecast import Forecast
from forecaster.gains import Gains
from forecaster.leadtime import LeadTime
from forecaster.margin import Margin
from forecaster.nowcast import Nowcast
from forecaster.series import LOAD_SIGNALS, Floats, Signal, Window, check_grid, frozen_floats, reduce_frozen
from forecaster.units import check_level, check_positive, epoch_s
from forecaster.workload import Policy, Pool

LEAST_RATIO = 0.25
"""Of the level: P24 beside P95. Below that quantile of the forecast a quiet quarter of an hour is no reason to go (decision 13)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeakDemand:
    """The replicas, fractional, that one local day's peak asks for at the level, and the part of the day it speaks of."""

    day: date
    covers: Window
    replicas: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demand:
    """What a pool's share of the forecast load asks for, from `start` on.

    load[s, i]: signal s at `level`, the largest bucket mean over the lead window from bucket i. expected[s, i]: median of bucket
    i. expected_max[s, i]: median of the largest over the lead window. All in the signal's unit, shape (signals, n), after share,
    growth and what caches take by `hits`. carry[s]: what one replica takes of signal s, after efficiency and headroom. peaks: one a local
    day. window_s: how far ahead `load` looks: the longest lead time of the workload and one step. gains: how much of a deviation of live
    load lasts, one entry a signal, None = not learned; empty = of none. lead_time: where `lead_time_s` comes from, None = it was not kept.
    nowcasts: what live load says of the lead window, as `gains`. least[s, i]: the quantile at LEAST_RATIO x level of the largest over the
    lead window, below which live load alone lowers no floor; None = it was not kept. margin: what of it is the pool's own.
    """

    start: datetime
    step_s: int
    signals: tuple[Signal, ...]
    load: Floats = field(repr=False)
    expected: Floats = field(repr=False)
    expected_max: Floats = field(repr=False)
    carry: tuple[float, ...]
    peaks: tuple[PeakDemand, ...]
    level: float
    lead_time_s: float
    window_s: int
    model: str
    gains: tuple[Gains | None, ...] = ()
    lead_time: LeadTime | None = None
    nowcasts: tuple[Nowcast | None, ...] = ()
    least: Floats | None = field(default=None, repr=False)
    hits: Hits = field(default_factory=Hits)
    margin: Margin = field(default_factory=Margin)

    def __post_init__(self) -> None:
        check_grid(self.start, self.step_s)
        check_level("demand.level", self.level)
        for name in ("load", "expected", "expected_max"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=2, name=f"demand.{name}"))
        shape = (len(self.signals), self.load.shape[1])
        if self.least is not None:
            object.__setattr__(self, "least", frozen_floats(self.least, ndim=2, name="demand.least"))
        kept = (self.load, self.expected, self.expected_max, *(() if self.least is None else (self.least,)))
        if not self.signals or any(of.shape != shape for of in kept):
            msg = f"demand needs one row a signal in load, expected, expected_max and least, of one length, for {self.signals}"
            raise ValueError(msg)
        if len(self.carry) != len(self.signals) or any(len(of) not in {0, len(self.signals)} for of in (self.gains, self.nowcasts)):
            msg = "demand needs one carry a signal, and gains and nowcasts for each signal or for none"
            raise ValueError(msg)
        for signal, carry in zip(self.signals, self.carry, strict=True):
            check_positive(f"demand.carry of {signal}", carry, signal.unit)

    __reduce__ = reduce_frozen

    @property
    def end(self) -> datetime:
        """The end of the last step."""
        return self.start + timedelta(seconds=self.step_s * self.load.shape[1])

    def step_start(self, i: int) -> datetime:
        """When step i begins."""
        return self.start + timedelta(seconds=i * self.step_s)

    def index(self, instant: datetime) -> int | None:
        """The step that holds `instant`, None outside of the demand."""
        i = (epoch_s(instant) - epoch_s(self.start)) // self.step_s
        return i if 0 <= i < self.load.shape[1] else None

    def gains_of(self, signal: Signal) -> Gains | None:
        """How much of a deviation of a signal of this demand lasts, None = not learned."""
        return self.gains[self.signals.index(signal)] if self.gains else None

    def nowcast_of(self, signal: Signal) -> Nowcast | None:
        """What live load of a signal says of the lead window, None = not learned, or no signal of this demand."""
        return self.nowcasts[self.signals.index(signal)] if self.nowcasts and signal in self.signals else None

    def need_at(self, i: int) -> float:
        """Replicas, fractional, that the neediest signal asks for at step i, of pools before this one too."""
        needs: list[float] = [load / carry for load, carry in zip(self.load[:, i].tolist(), self.carry, strict=True)]
        return max(needs)

    @property
    def needs(self) -> Floats:
        """Replicas, fractional, for each signal, of pools before this one too; shape (signals, n)."""
        needs: Floats = self.load / np.asarray(self.carry)[:, None]
        return needs


def demand(forecasts: tuple[Forecast, ...], pool: Pool, policy: Policy) -> Demand | None:
    """The replicas that a pool needs for its share of the forecasts; None when no forecast signal has a capacity.

    Forecasts of signals without a capacity are left out. replicas = load x growth x headroom / (capacity x efficiency): growth
    never without the efficiency gained since capacity was measured. Raises ValueError when the forecasts differ in grid.
    """
    usable = sorted((f for f in forecasts if pool.capacity.of(f.signal) is not None), key=lambda f: LOAD_SIGNALS.index(f.signal))
    if not usable:
        return None
    first = usable[0]
    if any((f.start, f.step_s, len(f)) != (first.start, first.step_s, len(first)) for f in usable):
        msg = "forecasts of one workload must share one grid"
        raise ValueError(msg)
    scales = tuple(pool.share_ratio * policy.growth_ratio * pool.caches.left(f.signal) for f in usable)
    each = np.asarray(scales)[:, None]
    carry = tuple(carry_of(pool.capacity, f.signal, policy) for f in usable)
    return Demand(
        start=first.start,
        step_s=first.step_s,
        signals=tuple(f.signal for f in usable),
        load=np.stack([f.window_max_at(policy.level) for f in usable]) * each,
        expected=np.stack([f.at_level(0.5) for f in usable]) * each,
        expected_max=np.stack([f.window_max_at(0.5) for f in usable]) * each,
        carry=carry,
        peaks=_peaks(usable, carry, scales, policy.level),
        level=policy.level,
        lead_time_s=pool.lead_time.plan_s,
        window_s=first.window_s,
        model=first.model,
        gains=tuple(f.gains for f in usable),
        nowcasts=tuple(f.nowcast.times(scale) if f.nowcast is not None else None for f, scale in zip(usable, scales, strict=True)),
        least=np.stack([f.window_max_at(max(f.levels[0], LEAST_RATIO * policy.level)) for f in usable]) * each,
        lead_time=pool.lead_time,
        hits=pool.caches.hits,
        margin=pool.margin,
    )


def carry_of(capacity: Capacity, signal: Signal, policy: Policy) -> float:
    """What one replica takes of a signal once efficiency gains and headroom are counted. Raises ValueError without a capacity."""
    limit = capacity.of(signal)
    if limit is None:
        msg = f"no capacity is known for {signal}"
        raise ValueError(msg)
    return limit * policy.efficiency_ratio / policy.headroom_ratio


def _peaks(forecasts: list[Forecast], carry: tuple[float, ...], scales: tuple[float, ...], level: float) -> tuple[PeakDemand, ...]:
    """Per day, the signal whose peak asks for most."""
    largest: dict[date, PeakDemand] = {}
    for forecast, limit, scale in zip(forecasts, carry, scales, strict=True):
        for peak in forecast.daily_peaks:
            here = PeakDemand(day=peak.day, covers=peak.covers, replicas=peak.at_level(level) * scale / limit, at=peak.at)
            if peak.day not in largest or here.replicas > largest[peak.day].replicas:
                largest[peak.day] = here
    return tuple(largest[day] for day in sorted(largest))

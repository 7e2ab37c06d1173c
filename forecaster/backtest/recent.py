"""Every level under every target on a pool's own last days: its policy, capacity and lead time as they stand, on load that is believed."""

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from forecaster.backtest.floors import Line, floor_step_s
from forecaster.backtest.operating_point import Candidates, cheapest_pair, costs_of
from forecaster.backtest.rolling import forecasts
from forecaster.backtest.settings import Progress, Settings, silent
from forecaster.recommendation import Grid
from forecaster.savings import minutes_of
from forecaster.series import Floats, Series
from forecaster.simulate.choice import PRICES
from forecaster.simulate.fleet import Fleet, Outcome
from forecaster.simulate.trial import Trial
from forecaster.units import DAY_S, HOUR_S, MINUTE_S
from forecaster.workload import Mode, Policy, Pool

LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99)
"""Candidates: levels that every forecast of the line states, so that a plan can follow any of them."""
TARGETS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
_FLOORS_AT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Days:
    """What is replayed: the load of a whole workload, NaN where it is not believed, and one of its pools.

    first: the midnight (UTC) of the first replayed day, the load ends with the last. counts: whether each day is summed. lead_time_s: the
    workload's longest, on which its forecasts look ahead. also: pairs that are tried beside the candidates. price: of a late minute's
    work in minutes of a replica, None = the limit is asked for.
    """

    load: Series
    first: datetime
    counts: tuple[bool, ...]
    pool: Pool
    policy: Policy
    lead_time_s: float
    late_limit_ratio: float
    price: float | None = None
    also: tuple[tuple[float, float], ...] = field(default=())
    model: str = "ensemble"
    fallback: str = "seasonal_naive"
    history_s: int = 56 * DAY_S

    def __post_init__(self) -> None:
        if not any(self.counts) or self.first + timedelta(days=len(self.counts)) != self.load.end:
            msg = "days need one word each whether they count, at least one that does, and a load that ends with the last"
            raise ValueError(msg)

    @property
    def origins(self) -> tuple[datetime, ...]:
        """The midnights at which each day is forecast."""
        return tuple(self.first + timedelta(days=i) for i in range(len(self.counts)))

    @property
    def settings(self) -> Settings:
        """The same for the parts of a backtest."""
        return Settings(
            model=self.model,
            fallback=self.fallback,
            lead_time_s=self.lead_time_s,
            late_limit_ratio=self.late_limit_ratio,
            history_s=self.history_s,
            levels=tuple(sorted({*LEVELS, *(level for level, _ in self.also)})),
            targets=tuple(sorted({*TARGETS, *(target for _, target in self.also)})),
        )


def tried(days: Days, progress: Progress = silent) -> Grid:
    """What each pair would have cost, and how late it would have been, on the days that count.

    Raises NotEnoughHistory when nothing was measured before the first day, ValueError when the pool has no capacity for the load.
    """
    settings, line = days.settings, _line(days)
    progress(0.0, "forecasts")
    issued = tuple(forecasts(days.load, days.origins, settings))
    looked = line.days(issued, days.load)
    floors = []
    for i, level in enumerate(settings.levels):
        progress(_FLOORS_AT + (1 - _FLOORS_AT) * i / len(settings.levels), f"floors at level {level:g}")
        floors.append(line.floors(looked, [level] * len(looked)))
    candidates = Candidates(start=days.first, step_s=floor_step_s(days.load.step_s), levels=settings.levels, floors=np.stack(floors))
    trial = _trial(days, line)
    outcome = _only(trial.outcome(candidates.under(settings.targets, trial)), np.array(days.counts))
    shape = len(settings.levels), len(settings.targets)
    costs = costs_of(outcome, trial, PRICES if days.price is None else (days.price,)).reshape(shape)
    late_ratio = outcome.late_ratio.reshape(shape)
    return Grid(
        levels=settings.levels,
        targets=settings.targets,
        late_ratio=late_ratio,
        replica_hours=outcome.replica_hours.reshape(shape),
        cost_hours=costs * MINUTE_S / HOUR_S,
        days=sum(days.counts),
        best=_best(costs, late_ratio, days),
    )


def _best(costs: Floats, late_ratio: Floats, days: Days) -> tuple[int, int]:
    """The pair to recommend; where the one that costs least is late too often at every price, the cheapest that is in time, if any is."""
    found, in_time = cheapest_pair(costs), late_ratio <= days.late_limit_ratio
    if days.price is not None or in_time[found] or not in_time.any():
        return found
    level, target = np.unravel_index(int(np.where(in_time, costs, np.inf).argmin()), costs.shape)
    return int(level), int(target)


def _line(days: Days) -> Line:
    """The pool under its own policy; growth is for what is to come, and these days have been."""
    return Line(policy=replace(days.policy, mode=Mode.AUTO, growth_ratio=1.0), pool=days.pool)


def _trial(days: Days, line: Line) -> Trial:
    carry = days.pool.capacity.of(days.load.signal)
    if carry is None:
        msg = f"pool {days.pool.name} has no capacity for {days.load.signal}"
        raise ValueError(msg)
    before = days.pool.before * carry * line.policy.efficiency_ratio
    mean, peak = (np.maximum(0.0, of * days.pool.share_ratio - before) for of in (days.load.mean, days.load.peak))
    load = replace(days.load, mean=mean, peak=peak)
    lead_min = math.ceil(days.pool.lead_time.plan_s / MINUTE_S)
    return Trial(
        minutes=minutes_of(load),
        start=days.first,
        end=days.load.end,
        fleet=Fleet(replica_rpm=carry * line.policy.efficiency_ratio, lead_min=lead_min),
        late_limit_ratio=days.late_limit_ratio,
    )


def _only(outcome: Outcome, counts: NDArray[np.bool_]) -> Outcome:
    """The outcome of the days that count."""
    return replace(
        outcome,
        arrivals=outcome.arrivals[counts],
        late=outcome.late[:, counts],
        paid_min=outcome.paid_min[:, counts],
        changes=outcome.changes[:, counts],
    )

"""Which level and which autoscaler target to recommend: chosen together, by replay on the days before."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from forecaster.backtest.settings import Settings
from forecaster.simulate.baselines import hpa
from forecaster.simulate.choice import cheapest_in_time
from forecaster.simulate.fleet import Ints, Outcome, Policies
from forecaster.simulate.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """The pair that a person would set: the forecast's level and the utilisation at which the autoscaler above the floor aims."""

    level: float
    target: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """The floors of each candidate level from `start` (a UTC midnight) on, one a step, shape (levels, steps)."""

    start: datetime
    step_s: int
    levels: tuple[float, ...]
    floors: Ints = field(repr=False)

    def under(self, targets: tuple[float, ...], trial: Trial) -> Policies:
        """Every level under every target, level by level, on a trial that begins at `start`."""
        return Policies(
            targets=np.tile(targets, len(self.levels)),
            floors=np.repeat(self.floors, len(targets), axis=0).astype(np.float64),
            column=trial.steps(self.step_s),
        )


def choose_pair(trial: Trial, candidates: Candidates, targets: tuple[float, ...]) -> OperatingPoint:
    """The pair with the least replica-hours among those in time on a trial that begins where the candidates do."""
    best = trial.best(candidates.under(targets, trial))
    return OperatingPoint(level=candidates.levels[best // len(targets)], target=targets[best % len(targets)])


def operating_points(whole: Trial, first: datetime, candidates: Candidates, settings: Settings, level: float) -> tuple[OperatingPoint, ...]:
    """The pair for each day from `first` on: the target once, on the days before `first`; the level again each day, on the days before it.

    `level` stands where no day before `first` has a forecast; the autoscaler alone finds its target then.
    """
    early = (first - candidates.start).days
    if early:
        target = choose_pair(whole.between(candidates.start, first), candidates, settings.targets).target
    else:
        alone = whole.between(whole.minutes.start, first)
        target = settings.targets[alone.best(hpa(np.array(settings.targets), len(alone)))]
    trial = whole.between(candidates.start, whole.end)
    outcome = trial.outcome(candidates.under((target,), trial))
    limit = settings.late_limit_ratio * settings.caution_ratio
    chosen = (choose_level(outcome, day, settings.trailing_days, limit) for day in range(max(early, 1), outcome.arrivals.size))
    levels = [] if early else [level]
    return tuple(OperatingPoint(level=level, target=target) for level in (*levels, *(candidates.levels[row] for row in chosen)))


def choose_level(outcome: Outcome, day: int, trailing_days: int, late_limit_ratio: float) -> int:
    """The row with the least replica-hours among those in time on the days before `day`; one part of `outcome` is one day."""
    before = outcome.parts(max(0, day - trailing_days), day)
    return cheapest_in_time(before.late_ratio, before.replica_hours, late_limit_ratio)

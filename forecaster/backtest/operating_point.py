"""Which level and which autoscaler target to recommend: chosen together, by replay on the days before."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from forecaster.backtest.settings import Settings
from forecaster.series import Floats
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.simulate.baselines import hpa
from forecaster.simulate.choice import PRICES, price_in_time
from forecaster.simulate.fleet import Ints, Outcome, Policies
from forecaster.simulate.replay import replay
from forecaster.simulate.trial import Trial
from forecaster.units import DAY_S, MINUTE_S

_DAY_MIN = DAY_S // MINUTE_S
_DOUBT_DAYS = 3
_ALIKE = 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """The pair that a person would set: the forecast's level and the utilisation at which the autoscaler above the floor aims."""

    level: float
    target: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """The floors of each candidate level from `start` (a UTC midnight) on, one a step, shape (levels, steps).

    behavior: that of the autoscaler above them, None = the contract's.
    """

    start: datetime
    step_s: int
    levels: tuple[float, ...]
    floors: Ints = field(repr=False)
    behavior: HpaBehavior | None = None

    def under(self, targets: tuple[float, ...], trial: Trial) -> Policies:
        """Every level under every target, level by level, on a trial that begins at `start`."""
        return Policies(
            targets=np.tile(targets, len(self.levels)),
            floors=np.repeat(self.floors, len(targets), axis=0).astype(np.float64),
            column=trial.steps(self.step_s),
            behavior=self.behavior,
        )


def choose_pair(trial: Trial, candidates: Candidates, targets: tuple[float, ...]) -> OperatingPoint:
    """The pair that a trial recommends which begins where the candidates do; targets rise.

    Of pairs that cost nearly the same it is the one with the coolest autoscaler: that one depends least on us. All may be twice as late as
    the limit has it: levels are chosen again each day, and make up for a target that stays.
    """
    patient = replace(trial, late_limit_ratio=2 * trial.late_limit_ratio)
    costs = costs_of(trial.outcome(candidates.under(targets, trial)), patient).reshape(len(candidates.levels), len(targets))
    level, target = cheapest_pair(costs)
    return OperatingPoint(level=candidates.levels[level], target=targets[target])


def cheapest_pair(costs: Floats) -> tuple[int, int]:
    """The level and the target (rising, from cool to hot) to recommend by what each pair costs, shape (levels, targets)."""
    target = int(np.argmax(costs.min(axis=0) <= _ALIKE * costs.min()))
    return int(costs[:, target].argmin()), target


def operating_points(
    whole: Trial, candidates: Candidates, settings: Settings, known: Sequence[datetime], level: float
) -> tuple[OperatingPoint, ...]:
    """The pair for each day of `whole`: the target once, on the days before; the level again each day, on the days before it.

    known: for each of these days, the instant up to which load was known at its midnight; nothing after it is looked at. `level`
    stands until `least_days` have a forecast; where none has one the autoscaler alone finds its target.
    """
    if candidates.start < known[0]:
        target = choose_pair(whole.between(candidates.start, known[0]), candidates, settings.targets).target
    else:
        target = _target_alone(whole.between(whole.minutes.start, known[0]), candidates, settings.targets)
    trial = whole.between(candidates.start, whole.end)
    traffic = trial.minutes.traffic(trial.start, trial.end, known)
    outcome = replay(traffic, candidates.under((target,), trial), trial.fleet)
    points = []
    for day, until in enumerate(known, start=(whole.start - candidates.start).days):
        span = (max(0, day - settings.trailing_days) * _DAY_MIN, trial.minutes.index(until) - trial.first)
        first, last = np.searchsorted(traffic.edges, span)
        if first < last and day >= settings.least_days:
            level = candidates.levels[choose(outcome.parts(first, last), trial)]
        points.append(OperatingPoint(level=level, target=target))
    return tuple(points)


def _target_alone(before: Trial, candidates: Candidates, targets: tuple[float, ...]) -> float:
    """The target of an autoscaler without floors."""
    policies = replace(hpa(np.array(targets), len(before)), behavior=candidates.behavior)
    return targets[before.best(policies)]


def choose(outcome: Outcome, trial: Trial) -> int:
    """The row to recommend for the days after those of an outcome; see `price_in_time`.

    Fewer days have seen less of what may come: n of them are held to n / (n + 3) of the limit.
    """
    return int(costs_of(outcome, trial).argmin())


def costs_of(outcome: Outcome, trial: Trial, prices: tuple[float, ...] = PRICES) -> Floats:
    """What each policy costs in minutes of a replica, late work at its price, shape (policies,). prices: see `price_in_time`."""
    days = outcome.arrivals.size
    limit = trial.late_limit_ratio * days / (days + _DOUBT_DAYS)
    late_min, paid_min = outcome.late.sum(axis=1) / trial.fleet.replica_rpm, outcome.paid_min.sum(axis=1)
    costs: Floats = paid_min + price_in_time(outcome.late_ratio, late_min, paid_min, limit, prices) * late_min
    return costs

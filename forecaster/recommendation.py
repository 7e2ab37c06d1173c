"""Which level and which autoscaler target a pool should stand at: what replays of its own days found, and when that is acted upon.

| what the replay found                                          | what is recommended                                   |
|----------------------------------------------------------------|-------------------------------------------------------|
| another pair is in time and saves `gain_ratio` or more         | that one                                              |
| another pair is in time and saves less                         | the one that stands: numbers that move teach nobody   |
| the one that stands is late more often than the limit          | the other one, whatever it costs                      |
| no pair is in time                                             | the one that costs least at the dearest price         |
| both prices are configured                                     | the one that costs least at them, without a limit     |

What a pair costs is its replica-hours and its late work at a price: the configured one, or the lowest of a few at which the best
pair is in time (`forecaster.simulate.choice`).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forecaster.series import Floats, Window, frozen_floats
from forecaster.units import DAY_S, check_instant, check_level, check_not_negative, check_positive

LEAST_DAYS = 7
"""Replayed days before anything is recommended: fewer have not seen every weekday."""
MOST_DAYS = 28
"""The last so many days are replayed: older ones are of another service."""
_GROWN_RATIO = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is asked of a pair, and how often.

    late_limit_ratio: the share of requests that may be late. gain_ratio: what another pair must save to replace the one that stands.
    workloads: so many are replayed after a forecast at most, 0 = none but those that a person asks for.
    """

    late_limit_ratio: float = 0.001
    gain_ratio: float = 0.03
    every_s: float = 7 * DAY_S
    workloads: int = 2

    def __post_init__(self) -> None:
        check_not_negative("operating_point.late_limit_ratio", self.late_limit_ratio, "")
        check_not_negative("operating_point.gain_ratio", self.gain_ratio, "")
        check_positive("operating_point.every_s", self.every_s, "seconds")
        check_not_negative("operating_point.workloads", self.workloads, "workloads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One pair on the replayed days. target: utilisation that the autoscaler aims at. cost_hours: late work included, at its price."""

    level: float
    target: float
    late_ratio: float
    replica_hours: float
    cost_hours: float

    def __post_init__(self) -> None:
        check_level("pair.level", self.level)
        check_positive("pair.target", self.target, "of what a replica carries")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Every level under every target on the same days: late_ratio, replica_hours and cost_hours, shape (levels, targets).

    best: the row and column that a replay recommends where nothing stands.
    """

    levels: tuple[float, ...]
    targets: tuple[float, ...]
    late_ratio: Floats = field(repr=False)
    replica_hours: Floats = field(repr=False)
    cost_hours: Floats = field(repr=False)
    days: int
    best: tuple[int, int]

    def __post_init__(self) -> None:
        for name in ("late_ratio", "replica_hours", "cost_hours"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=2, name=f"grid.{name}"))
            if getattr(self, name).shape != (len(self.levels), len(self.targets)):
                msg = f"grid.{name} must have one row a level and one column a target"
                raise ValueError(msg)

    def at(self, level: float, target: float) -> Tried:
        """One pair. Raises ValueError where it was not tried."""
        i, j = self.levels.index(level), self.targets.index(target)
        return Tried(
            level=level,
            target=target,
            late_ratio=float(self.late_ratio[i, j]),
            replica_hours=float(self.replica_hours[i, j]),
            cost_hours=float(self.cost_hours[i, j]),
        )

    def pairs(self) -> tuple[Tried, ...]:
        """All of them, level by level."""
        return tuple(self.at(level, target) for level in self.levels for target in self.targets)

    def frontier(self) -> tuple[Tried, ...]:
        """Those than which none is at once as cheap and less late, the cheapest first."""
        found: list[Tried] = []
        for pair in sorted(self.pairs(), key=lambda pair: (pair.replica_hours, pair.late_ratio)):
            if not found or pair.late_ratio < found[-1].late_ratio:
                found.append(pair)
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What was recommended for a pool at an instant.

    since: the pair stands since then. covers: from the first replayed day to the last; days: those of them that counted. price: of a
    late minute's work in minutes of a replica, None = the limit was asked for. as_it_is: the pair that stood in production; aim: where its
    target is known from. level: the one to plan at now: that of the pair, or a higher one that the target as it is asks for, since a
    person may move it late or never. least_late_ratio: of all pairs. remedy: how the target is set.
    """

    at: datetime
    since: datetime
    covers: Window
    days: int
    late_limit_ratio: float
    price: float | None
    pair: Tried
    as_it_is: Tried
    level: float
    least_late_ratio: float
    aim: str
    remedy: str

    def __post_init__(self) -> None:
        check_instant("recommendation.at", self.at)
        check_instant("recommendation.since", self.since)
        check_positive("recommendation.days", self.days, "days")

    @property
    def in_time(self) -> bool:
        """Whether the pair keeps the limit, where one was asked for."""
        return self.price is not None or self.pair.late_ratio <= self.late_limit_ratio

    @property
    def saved_ratio(self) -> float | None:
        """Of replica-hours, or of costs where prices are known, against production as it is; below zero where the pair costs more."""
        name = "replica_hours" if self.price is None else "cost_hours"
        now = float(getattr(self.as_it_is, name))
        return 1 - float(getattr(self.pair, name)) / now if now > 0 else None

    @property
    def told(self) -> str:
        """The whole in one sentence, without the remedy."""
        pair, now = self.pair, self.as_it_is
        days = f"by replay of {self.days} days to {self.covers.end - timedelta(days=1):%Y-%m-%d}"
        late = f"{_percent(pair.late_ratio)} late instead of {_percent(now.late_ratio)}"
        against = f"{self._saved()} than as it is ({_pair(now)}), {late}"
        if (pair.level, pair.target) == (now.level, now.target):
            against = f"as it is, {_percent(pair.late_ratio)} late"
        unmet = f"; no pair keeps late requests within {_percent(self.late_limit_ratio)}, the least is {_percent(self.least_late_ratio)}"
        return f"{_pair(pair)}, {days}: {against}{'' if self.in_time else unmet}"

    def _saved(self) -> str:
        saved, what = self.saved_ratio, "replica-hours" if self.price is None else "cost"
        if saved is None:
            return f"other {what}"
        return f"{abs(saved):.1%} {('less' if saved >= 0 else 'more') if what == 'cost' else ('fewer' if saved >= 0 else 'more')} {what}"


def _pair(pair: Tried) -> str:
    return f"P{pair.level * 100:g} and HPA target {pair.target:.0%}"


def _percent(ratio: float) -> str:
    """Lateness is told in hundredths of a percent: 0.1 % is what most allow."""
    return f"{ratio * 100:.2f}%"


def settled(grid: Grid, standing: Recommendation | None, rules: Rules, price: float | None) -> Tried:
    """The pair to recommend after a replay; the table above says how."""
    best = grid.at(grid.levels[grid.best[0]], grid.targets[grid.best[1]])
    if standing is None:
        return best
    stands = grid.at(standing.pair.level, standing.pair.target)
    late = price is None and stands.late_ratio > rules.late_limit_ratio
    saves = best.cost_hours <= stands.cost_hours * (1 - rules.gain_ratio)
    return best if saves or (late and best.late_ratio < stands.late_ratio) else stands


def level_now(grid: Grid, pair: Tried, target: float, before: float | None, rules: Rules) -> float:
    """The level to plan at while the autoscaler aims at `target`, whatever it is recommended to aim at; never below that of the pair.

    before: the level that was planned at so far, which stands while another one at this target saves less than `gain_ratio`.
    """
    costs = grid.cost_hours[:, grid.targets.index(target)]
    best = int(costs.argmin())
    if before in grid.levels:
        stands = grid.levels.index(before)
        best = best if costs[best] <= costs[stands] * (1 - rules.gain_ratio) else stands
    return max(pair.level, grid.levels[best])


def is_due(last: datetime | None, days: int, rules: Rules, now: datetime) -> bool:
    """Whether a pool is replayed again: after `every_s`, or sooner while its history has grown by a quarter of the days that were replayed.

    last: when it was looked at, None = never; days: how many counted then, 0 = too few.
    """
    if last is None:
        return True
    grown = timedelta(days=max(1, days * _GROWN_RATIO)) if days < MOST_DAYS else timedelta(seconds=rules.every_s)
    return now >= last + min(grown, timedelta(seconds=rules.every_s))

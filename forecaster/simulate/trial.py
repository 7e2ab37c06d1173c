"""A stretch of recorded traffic on which policies are tried with one fleet."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from forecaster.simulate.choice import cheapest_in_time
from forecaster.simulate.fleet import Fleet, Ints, Outcome, Policies
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.replay import replay
from forecaster.units import MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """The minutes [start, end) of a record, and the fleet that serves them.

    late_limit_ratio: more late requests are too many. step_s: the step of the replay, which divides a minute.
    """

    minutes: MinuteLoad = field(repr=False)
    start: datetime
    end: datetime
    fleet: Fleet
    late_limit_ratio: float
    step_s: int = MINUTE_S

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.last <= len(self.minutes):
            msg = "a trial needs at least one minute, all of them recorded"
            raise ValueError(msg)

    @property
    def first(self) -> int:
        """The record's minute that is replayed first."""
        return self.minutes.index(self.start)

    @property
    def last(self) -> int:
        """The record's minute before which the replay ends."""
        return self.minutes.index(self.end)

    def __len__(self) -> int:
        return self.last - self.first

    def between(self, start: datetime, end: datetime) -> Self:
        """The same fleet on another stretch of the record."""
        return replace(self, start=start, end=end)

    def steps(self, step_s: int) -> Ints:
        """For each minute, the step of a grid from `start` in which it begins, shape (minutes,)."""
        return self.minutes.steps(self.start, step_s)[: len(self)]

    def outcome(self, policies: Policies, *, waits: bool = False) -> Outcome:
        """What comes of each policy, of one column a minute, summed by UTC day; waits: and how long requests wait."""
        traffic = self.minutes.traffic(self.start, self.end, step_s=self.step_s)
        return replay(traffic, policies.each_for(traffic.per_minute), self.fleet, waits=waits)

    def best(self, policies: Policies) -> int:
        """The row that costs least among those in time."""
        return self.cheapest(self.outcome(policies))

    def cheapest(self, outcome: Outcome) -> int:
        """The row of an outcome that costs least among those in time."""
        return cheapest_in_time(outcome.late_ratio, outcome.replica_hours, self.late_limit_ratio)

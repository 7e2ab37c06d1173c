"""Demand to floors: replicas rounded up once, for every instant until the plan's end."""

from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from forecaster.demand import Demand
from forecaster.reasons import Reason
from forecaster.units import check_instant, check_named, check_not_negative, iso


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
    review, or a change beyond the envelope), whatever the mode.
    """

    workload: str
    pool: str
    issued_at: datetime
    valid_until: datetime
    floors: tuple[Floor, ...]
    demand: Demand | None = field(repr=False)
    reasons: tuple[Reason, ...] = ()
    held: bool = False

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
        return next((floor for floor in self.floors if floor.start <= instant < floor.until), None)

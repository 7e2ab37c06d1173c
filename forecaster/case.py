"""All that one decision rests on."""

from dataclasses import dataclass
from datetime import datetime

from forecaster.approval import InForce
from forecaster.claim import Room
from forecaster.correct import Correction
from forecaster.decision import Decision, Ruling, Seen
from forecaster.overdue import Due, Overdue, StandIn, due_of, overdue
from forecaster.plan import Plan
from forecaster.roles import Beside
from forecaster.series import Series
from forecaster.units import iso
from forecaster.workload import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that a decision rests on.

    recent: the decisions for this target in force over the last `hold_s`, oldest first, in the present mode, led by the last one
    before that span; empty at adoption. A decision stands for every instant until the next one.
    conditions: the `hold_when` queries over the last `hold_when_expiry_s`. sizable: whether a capacity is known for any load that is
    asked for; without one nothing can be said of what the load needs.
    past: the decisions over the last hour and lead time, as `recent` has them. ahead_s: how much earlier than the plan says this target is
    asked. stands_in: what it makes up for in another pool. left: what stood on the object after our last turn, None where that is not
    known. issued: the plans of the last hours, whatever became of them. room: what a budget leaves for raises by live load; beside: what
    the pool of the other role asked for.
    """

    now: datetime
    workload: str
    pool: str
    policy: Policy
    in_force: InForce
    correction: Correction
    seen: Seen
    recent: tuple[Decision, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    conditions: tuple[tuple[str, Series], ...] = ()
    sizable: bool = True
    past: tuple[Decision, ...] = ()
    ahead_s: float = 0.0
    stands_in: StandIn | None = None
    left: Decision | None = None
    issued: tuple[Plan, ...] = ()
    room: Room | None = None
    beside: Beside | None = None

    @property
    def last(self) -> int:
        """The floor that stands: the last one decided, at adoption the one that was found."""
        return self.recent[-1].floor if self.recent else self.seen.floor

    @property
    def fallback(self) -> int:
        """The floor when nothing is known."""
        return self.seen.original if self.policy.fallback is None else self.policy.fallback

    @property
    def is_shared(self) -> bool:
        """Whether the expiry on the object is to come and was never one of ours: another installation writes it."""
        seen = self.seen.valid_until
        if seen is None or seen <= self.now or self.left is None:
            return False
        # a run that was cut short after its write left no decision, and an API that takes its time shows what stood before
        plans = (self.in_force.plan, *self.issued)
        ours = [self.left.valid_until, *(decision.valid_until for decision in self.past), *(p.valid_until for p in plans if p is not None)]
        return iso(seen) not in map(iso, ours)

    @property
    def due(self) -> Due | None:
        """What should be ready by now; None where no lead time is known."""
        plan = self.in_force.plan
        lead_s = None if plan is None or plan.demand is None else plan.demand.lead_time_s
        return None if lead_s is None else due_of(self.past, lead_s + self.ahead_s, self.now)

    @property
    def overdue(self) -> Overdue | None:
        """What of it is not."""
        return overdue(self.due, self.seen)

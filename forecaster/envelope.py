"""How far the fleet's plan may change at once before a person is asked, even in mode `auto`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.units import DAY_S, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Limits on one planning cycle against the plans in force; None = no limit.

    replicas_ratio: change of the fleet's planned replica-hours over the next day, as a share of those in force. workloads: how many
    pools may change by more than that share.
    """

    replicas_ratio: float | None = 0.5
    workloads: int | None = None

    def __post_init__(self) -> None:
        for name in ("replicas_ratio", "workloads"):
            value = getattr(self, name)
            if value is not None:
                check_positive(f"envelope.{name}", value, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """How a new plan changes what its pool follows, in replica-hours over the next day as far as both plans reach.

    before: None = there is no plan to compare with. unanswered: the plan made last was held and got no approval.
    """

    before: float | None
    after: float
    unanswered: bool

    @property
    def change(self) -> float:
        """Replica-hours more or less."""
        return abs(self.after - self.before) if self.before is not None else 0.0

    @property
    def ratio(self) -> float:
        """The same as a share of those before."""
        return self.change / self.before if self.before else 0.0


def move(old: Plan | None, new: Plan, now: datetime, *, unanswered: bool) -> Move:
    """From the last plan of the pool that was followed, expired or not, to its new one."""
    if old is None:
        return Move(before=None, after=0.0, unanswered=unanswered)
    before, after = _replica_hours(old, new, now)
    return Move(before=before, after=after, unanswered=unanswered)


def beyond(moves: Sequence[Move], envelope: Envelope) -> tuple[str, ...]:
    """Why each new plan of a fleet is held, empty where it is not: those that change are when the fleet would change beyond the envelope.

    A pool without a plan to compare with passes: its first plan starts from the floor that was found, under hold, limits and bounds. But
    silence is no consent: an unanswered pool without one stays held. Live load still raises the floor of a held plan's pool.
    """
    before = sum(made.before or 0.0 for made in moves)
    ratio = sum(made.change for made in moves) / before if before else 0.0
    limit = envelope.replicas_ratio
    moved = sum(made.ratio > (limit or 0.0) for made in moves)
    broken = []
    if limit is not None and ratio > limit:
        broken.append(f"the fleet's planned replica-hours change by {ratio:.0%}, the envelope is {limit:.0%}")
    if envelope.workloads is not None and moved > envelope.workloads:
        broken.append(f"{moved} pools change at once, the envelope is {envelope.workloads}")
    return tuple(_why(made, broken) for made in moves)


def held(plan: Plan, why: str) -> Plan:
    """The plan, waiting for an approval where there is a reason for that."""
    return replace(plan, held=True, reasons=(*plan.reasons, Reason(code=Code.ENVELOPE, detail=why))) if why else plan


def _why(made: Move, broken: list[str]) -> str:
    if made.before is None and made.unanswered:
        return "the plan before it was held and nobody has approved one since"
    return " and ".join(broken) if made.ratio else ""


def _replica_hours(old: Plan, new: Plan, now: datetime) -> tuple[float, float]:
    """Planned replica-hours of both over the part of the next day that both cover."""
    end = min(now + timedelta(seconds=DAY_S), old.floors[-1].until, new.floors[-1].until)
    start = max(now, old.floors[0].start, new.floors[0].start)
    return old.replica_hours(start, end), new.replica_hours(start, end)

"""A backlog over its drain time, and what replicas that are on their way will serve of it.

With x replicas' worth of load arriving, a backlog of w replica-seconds and n replicas ready, all from the load itself:

    asked = x + w / drain                               what the last minutes and the backlog need
    w(L)  = max(0, w + the sum over the lead time of (x - ready(t)))      the backlog when a replica asked for now is ready
    again = x + w(L) / drain                            what is still to be asked for, never above `asked`

| replicas that are pending                 | the floor becomes                                                     |
|-------------------------------------------|-----------------------------------------------------------------------|
| none, or of unknown age                   | asked                                                                 |
| ready within the drain time, and enough   | those that are ready or on time, since none of them is called back     |
| ready within the drain time, too few      | again, and at least those                                             |
| later than the drain time                 | asked                                                                 |
| overdue, and more than a tenth of those   | what stands: the backlog grows since nodes do not come, and asking    |
| that are ready                            | for more brings none                                                  |

A floor counts the whole fleet, pending replicas included, so it is never the number that runs times anything.
"""

from dataclasses import dataclass, field

from forecaster.margin import Margin
from forecaster.units import check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Requests that wait, in what one replica serves in a second, and the load beside them in replicas, fractional.

    least: replicas, fractional, that are asked for whatever is on its way. All of them are for the load of all pools that one queue stands
    before; margin: what of it is the pool's own, in which the replicas before it serve the backlog too.
    """

    need: float
    work_s: float
    drain_s: float
    least: float = 0.0
    margin: Margin = field(default_factory=Margin)

    def __post_init__(self) -> None:
        check_not_negative("backlog.need", self.need, "replicas")
        check_not_negative("backlog.work_s", self.work_s, "replica-seconds")
        check_positive("backlog.drain_s", self.drain_s, "seconds")

    @property
    def asked(self) -> float:
        """Replicas, fractional, that serve the load and the backlog within the drain time."""
        return self.margin.asked(max(self.least, self.need + self.work_s / self.drain_s))

    def asked_beside(self, ready: int, due_s: tuple[float, ...], lead_s: float) -> float:
        """Replicas, fractional, to be asked for beside those that will be ready in `due_s` seconds each; at most `asked`.

        due_s: below 0 = overdue. lead_s: until a replica asked for now is ready.
        """
        timely = [due for due in due_s if 0 <= due <= min(self.drain_s, lead_s)]
        if not timely:
            return self.asked
        left = self._left_s(ready + self.margin.before, timely, lead_s)
        own = self.margin.asked(max(self.least, self.need + left / self.drain_s))
        return min(self.asked, max(own, float(ready + len(timely))))

    def _left_s(self, ready: float, timely: list[float], lead_s: float) -> float:
        """The backlog a lead time from now, in replica-seconds, while the timely ones come one by one."""
        left, since, serving = self.work_s, 0.0, ready
        for until in (*sorted(timely), lead_s):
            left = max(0.0, left + (self.need - serving) * (until - since))
            since, serving = until, serving + 1
        return left


def dues_s(ready: int, pending: int, asked: tuple[tuple[float, int], ...], lead_s: float) -> tuple[float, ...]:
    """Seconds until each pending replica is ready that our own floors asked for; those of unknown age are left out.

    asked: (age in seconds, floor) of the decisions in force until now, oldest first. The replica that makes the fleet n was asked for
    when floors of at least n began to stand.
    """
    found = []
    for n in range(ready + 1, ready + pending + 1):
        age_s: float | None = None
        for age, floor in reversed(asked):
            if floor < n:
                break
            age_s = age
        if age_s is None:
            break
        found.append(lead_s - age_s)
    return tuple(found)


def are_stuck(due_s: tuple[float, ...], ready: int) -> bool:
    """Whether so many replicas are overdue that more would not come either; a single broken one is no shortage."""
    return sum(due < 0 for due in due_s) > max(1, ready // 10)

"""What came of the requests, in sum and for each tenant and class, and what the fleet cost."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forecaster.cost import Prices, cost
from forecaster.series import Floats
from forecaster.simulate.requests.arrivals import Priority, Requests
from forecaster.simulate.requests.gateway import Fate
from forecaster.units import HOUR_S, MINUTE_S, check_not_negative

_LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """By when the service of a request must begin.

    slo_s: seconds after its arrival. None = within its minute, or within `grace_s` of its arrival where that is later: the meaning of
    the minute-wise replay, to which the last instants of a minute are as good as the first.
    """

    slo_s: float | None = None
    grace_s: float = 1.0

    def __post_init__(self) -> None:
        if self.slo_s is not None:
            check_not_negative("deadline.slo_s", self.slo_s, "seconds")
        check_not_negative("deadline.grace_s", self.grace_s, "seconds")

    def of(self, at_s: Floats) -> Floats:
        """The deadline of each arrival, shape of the arrivals."""
        if self.slo_s is not None:
            return at_s + self.slo_s
        end: Floats = (np.floor(at_s / MINUTE_S) + 1) * MINUTE_S
        return np.maximum(end, at_s + self.grace_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of some requests.

    offered = refused (over the tenant's quota) + shed (the breaker was open) + timed_out (the sender gave up) + broken_off (the replica
    left during service) + served (service began and went on) + waiting (at the end). late: of all but the refused, those whose service
    did not begin by the deadline, or was broken off; who waits at the end counts once the deadline has passed. Waits are those of
    the served, NaN where none was.
    """

    offered: int
    refused: int
    shed: int
    timed_out: int
    broken_off: int
    served: int
    waiting: int
    late: int
    wait_p50_s: float
    wait_p95_s: float
    wait_p99_s: float

    @property
    def late_ratio(self) -> float:
        """Late requests over those that were not refused, 0 where there was none."""
        accepted = self.offered - self.refused
        return self.late / accepted if accepted else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What came of a replay.

    total: all requests. groups: those of each tenant and class that sent any. replica_hours: from request to end, draining included.
    changes: minutes in which the fleet wanted differs from the minute before. breaker_opened: how often. cost: in the prices' currency,
    None without prices. began_s: when the service of each request began, NaN = never, shape (requests,). fate: values of `Fate`, likewise.
    """

    total: Tally
    groups: dict[tuple[str, Priority], Tally]
    replica_hours: float
    changes: int
    breaker_opened: int
    cost: float | None
    began_s: Floats = field(repr=False)
    fate: NDArray[np.uint8] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ledger:
    """What a run left behind, before it is summed up."""

    requests: Requests
    began_s: Floats
    fate: NDArray[np.uint8]
    paid_s: float
    changes: int
    breaker_opened: int


def summed_up(ledger: Ledger, deadline: Deadline, prices: Prices | None) -> Outcome:
    """The outcome of a run."""
    requests, fate = ledger.requests, ledger.fate
    due_s = deadline.of(requests.at_s)
    in_time = ledger.began_s <= due_s
    undecided = (fate == Fate.WAITING) & (due_s > requests.minutes * MINUTE_S)
    late = (fate == Fate.BROKEN_OFF) | ~(in_time | undecided | (fate == Fate.REFUSED))
    wait_s = np.maximum(ledger.began_s - requests.at_s, 0.0)
    total = _tally(fate, late, wait_s)
    hours = ledger.paid_s / HOUR_S
    groups = {
        (name, priority): _tally(fate[chosen], late[chosen], wait_s[chosen])
        for tenant, name in enumerate(requests.tenants)
        for priority in Priority
        if (chosen := (requests.tenant == tenant) & (requests.priority == priority)).any()
    }
    return Outcome(
        total=total,
        groups=groups,
        replica_hours=hours,
        changes=ledger.changes,
        breaker_opened=ledger.breaker_opened,
        cost=None if prices is None else cost(hours, float(total.late), prices),
        began_s=ledger.began_s,
        fate=fate,
    )


def _tally(fate: NDArray[np.uint8], late: NDArray[np.bool_], wait_s: Floats) -> Tally:
    count = np.bincount(fate, minlength=len(Fate)).tolist()
    waits = wait_s[fate == Fate.SERVED]
    p50, p95, p99 = np.quantile(waits, _LEVELS).tolist() if waits.size else [np.nan] * len(_LEVELS)
    return Tally(
        offered=fate.size,
        refused=count[Fate.REFUSED],
        shed=count[Fate.SHED],
        timed_out=count[Fate.TIMED_OUT],
        broken_off=count[Fate.BROKEN_OFF],
        served=count[Fate.SERVED],
        waiting=count[Fate.WAITING],
        late=int(late.sum()),
        wait_p50_s=p50,
        wait_p95_s=p95,
        wait_p99_s=p99,
    )

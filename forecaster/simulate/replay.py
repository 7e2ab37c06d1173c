"""The replay itself: one meaning, two loops, since a call into numpy costs as much as ten steps of plain Python."""

from collections.abc import Sequence

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.fleet import ROUNDING, Fleet, Outcome, Policies, Traffic, replicas_for

_FEW = 12
"""Up to so many policies, a plain loop each (0.05 s for 80,640 minutes on one core) is faster than one loop over numpy rows (0.7 s)."""


def replay(traffic: Traffic, policies: Policies, fleet: Fleet) -> Outcome:
    """What comes of each policy on this traffic; see `forecaster.simulate.fleet` for the rules.

    Raises ValueError when `policies.column` does not name one column a minute.
    """
    if policies.column.shape != traffic.rpm.shape:
        msg = f"policies.column must have one entry a minute, got {policies.column.size} for {traffic.rpm.size} minutes"
        raise ValueError(msg)
    return one_by_one(traffic, policies, fleet) if len(policies) <= _FEW else all_at_once(traffic, policies, fleet)


def one_by_one(traffic: Traffic, policies: Policies, fleet: Fleet) -> Outcome:
    """`replay` with one plain loop a policy."""
    wishes, start = _beginning(traffic, policies, fleet)
    rows = [
        _follow(
            traffic=traffic,
            floors=np.maximum(policies.floors[p], 1.0)[policies.column].tolist(),
            fleet=fleet,
            wish_per_request=float(_wish_per_request(policies, fleet)[p]),
            wishes=wishes[:, p].tolist(),
            start=float(start[p]),
        )
        for p in range(len(policies))
    ]
    late, paid_min, changes, backlog = (np.array(column) for column in zip(*rows, strict=True))
    return Outcome(arrivals=_arrivals(traffic), late=late, paid_min=paid_min, changes=changes, backlog=backlog)


def all_at_once(traffic: Traffic, policies: Policies, fleet: Fleet) -> Outcome:
    """`replay` with one loop over the minutes, each step a row of all policies."""
    n, parts = len(policies), traffic.edges.size - 1
    recent_wishes, wanted = _beginning(traffic, policies, fleet)
    recent_wanted = np.tile(wanted, (fleet.lead_min + 1, 1))
    floors = np.ascontiguousarray(np.maximum(policies.floors, 1.0).T)
    wish_per_request = _wish_per_request(policies, fleet)
    backlog, previous, scratch = np.zeros(n), wanted.copy(), np.empty(n)
    changed = np.empty(n, dtype=bool)
    late, paid_min, changes = np.zeros((parts, n)), np.zeros((parts, n)), np.zeros((parts, n))
    load, column = traffic.rpm.tolist(), policies.column.tolist()
    for part in range(parts):
        for t in range(int(traffic.edges[part]), int(traffic.edges[part + 1])):
            wanted = recent_wanted[t % (fleet.lead_min + 1)]
            np.maximum.reduce(recent_wishes, axis=0, out=wanted)
            np.maximum(wanted, floors[column[t]], out=wanted)
            paid_min[part] += wanted
            np.not_equal(wanted, previous, out=changed)
            changes[part] += changed
            previous[:] = wanted
            np.minimum.reduce(recent_wanted, axis=0, out=scratch)
            scratch *= -fleet.replica_rpm
            scratch += load[t]
            backlog += scratch
            np.maximum(backlog, 0.0, out=backlog)
            np.minimum(backlog, load[t], out=scratch)
            late[part] += scratch
            np.add(backlog, load[t], out=scratch)
            scratch *= wish_per_request
            np.ceil(scratch, out=recent_wishes[t % fleet.memory_min])
    return Outcome(arrivals=_arrivals(traffic), late=late.T, paid_min=paid_min.T, changes=changes.T, backlog=backlog)


def _follow(
    *, traffic: Traffic, floors: Sequence[float], fleet: Fleet, wish_per_request: float, wishes: list[float], start: float
) -> tuple[list[float], list[float], list[float], float]:
    """Late requests, replica-minutes and changes of one policy in each part, and the backlog at the end."""
    rpm, lead, memory, load = fleet.replica_rpm, fleet.lead_min + 1, fleet.memory_min, traffic.rpm.tolist()
    recent, previous, backlog = [start] * lead, start, 0.0
    late, paid_min, changes = [], [], []
    for first, last in zip(traffic.edges[:-1].tolist(), traffic.edges[1:].tolist(), strict=True):
        part_late = part_paid = part_changes = 0.0
        for t in range(first, last):
            arrived = load[t]
            wanted = max(*wishes, floors[t])
            part_paid += wanted
            if wanted != previous:
                part_changes += 1
                previous = wanted
            recent[t % lead] = wanted
            backlog += arrived - min(recent) * rpm
            if backlog > 0.0:
                part_late += min(arrived, backlog)
            else:
                backlog = 0.0
            wishes[t % memory] = -((arrived + backlog) * wish_per_request // -1.0)
        late.append(part_late)
        paid_min.append(part_paid)
        changes.append(part_changes)
    return late, paid_min, changes, backlog


def _beginning(traffic: Traffic, policies: Policies, fleet: Fleet) -> tuple[Floats, Floats]:
    """The wishes of the minutes before the first, shape (memory, policies), and the replicas ready in it, shape (policies,)."""
    before = traffic.before_rpm[-fleet.memory_min :]
    before = np.concatenate([np.full(fleet.memory_min - before.size, before[0]), before])
    wishes = np.ceil(before[:, None] * _wish_per_request(policies, fleet))
    start = np.maximum(wishes.max(axis=0), 1.0) if policies.start is None else np.array(policies.start, dtype=np.float64)
    return wishes, start


def _wish_per_request(policies: Policies, fleet: Fleet) -> Floats:
    """Replicas wanted per request of a minute, 0 without an autoscaler; short of exact by ROUNDING, so that 6.000000000000001 is 6."""
    ratio: Floats = (1 - ROUNDING) / (fleet.replica_rpm * policies.targets)
    return ratio


def _arrivals(traffic: Traffic) -> Floats:
    arrivals: Floats = np.add.reduceat(traffic.rpm, traffic.edges[:-1])
    return arrivals


def clairvoyant_hours(rpm: Floats, fleet: Fleet) -> float:
    """Replica-hours of a fleet without cold starts that knows each minute's load: what nobody can undercut without being late."""
    return float(np.maximum(replicas_for(rpm, fleet.replica_rpm), 1.0).sum() / 60)

"""The replay itself: one meaning, two loops, since a call into numpy costs as much as ten steps of plain Python."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.fleet import ROUNDING, Fleet, Outcome, Policies, Traffic, replicas_for
from forecaster.simulate.kubernetes import ManyHpas, OneHpa
from forecaster.simulate.waits import waits_s

_FEW, _FEW_HPAS = 12, 20
"""Up to so many policies, a plain loop each (0.06 s for 80,640 minutes on one core, 0.13 s under a HPA) is faster than one loop over
numpy rows (0.7 s, 2.6 s)."""


def replay(traffic: Traffic, policies: Policies, fleet: Fleet, *, waits: bool = False) -> Outcome:
    """What comes of each policy on this traffic; see `forecaster.simulate.fleet` for the rules.

    waits: tell also how long requests wait, for which each policy takes a loop of its own. Raises ValueError when `policies.column`
    does not name one column a step.
    """
    if policies.column.shape != traffic.rpm.shape:
        msg = f"policies.column must have one entry a minute, got {policies.column.size} for {traffic.rpm.size} minutes"
        raise ValueError(msg)
    if waits or len(policies) <= (_FEW if policies.behavior is None else _FEW_HPAS):
        return one_by_one(traffic, policies, fleet, waits=waits)
    return all_at_once(traffic, policies, fleet)


def one_by_one(traffic: Traffic, policies: Policies, fleet: Fleet, *, waits: bool = False) -> Outcome:
    """`replay` with one plain loop a policy."""
    scene = _Scene.of(traffic, policies, fleet)
    rows = [_follow(scene, policies, p, watched=waits) for p in range(len(policies))]
    return Outcome(
        arrivals=_arrivals(traffic),
        late=np.array([row.late for row in rows]),
        paid_min=np.array([row.paid for row in rows]) / traffic.per_minute,
        changes=np.array([row.changes for row in rows]),
        backlog=np.array([row.left for row in rows]),
        wait_s=np.stack([row.waits_s(scene) for row in rows]) if waits else None,
    )


def all_at_once(traffic: Traffic, policies: Policies, fleet: Fleet) -> Outcome:
    """`replay` with one loop over the steps, each a row of all policies."""
    scene = _Scene.of(traffic, policies, fleet)
    n, parts, per_minute = len(policies), traffic.edges.size - 1, traffic.per_minute
    hpas = None if policies.behavior is None else ManyHpas(policies.behavior, traffic.step_s, scene.start, scene.needs)
    recent_wishes, recent_wanted = scene.wishes, np.tile(scene.start, (scene.kept, 1))
    floors = np.ascontiguousarray(np.maximum(policies.floors, 1.0).T)
    backlog, previous, ready, scratch = np.zeros(n), scene.start.copy(), scene.start.copy(), np.empty(n)
    changed, need = np.empty(n, dtype=bool), scene.needs[-1]
    late, paid, changes = np.zeros((parts, n)), np.zeros((parts, n)), np.zeros((parts, n))
    arrivals, seen, column = scene.arrivals, scene.seen, policies.column.tolist()
    for part in range(parts):
        for t in range(int(traffic.edges[part]), int(traffic.edges[part + 1])):
            wanted = recent_wanted[t % scene.kept]
            if hpas is None:
                np.maximum.reduce(recent_wishes, axis=0, out=wanted)
                np.maximum(wanted, floors[column[t]], out=wanted)
            else:
                wanted[:] = hpas.replicas(floors[column[t]], ready, need)
            paid[part] += wanted
            np.not_equal(wanted, previous, out=changed)
            changes[part] += changed
            previous[:] = wanted
            np.minimum.reduce(recent_wanted, axis=0, out=ready)
            if scene.unready:
                newer = np.delete(recent_wanted, (t + 1) % scene.kept, axis=0).min(axis=0)
                ready += (1 - scene.unready) * (newer - ready)
            np.multiply(ready, -scene.per_replica, out=scratch)
            scratch += arrivals[t]
            backlog += scratch
            np.maximum(backlog, 0.0, out=backlog)
            if (t + 1) % per_minute == 0:
                np.minimum(backlog, seen[t], out=scratch)
                late[part] += scratch
            np.add(backlog, seen[t], out=scratch)
            if hpas is None:
                scratch *= scene.per_request
                np.ceil(scratch, out=recent_wishes[t % scene.memory])
            else:
                need = (np.minimum(scratch, ready * fleet.replica_rpm) if scene.capped else scratch) * scene.per_request
    return Outcome(arrivals=_arrivals(traffic), late=late.T, paid_min=paid.T / per_minute, changes=changes.T, backlog=backlog)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scene:
    """What all policies of a replay share, in steps.

    arrivals: requests of each step; seen: those of the minute that ends with it. kept: steps that the fleet wanted is remembered
    for; unready: the share of the last of them in which what was requested at its start is not yet ready. wishes: of the steps before
    the first, shape (memory, policies); needs: the same without rounding up. start: replicas ready in the first, shape (policies,).
    per_request: replicas wanted per request of a minute, 0 without an autoscaler, shape (policies,). capped: the autoscaler sees no
    more than what is ready can serve.
    """

    traffic: Traffic = field(repr=False)
    fleet: Fleet
    arrivals: list[float] = field(repr=False)
    seen: list[float] = field(repr=False)
    per_replica: float
    kept: int
    unready: float
    memory: int
    wishes: Floats = field(repr=False)
    needs: Floats = field(repr=False)
    start: Floats
    per_request: Floats
    capped: bool

    @classmethod
    def of(cls, traffic: Traffic, policies: Policies, fleet: Fleet) -> Self:
        """The steps of a traffic as these policies and this fleet take them."""
        lead = fleet.lead_min * traffic.per_minute
        whole = math.floor(lead + ROUNDING)
        unready = lead - whole if lead - whole > ROUNDING else 0.0
        memory = fleet.memory_min * traffic.per_minute
        before = traffic.before_rpm[-memory:]
        before = np.concatenate([np.full(memory - before.size, before[0]), before])
        per_request = _per_request(policies, fleet)
        wishes = np.ceil(before[:, None] * per_request)
        start = np.maximum(wishes.max(axis=0), 1.0) if policies.start is None else np.array(policies.start, dtype=np.float64)
        return cls(
            traffic=traffic,
            fleet=fleet,
            arrivals=traffic.arrivals.tolist(),
            seen=traffic.last_minute.tolist(),
            per_replica=fleet.replica_rpm / traffic.per_minute,
            kept=whole + (2 if unready else 1),
            unready=unready,
            memory=memory,
            wishes=wishes,
            needs=before[:, None] * per_request,
            start=start,
            per_request=per_request,
            capped=policies.behavior is not None and policies.behavior.capped,
        )


@dataclass(slots=True, kw_only=True)
class _Row:
    """The books of one policy: of each part, at the end, and, where watched, of each step."""

    late: list[float] = field(default_factory=list)
    paid: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    left: float = 0.0
    ready: list[float] = field(default_factory=list)
    backlog: list[float] = field(default_factory=list)

    def waits_s(self, scene: _Scene) -> Floats:
        """The waits that the books come to."""
        return waits_s(np.array(scene.arrivals), np.array(self.ready) * scene.per_replica, np.array(self.backlog), scene.traffic.step_s)


def _follow(scene: _Scene, policies: Policies, policy: int, *, watched: bool) -> _Row:
    """The books of one policy."""
    books, traffic, behavior = _Row(), scene.traffic, policies.behavior
    floors = np.maximum(policies.floors[policy], 1.0)[policies.column].tolist()
    wishes, start, per_request = scene.wishes[:, policy].tolist(), float(scene.start[policy]), float(scene.per_request[policy])
    hpa = None if behavior is None else OneHpa(behavior, traffic.step_s, start, scene.needs[:, policy].tolist())
    arrivals, seen, kept, memory = scene.arrivals, scene.seen, scene.kept, scene.memory
    per_replica, unready, per_minute, rpm = scene.per_replica, scene.unready, traffic.per_minute, scene.fleet.replica_rpm
    recent, previous, ready, backlog = [start] * kept, start, start, 0.0
    need, capped = float(scene.needs[-1, policy]), scene.capped
    for first, last in zip(traffic.edges[:-1].tolist(), traffic.edges[1:].tolist(), strict=True):
        part_late = part_paid = part_changes = 0.0
        for t in range(first, last):
            wanted = max(*wishes, floors[t]) if hpa is None else hpa.replicas(floors[t], ready, need)
            part_paid += wanted
            if wanted != previous:
                part_changes += 1
                previous = wanted
            recent[t % kept] = wanted
            ready = min(recent) if not unready else _partly(recent, (t + 1) % kept, unready)
            backlog += arrivals[t] - ready * per_replica
            if backlog > 0.0:
                if (t + 1) % per_minute == 0:
                    part_late += min(seen[t], backlog)
            else:
                backlog = 0.0
            if hpa is None:
                wishes[t % memory] = -((seen[t] + backlog) * per_request // -1.0)
            else:
                load = seen[t] + backlog
                need = (min(load, ready * rpm) if capped else load) * per_request
            if watched:
                books.ready.append(ready)
                books.backlog.append(backlog)
        books.late.append(part_late)
        books.paid.append(part_paid)
        books.changes.append(part_changes)
    books.left = backlog
    return books


def _partly(recent: Sequence[float], oldest: int, unready: float) -> float:
    """Replicas that serve in a step, those of which the lead time ends in it for the rest of it only."""
    newer = min(*recent[:oldest], *recent[oldest + 1 :], math.inf)
    return newer - unready * (newer - min(newer, recent[oldest]))


def _per_request(policies: Policies, fleet: Fleet) -> Floats:
    """Replicas wanted per request of a minute, 0 without an autoscaler; short of exact by ROUNDING, so that 6.000000000000001 is 6."""
    ratio: Floats = (1 - ROUNDING) / (fleet.replica_rpm * policies.targets)
    return ratio


def _arrivals(traffic: Traffic) -> Floats:
    arrivals: Floats = np.add.reduceat(traffic.arrivals, traffic.edges[:-1])
    return arrivals


def clairvoyant_hours(rpm: Floats, fleet: Fleet) -> float:
    """Replica-hours of a fleet without cold starts that knows each minute's load: what nobody can undercut without being late."""
    return float(np.maximum(replicas_for(rpm, fleet.replica_rpm), 1.0).sum() / 60)

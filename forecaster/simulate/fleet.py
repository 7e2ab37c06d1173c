"""A fleet of replicas under a reactive autoscaler with a floor, minute by minute: what is late, and what it costs.

In minute t the fleet wanted is the larger of floor and autoscaler. Replicas are a stack: the newest is removed first, at
once, so what is ready in t has been wanted in every minute of [t - lead, t]. Ready replicas serve `replica_rpm` requests
each, first come first served, so what is still waiting at the end of the minute arrived last:

    backlog' = max(0, backlog + arrivals - ready x replica_rpm)         late = min(arrivals, backlog')
    wish     = ceil((arrivals + backlog') / (replica_rpm x target))     autoscaler(t) = largest wish of the last 5 minutes

| the fleet is                    | what follows                                                               |
|---------------------------------|----------------------------------------------------------------------------|
| above the load                  | nothing is late; the surplus is paid                                       |
| below it for a minute           | one minute's surplus is late, and the wish grows by the backlog            |
| below it for longer than `lead` | replicas wanted for the backlog arrive after it: the fleet overshoots      |
"""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats, frozen_floats
from forecaster.units import check_not_negative, check_positive

Ints = NDArray[np.int64]

ROUNDING = 1e-9
"""Relative: 6 replicas' load divided by a replica's is 6.000000000000001 and must not become 7."""


def replicas_for(load: Floats, replica_rpm: float) -> Floats:
    """The replicas that carry each load, rounded up, a load within 1e-9 of a whole number counting as that number."""
    whole: Floats = np.ceil(load * ((1 - ROUNDING) / replica_rpm))
    return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Replicas that serve `replica_rpm` requests a minute each, `lead_min` minutes after they were requested.

    memory_min: the autoscaler follows the highest of its last so many wishes.
    """

    replica_rpm: float
    lead_min: int = 10
    memory_min: int = 5

    def __post_init__(self) -> None:
        check_positive("fleet.replica_rpm", self.replica_rpm, "requests/min")
        check_not_negative("fleet.lead_min", self.lead_min, "minutes")
        check_positive("fleet.memory_min", self.memory_min, "minutes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """The load of each minute in RPM, shape (n,), and of the minutes just before, from which the autoscaler starts.

    edges: n_parts + 1 increasing minutes from 0 to n; outcomes are summed over each part [edges[k], edges[k + 1]).
    """

    before_rpm: Floats = field(repr=False)
    rpm: Floats = field(repr=False)
    edges: Ints = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("before_rpm", "rpm"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=1, name=f"traffic.{name}"))
            if not (np.isfinite(getattr(self, name)).all() and (getattr(self, name) >= 0).all()):
                msg = f"traffic.{name} must be finite and at least 0 requests/min"
                raise ValueError(msg)
        if not self.rpm.size or not self.before_rpm.size:
            msg = "traffic needs at least one minute, and one before it"
            raise ValueError(msg)
        if self.edges[0] != 0 or self.edges[-1] != self.rpm.size or (np.diff(self.edges) <= 0).any():
            msg = f"traffic.edges must increase from 0 to {self.rpm.size}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policies:
    """Ways to scale the same fleet, one a row.

    targets: utilisation that the autoscaler aims at, shape (policies,); infinite = there is no autoscaler. floors: replicas,
    shape (policies, columns). column: which column of `floors` is in force in each minute, shape (n,). start: replicas that
    are ready in the first minute; None = the autoscaler's own wish.
    """

    targets: Floats
    floors: Floats = field(repr=False)
    column: Ints = field(repr=False)
    start: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", frozen_floats(self.targets, ndim=1, name="policies.targets"))
        object.__setattr__(self, "floors", frozen_floats(self.floors, ndim=2, name="policies.floors"))
        if self.floors.shape[0] != self.targets.size:
            msg = f"policies need one row of floors a target, got {self.floors.shape[0]} for {self.targets.size}"
            raise ValueError(msg)
        if not (self.targets > 0).all():
            msg = "policies.targets must be above 0"
            raise ValueError(msg)
        if not np.isfinite(self.floors).all():
            msg = "policies.floors must be finite"
            raise ValueError(msg)

    def __len__(self) -> int:
        return int(self.targets.size)

    def only(self, policy: int) -> Self:
        """One policy alone."""
        row = slice(policy, policy + 1)
        start = None if self.start is None else self.start[row]
        return replace(self, targets=self.targets[row], floors=self.floors[row], start=start)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What came of each policy in each part of the traffic; arrays have shape (policies, parts).

    arrivals: requests in each part, shape (parts,). late: requests not served in the minute of their arrival. paid_min:
    replica-minutes from request to removal. changes: minutes in which the fleet wanted differs from the minute before.
    backlog: requests that still wait at the end, shape (policies,).
    """

    arrivals: Floats
    late: Floats
    paid_min: Floats
    changes: Floats
    backlog: Floats

    @property
    def late_ratio(self) -> Floats:
        """Late requests over all requests, 0 where there was none, shape (policies,)."""
        total = float(self.arrivals.sum())
        ratio: Floats = self.late.sum(axis=1) / total if total > 0 else np.zeros(self.late.shape[0])
        return ratio

    @property
    def replica_hours(self) -> Floats:
        """Replica-hours paid over all parts, shape (policies,)."""
        hours: Floats = self.paid_min.sum(axis=1) / 60
        return hours

    def only(self, policy: int) -> Self:
        """The outcome of one policy."""
        row = slice(policy, policy + 1)
        return replace(
            self,
            late=self.late[row],
            paid_min=self.paid_min[row],
            changes=self.changes[row],
            backlog=self.backlog[row],
        )

    def parts(self, first: int, last: int) -> Self:
        """The outcome of the parts [first, last) alone; `backlog` stays that of the end."""
        return replace(
            self,
            arrivals=self.arrivals[first:last],
            late=self.late[:, first:last],
            paid_min=self.paid_min[:, first:last],
            changes=self.changes[:, first:last],
        )

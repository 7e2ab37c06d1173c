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

Steps may be finer than a minute. Then the wish still rests on the arrivals of the last 60 seconds, late is still what waits at the
end of the minute of its arrival, and a lead time that ends within a step adds the rest of that step's service. With a `behavior` the
autoscaler is a real one, a HPA; see `forecaster.simulate.kubernetes`.
"""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from forecaster.cost import Prices, cost
from forecaster.series import Floats, frozen_floats
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.units import HOUR_S, MINUTE_S, check_not_negative, check_positive

Ints = NDArray[np.int64]

ROUNDING = 1e-9
"""Relative: 6 replicas' load divided by a replica's is 6.000000000000001 and must not become 7."""

WAIT_LEVELS = (0.5, 0.95, 0.99)
"""The shares of requests whose waits are told."""


def replicas_for(load: Floats, replica_rpm: float) -> Floats:
    """The replicas that carry each load, rounded up, a load within 1e-9 of a whole number counting as that number."""
    whole: Floats = np.ceil(load * ((1 - ROUNDING) / replica_rpm))
    return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Replicas that serve `replica_rpm` requests a minute each, `lead_min` minutes after they were requested.

    memory_min: the autoscaler follows the highest of its wishes in the last so many minutes.
    """

    replica_rpm: float
    lead_min: float = 10
    memory_min: int = 5

    def __post_init__(self) -> None:
        check_positive("fleet.replica_rpm", self.replica_rpm, "requests/min")
        check_not_negative("fleet.lead_min", self.lead_min, "minutes")
        check_positive("fleet.memory_min", self.memory_min, "minutes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """The load of each step in RPM, shape (n,), and of the steps just before, from which the autoscaler starts.

    edges: n_parts + 1 increasing steps from 0 to n; outcomes are summed over each part [edges[k], edges[k + 1]). step_s divides a
    minute; parts are whole minutes.
    """

    before_rpm: Floats = field(repr=False)
    rpm: Floats = field(repr=False)
    edges: Ints = field(repr=False)
    step_s: int = MINUTE_S

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
        if self.step_s <= 0 or MINUTE_S % self.step_s or (self.edges % self.per_minute).any():
            msg = f"traffic.step_s must divide a minute, and traffic.edges lie on whole minutes, got {self.step_s} s"
            raise ValueError(msg)

    @property
    def per_minute(self) -> int:
        """Steps a minute."""
        return MINUTE_S // self.step_s

    @property
    def arrivals(self) -> Floats:
        """Requests of each step, shape (n,)."""
        requests: Floats = self.rpm / self.per_minute
        return requests

    @property
    def last_minute(self) -> Floats:
        """Requests of the 60 seconds that end with each step, shape (n,)."""
        if self.per_minute == 1:
            return self.rpm
        more = self.per_minute - 1
        before = np.concatenate([np.full(more, self.before_rpm[0]), self.before_rpm])[-more:]
        mean: Floats = sliding_window_view(np.concatenate([before, self.rpm]), self.per_minute).mean(axis=1)
        return mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policies:
    """Ways to scale the same fleet, one a row.

    targets: utilisation that the autoscaler aims at, shape (policies,); infinite = there is no autoscaler. floors: replicas,
    shape (policies, columns). column: which column of `floors` is in force in each step, shape (n,). start: replicas that
    are ready in the first step; None = the autoscaler's own wish. behavior: how the autoscaler goes about it; None = by the rules of
    `forecaster.simulate.fleet`.
    """

    targets: Floats
    floors: Floats = field(repr=False)
    column: Ints = field(repr=False)
    start: Floats | None = None
    behavior: HpaBehavior | None = None

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
        if self.start is not None and not (np.asarray(self.start) >= 1).all():
            msg = "policies.start must be at least 1 replica"
            raise ValueError(msg)

    def __len__(self) -> int:
        return int(self.targets.size)

    def each_for(self, steps: int) -> Self:
        """The same policies with each entry of `column` in force for so many steps."""
        return self if steps == 1 else replace(self, column=np.repeat(self.column, steps))

    def only(self, policy: int) -> Self:
        """One policy alone."""
        row = slice(policy, policy + 1)
        start = None if self.start is None else self.start[row]
        return replace(self, targets=self.targets[row], floors=self.floors[row], start=start)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What came of each policy in each part of the traffic; arrays have shape (policies, parts).

    arrivals: requests in each part, shape (parts,). late: requests not served in the minute of their arrival. paid_min:
    replica-minutes from request to removal. changes: steps in which the fleet wanted differs from the step before.
    backlog: requests that still wait at the end, shape (policies,). wait_s: what WAIT_LEVELS of all requests wait at most before they
    are served, shape (policies, levels); None where nobody asked.
    """

    arrivals: Floats
    late: Floats
    paid_min: Floats
    changes: Floats
    backlog: Floats
    wait_s: Floats | None = None

    @property
    def late_requests(self) -> Floats:
        """Late requests over all parts, shape (policies,)."""
        late: Floats = self.late.sum(axis=1)
        return late

    @property
    def late_ratio(self) -> Floats:
        """Late requests over all requests, 0 where there was none, shape (policies,)."""
        total = float(self.arrivals.sum())
        ratio: Floats = self.late_requests / total if total > 0 else np.zeros(self.late.shape[0])
        return ratio

    @property
    def replica_hours(self) -> Floats:
        """Replica-hours paid over all parts, shape (policies,)."""
        hours: Floats = self.paid_min.sum(axis=1) / (HOUR_S // MINUTE_S)
        return hours

    def cost(self, prices: Prices) -> Floats:
        """What the replica-hours and the late requests cost together, shape (policies,)."""
        return cost(self.replica_hours, self.late_requests, prices)

    def only(self, policy: int) -> Self:
        """The outcome of one policy."""
        row = slice(policy, policy + 1)
        return replace(
            self,
            late=self.late[row],
            paid_min=self.paid_min[row],
            changes=self.changes[row],
            backlog=self.backlog[row],
            wait_s=None if self.wait_s is None else self.wait_s[row],
        )

    def parts(self, first: int, last: int) -> Self:
        """The outcome of the parts [first, last) alone; `backlog` stays that of the end, waits are not known of a part."""
        return replace(
            self,
            arrivals=self.arrivals[first:last],
            late=self.late[:, first:last],
            paid_min=self.paid_min[:, first:last],
            changes=self.changes[:, first:last],
            wait_s=None,
        )

"""The autoscaler with a floor, by the same rules as `forecaster.simulate.fleet`, on requests instead of a fluid."""

import math
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import simpy

from forecaster.series import Floats, frozen_floats
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.simulate.fleet import ROUNDING, Fleet, Policies, Traffic
from forecaster.simulate.kubernetes import OneHpa
from forecaster.simulate.requests.gateway import Gateway
from forecaster.simulate.requests.pool import Pool
from forecaster.units import MINUTE_S, check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaling:
    """A plain autoscaler over a floor.

    target: utilisation that the autoscaler aims at; infinite = there is none. floors: replicas in force in each minute, shape (minutes,);
    below 1 counts as 1. lead_s: from request to ready. memory_min: the autoscaler follows the highest of its last so many wishes.
    before_rpm: admitted requests of the minutes just before the first, from which it starts. start: replicas that are ready in the first
    minute; None = the autoscaler's own wish. drain_s: how long a removed replica may go on with its batch; None = to its end.
    behavior: how a real HPA goes about it, one step a minute; None = by the rules of `forecaster.simulate.fleet`.
    """

    target: float
    floors: Floats = field(repr=False)
    before_rpm: Floats = field(repr=False)
    lead_s: float = 600.0
    memory_min: int = 5
    start: int | None = None
    drain_s: float | None = None
    behavior: HpaBehavior | None = None

    def __post_init__(self) -> None:
        if not self.target > 0:
            msg = f"scaling.target must be above 0, got {self.target:g}"
            raise ValueError(msg)
        for name in ("floors", "before_rpm"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=1, name=f"scaling.{name}"))
            if not np.isfinite(getattr(self, name)).all() or not getattr(self, name).size:
                msg = f"scaling.{name} must hold at least one value, all of them finite"
                raise ValueError(msg)
        check_not_negative("scaling.lead_s", self.lead_s, "seconds")
        check_positive("scaling.memory_min", self.memory_min, "minutes")
        if self.start is not None:
            check_positive("scaling.start", self.start, "replicas")
        if self.drain_s is not None:
            check_not_negative("scaling.drain_s", self.drain_s, "seconds")

    @classmethod
    def of(cls, policies: Policies, row: int, traffic: Traffic, fleet: Fleet) -> Self:
        """One row of what the minute-wise replay was given: the same policy on the same traffic.

        Raises ValueError on traffic in steps of less than a minute.
        """
        if traffic.step_s != MINUTE_S:
            msg = f"requests are replayed with an autoscaler that looks once a minute, got traffic in steps of {traffic.step_s} s"
            raise ValueError(msg)
        return cls(
            target=float(policies.targets[row]),
            floors=policies.floors[row][policies.column],
            before_rpm=traffic.before_rpm,
            lead_s=float(fleet.lead_min * MINUTE_S),
            memory_min=fleet.memory_min,
            start=None if policies.start is None else int(policies.start[row]),
            behavior=policies.behavior,
        )

    def need(self, requests: float, replica_rpm: float) -> float:
        """Replicas that carry so many requests of a minute at the target; 0 without an autoscaler."""
        return requests / (replica_rpm * self.target)


class Autoscaler:
    """Looks once a minute. changes: how often the fleet wanted became another."""

    def __init__(self, env: simpy.Environment, gateway: Gateway, pool: Pool, scaling: Scaling, replica_rpm: float) -> None:
        self._env, self._gateway, self._pool, self._scaling, self._replica_rpm = env, gateway, pool, scaling, replica_rpm
        before = scaling.before_rpm[-scaling.memory_min :].tolist()
        before = [before[0]] * (scaling.memory_min - len(before)) + before
        self._needs = deque((scaling.need(load, replica_rpm) for load in before), maxlen=scaling.memory_min)
        self._fleet = self._wish(floor=1) if scaling.start is None else scaling.start
        self._hpa = None if scaling.behavior is None else OneHpa(scaling.behavior, MINUTE_S, self._fleet, tuple(self._needs))
        self.changes = 0

    def run(self) -> Generator[simpy.Event, object, None]:
        """Scale at the start of each minute by what the minutes before were like."""
        pool, gateway = self._pool, self._gateway
        pool.begin_with(self._fleet)
        yield self._env.timeout(0)  # they come up before anything is decided
        ready = self._fleet
        for minute, floor in enumerate(np.ceil(self._scaling.floors).astype(int).tolist()):
            self._scale_to(self._wanted(max(floor, 1), ready))
            ready = pool.ready()
            before = gateway.admitted
            yield self._env.timeout((minute + 1) * MINUTE_S - self._env.now)
            pool.expire()
            gateway.expire()
            self._needs.append(self._scaling.need(self._visible(gateway.admitted - before + gateway.waiting, ready), self._replica_rpm))

    def _wanted(self, floor: int, ready: int) -> int:
        return self._wish(floor) if self._hpa is None else int(self._hpa.replicas(floor, ready, self._needs[-1]))

    def _wish(self, floor: int) -> int:
        return max(floor, *(math.ceil(need * (1 - ROUNDING)) for need in self._needs))

    def _visible(self, load: float, ready: int) -> float:
        """What the metric shows: one that saturates with the replicas shows no more than those that are ready can serve."""
        behavior = self._scaling.behavior
        return min(load, ready * self._replica_rpm) if behavior is not None and behavior.capped else load

    def _scale_to(self, wanted: int) -> None:
        self.changes += wanted != self._fleet
        self._fleet = wanted
        self._pool.scale_to(wanted)

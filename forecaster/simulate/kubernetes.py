"""The arithmetic of the HorizontalPodAutoscaler's controller, for one policy in plain Python and for many in rows of numpy.

`need` is the load over what a replica carries at the target, in replicas. At each sync, with `current` replicas asked for and
`ready` of them ready:

    ratio    = need / ready; where some are not ready and that is above 1, they count as idle: need / current, and below 1 nothing changes
    wanted   = current where 1 - tolerance <= ratio <= 1 + tolerance, else ceil(need)      [= ceil(pods counted x ratio)]
    steady   = current, raised to the least of `wanted` over scaleUp's stabilisation window, lowered to the largest over scaleDown's
    limit    = what the policies allow, each from the replicas asked for at the start of its period
    current' = steady within limit, within [max(minReplicas, floor), maxReplicas]

A floor is a minReplicas: it is in force at once, without a limit. A step longer than the sync period holds one recommendation,
since its load is one number, and as many applications of the limits as syncs fit. Lags and windows are whole steps, a lag rounded
down, which is kind to the HPA.

Source: kubernetes.io, "Horizontal Pod Autoscaling", algorithm details and configurable scaling behavior; the controller's
horizontal.go and replica_calculator.go.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.autoscaler import HpaBehavior, ScalingPolicy, ScalingRules, Select, Unit
from forecaster.simulate.fleet import ROUNDING

_PERCENT = 100
Count = TypeVar("Count", float, Floats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A HPA's times. every: steps from sync to sync; syncs: how many fit in a longer step; lag: steps; up, down: syncing steps."""

    every: int
    syncs: int
    sync_s: float
    lag: int
    up: int
    down: int

    def remembered(self, period_s: int) -> int:
        """Syncs that lie wholly within a policy's period before the present one."""
        return math.ceil(period_s / self.sync_s) - 1


def pace(behavior: HpaBehavior, step_s: float) -> Pace:
    """How a HPA moves in steps of so many seconds."""
    every = max(1, round(behavior.sync_s / step_s))
    syncs = max(1, round(step_s / behavior.sync_s))
    between_s = every * step_s
    return Pace(
        every=every,
        syncs=syncs,
        sync_s=between_s / syncs,
        lag=int(behavior.metric_lag_s // step_s),
        up=max(1, math.ceil(behavior.up.stabilization_s / between_s)),
        down=max(1, math.ceil(behavior.down.stabilization_s / between_s)),
    )


class OneHpa:
    """One HPA on its way through a replay."""

    def __init__(self, behavior: HpaBehavior, step_s: float, start: float, needs: Sequence[float]) -> None:
        """Begin with `start` replicas; needs: those of the steps before, oldest first, at least one."""
        times = pace(behavior, step_s)
        self._every, self._syncs = times.every, times.syncs
        self._least, self._most = _bounds(behavior)
        self._calm_from, self._calm_to = _calm(behavior)
        self._needs = deque(_padded(needs, times.lag + 2)[:-1], maxlen=times.lag + 1)
        self._up, self._down = deque([start], maxlen=times.up), deque([start], maxlen=times.down)
        self._limits = _limits(behavior, times)
        self._past = deque([start] * self._limits.memory, maxlen=self._limits.memory)
        self._step = -1

    def replicas(self, floor: float, ready: float, need: float) -> float:
        """The replicas asked for in the step that begins; ready, need: those of the one that ended."""
        self._step += 1
        self._needs.append(need)
        past = self._past
        current = past[-1]
        if self._step % self._every:
            return current
        steady = self._steady(current, ready, self._needs[0])
        least = max(floor, self._least)
        goal = min(max(steady, least), self._most)
        left = self._syncs
        while left and current != goal:
            left -= 1
            within = min(steady, self._limits.above(past)) if steady > current else max(steady, self._limits.below(past))
            current = min(max(within, least), self._most)
            past.append(current)
        if self._limits.memory > 1:
            past.extend([current] * left)
        return current

    def _steady(self, current: float, ready: float, need: float) -> float:
        """What the metric asks for, steadied by the windows, of which it is part itself."""
        ratio = need / ready
        if ratio > 1 and ready < current:
            ratio = max(1.0, need / current)
        wanted = current if self._calm_from <= ratio <= self._calm_to else float(math.ceil(need * (1 - ROUNDING)))
        self._up.append(wanted)
        self._down.append(wanted)
        if wanted > current:
            return max(current, min(self._up))
        return min(current, max(self._down))


class ManyHpas:
    """The same for a row of HPAs that differ in what they need, in arrays of shape (policies,)."""

    def __init__(self, behavior: HpaBehavior, step_s: float, start: Floats, needs: Floats) -> None:
        """Begin with `start` replicas; needs: those of the steps before, shape (steps, policies), oldest first, at least one."""
        self._pace = times = pace(behavior, step_s)
        self._least, self._most = _bounds(behavior)
        self._calm_from, self._calm_to = _calm(behavior)
        self._needs = deque(_padded(list(needs), times.lag + 2)[:-1], maxlen=times.lag + 1)
        self._up, self._down = np.tile(start, (times.up, 1)), np.tile(start, (times.down, 1))
        self._limits = _limits(behavior, times)
        self._past = deque([start] * self._limits.memory, maxlen=self._limits.memory)
        self._step = -1

    def replicas(self, floors: Floats, ready: Floats, needs: Floats) -> Floats:
        """The replicas asked for in the step that begins; ready, needs: those of the one that ended. No array is written to later."""
        self._needs.append(needs)
        self._step += 1
        current = self._past[-1]
        if self._step % self._pace.every:
            return current
        steady = self._steady(current, ready)
        least = np.maximum(floors, self._least)
        goal = np.minimum(np.maximum(steady, least), self._most)
        reached = False
        for _ in range(self._pace.syncs):
            if not reached:
                within = np.minimum(np.maximum(steady, self._limits.all_below(self._past)), self._limits.all_above(self._past))
                current = np.minimum(np.maximum(within, least), self._most)
                reached = bool((current == goal).all())
            self._past.append(current)
        return current

    def _steady(self, current: Floats, ready: Floats) -> Floats:
        """What the metrics ask for, steadied by the windows."""
        need, sync = self._needs[0], self._step // self._pace.every
        ratio = np.minimum(need / ready, np.maximum(1.0, need / current))
        wanted = np.ceil(need * (1 - ROUNDING))
        np.copyto(wanted, current, where=(ratio >= self._calm_from) & (ratio <= self._calm_to))
        self._up[sync % self._pace.up] = wanted
        self._down[sync % self._pace.down] = wanted
        steady: Floats = np.minimum(np.maximum(current, self._up.min(axis=0)), self._down.max(axis=0))
        return steady


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """One scaling policy: `factor` times what was asked for `ago` syncs before, and `pods` more (below 0: fewer)."""

    factor: float
    pods: float
    ago: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    """How far a sync may go, given what was asked for at each sync until now. None = this direction has no limit.

    most, fewest: which of several policies holds. memory: syncs looked back on, the present one included.
    """

    up: tuple[_Reach, ...] | None
    down: tuple[_Reach, ...] | None
    up_select: Select
    down_select: Select
    memory: int

    def above(self, past: Sequence[float]) -> float:
        """The most replicas that scaleUp allows, never fewer than there are."""
        if self.up is None:
            return math.inf
        reach = [math.ceil(past[-1 - policy.ago] * policy.factor + policy.pods) for policy in self.up]
        return float(max(past[-1], max(reach) if self.up_select is Select.MAX else min(reach)))

    def below(self, past: Sequence[float]) -> float:
        """The fewest replicas that scaleDown allows, never more than there are."""
        if self.down is None:
            return -math.inf
        reach = [math.floor(past[-1 - policy.ago] * policy.factor + policy.pods) for policy in self.down]
        return float(min(past[-1], min(reach) if self.down_select is Select.MAX else max(reach)))

    def all_above(self, past: Sequence[Floats]) -> Floats | float:
        """The same for a row."""
        if self.up is None:
            return math.inf
        reach = [np.ceil(past[-1 - policy.ago] * policy.factor + policy.pods) for policy in self.up]
        most: Floats = np.maximum(past[-1], reduce(np.maximum if self.up_select is Select.MAX else np.minimum, reach))
        return most

    def all_below(self, past: Sequence[Floats]) -> Floats | float:
        """The same for a row."""
        if self.down is None:
            return -math.inf
        reach = [np.floor(past[-1 - policy.ago] * policy.factor + policy.pods) for policy in self.down]
        fewest: Floats = np.minimum(past[-1], reduce(np.minimum if self.down_select is Select.MAX else np.maximum, reach))
        return fewest


def _limits(behavior: HpaBehavior, times: Pace) -> _Limits:
    up, down = _reaches(behavior.up, times, 1), _reaches(behavior.down, times, -1)
    return _Limits(
        up=up,
        down=down,
        up_select=behavior.up.select,
        down_select=behavior.down.select,
        memory=1 + max((policy.ago for policy in (*(up or ()), *(down or ()))), default=0),
    )


def _reaches(rules: ScalingRules, times: Pace, sign: int) -> tuple[_Reach, ...] | None:
    """The policies of one direction; where it is disabled, one that never moves; None where nothing limits it."""
    if rules.select is Select.DISABLED:
        return (_Reach(factor=1.0, pods=0.0, ago=0),)
    reaches = tuple(_reach(policy, times, sign) for policy in rules.policies)
    unlimited = not reaches or (rules.select is Select.MAX and any(policy.factor <= 0 for policy in reaches))
    return None if unlimited else reaches


def _reach(policy: ScalingPolicy, times: Pace, sign: int) -> _Reach:
    ago = times.remembered(policy.period_s)
    if policy.unit is Unit.PODS:
        return _Reach(factor=1.0, pods=float(sign * policy.value), ago=ago)
    return _Reach(factor=1 + sign * policy.value / _PERCENT, pods=0.0, ago=ago)


def _bounds(behavior: HpaBehavior) -> tuple[float, float]:
    return float(behavior.minimum), math.inf if behavior.maximum is None else float(behavior.maximum)


def _calm(behavior: HpaBehavior) -> tuple[float, float]:
    """The ratios between which nothing changes; the last bits of a float decide nothing."""
    return 1 - behavior.down.tolerance_ratio - ROUNDING, 1 + behavior.up.tolerance_ratio + ROUNDING


def _padded(needs: Sequence[Count], count: int) -> list[Count]:
    """The last `count` needs, the first standing for those before it."""
    return [needs[0]] * (count - len(needs)) + list(needs[-count:])

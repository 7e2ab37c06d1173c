"""From forecasts to the floors that would have stood: demand, plan, correct and guard, step by step, as the two jobs run them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.approval import InForce, in_force
from forecaster.capacity import Capacity
from forecaster.case import Case
from forecaster.correct import correct
from forecaster.decision import Decision, Observation, Seen
from forecaster.demand import Demand, demand
from forecaster.forecast import Forecast
from forecaster.guard import guard
from forecaster.leadtime import LeadTime
from forecaster.look import Look, look
from forecaster.plan import Plan, plan
from forecaster.series import Series
from forecaster.simulate.fleet import Ints
from forecaster.units import MINUTE_S
from forecaster.workload import Mode, Policy, Pool, Workload

_NAME = "replay"
_ANY_LEVEL = 0.5  # live load is compared with medians only
MOST_STEP_S = 5 * MINUTE_S
"""Floors are decided at least this often, however long the buckets of the forecast are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Day:
    """One forecast and what live load said at each of its steps: all that its floors rest on but the level.

    looks: one a step of the floors, fewer where the trace ends.
    """

    forecast: Forecast
    looks: tuple[Look, ...] = field(repr=False)

    @property
    def issued_at(self) -> datetime:
        """The origin."""
        return self.forecast.issued_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Forecast to floors for one policy and one pool."""

    policy: Policy
    pool: Pool

    def demand(self, forecast: Forecast, level: float) -> Demand:
        """What the pool needs at a level."""
        needed = demand((forecast,), self.pool, replace(self.policy, level=level))
        if needed is None:
            msg = "the replayed pool has a capacity for requests"
            raise AssertionError(msg)
        return needed

    def plan(self, forecast: Forecast, level: float) -> Plan:
        """The plan at a level."""
        policy = replace(self.policy, level=level)
        workload = Workload(name=_NAME, pools=(self.pool,), policy=policy)
        return plan(self.demand(forecast, level), workload, self.pool, forecast.issued_at)

    def days(self, forecasts: Sequence[Forecast], live: Series) -> tuple[Day, ...]:
        """Each forecast with what the trace itself said live during its day. The trace at t shows buckets that ended by t."""
        days: list[Day] = []
        before: tuple[Demand, ...] = ()
        for forecast in forecasts:
            demands = (*before, self.demand(forecast, _ANY_LEVEL))
            instants = _steps(forecast, live.end)
            days.append(Day(forecast=forecast, looks=tuple(self._look(live, demands, instant) for instant in instants)))
            before = demands[-1:]
        return tuple(days)

    def floors(self, days: Sequence[Day], levels: Sequence[float]) -> Ints:
        """The floor of every step of consecutive days, each planned at its own level, shape (steps,)."""
        floors: list[int] = []
        recent: tuple[Decision, ...] = ()
        for day, level in zip(days, levels, strict=True):
            planned = self.plan(day.forecast, level)
            standing = in_force((planned,), (), (), self.policy, day.issued_at)
            for seen in day.looks:
                if seen.at >= planned.valid_until:
                    standing = in_force((planned,), (), (), self.policy, seen.at)
                recent = _stood(recent, seen.at, self.policy.hold_s)
                decision = self._decide(standing, seen, recent, floors[-1] if floors else 1)
                recent = (*recent, decision)
                floors.append(decision.floor)
        return np.array(floors, dtype=np.int64)

    def _look(self, live: Series, demands: tuple[Demand, ...], now: datetime) -> Look:
        seen = live.between(now - timedelta(seconds=self.policy.blend.live_span_s), now)
        return look(Observation(at=now, live=(seen,)), demands, self.pool, self.policy)

    def _decide(self, standing: InForce, seen: Look, recent: tuple[Decision, ...], floor: int) -> Decision:
        return guard(
            Case(
                now=seen.at,
                workload=_NAME,
                pool=self.pool.name,
                policy=self.policy,
                in_force=standing,
                correction=correct(standing.plan, seen, self.policy),
                seen=Seen(target=_NAME, at=seen.at, floor=floor, ceiling=None, original=1, ready=None, pending=None, version=""),
                recent=recent,
            )
        )


def line_of(policy: Policy, replica_rpm: float, lead_time_s: float) -> Line:
    """The line of a replay: one pool, bounds from 1 up unless the policy has its own, floors applied as soon as they are decided."""
    pool = Pool(
        name=_NAME,
        capacity=Capacity(rpm=replica_rpm, source="replay"),
        lead_time=LeadTime(warm_s=lead_time_s, cold_s=lead_time_s, source="replay"),
        targets=(_NAME,),
    )
    return Line(policy=replace(policy, mode=Mode.AUTO), pool=pool)


def floor_step_s(forecast_step_s: int) -> int:
    """How often floors are decided: at every forecast step, or the least number of times within one that is often enough."""
    return forecast_step_s // -(-forecast_step_s // MOST_STEP_S)


def _steps(forecast: Forecast, end: datetime) -> tuple[datetime, ...]:
    """When floors are decided, before the trace ends."""
    step_s = floor_step_s(forecast.step_s)
    starts = (forecast.start + timedelta(seconds=i * step_s) for i in range(len(forecast) * forecast.step_s // step_s))
    return tuple(start for start in starts if start < end)


def _stood(recent: tuple[Decision, ...], now: datetime, hold_s: float) -> tuple[Decision, ...]:
    """The decisions of the hold span, led by the last one before it, as the guard wants them."""
    before = [i for i, decision in enumerate(recent) if (now - decision.at).total_seconds() > hold_s]
    return recent[before[-1] :] if before else recent

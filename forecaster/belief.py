"""A pool's plan from the forecasts that are believed: reactive ones size nothing beyond the base load."""

from dataclasses import replace
from datetime import datetime

import numpy as np

from forecaster.demand import Demand, demand
from forecaster.forecast import Forecast
from forecaster.plan import Floor, Plan, plan
from forecaster.reasons import Code, Reason
from forecaster.trust import Trust, Verdict
from forecaster.units import spell_number
from forecaster.workload import Pool, Workload


def believed_plan(forecasts: tuple[Forecast, ...], trusts: tuple[Trust, ...], workload: Workload, pool: Pool, now: datetime) -> Plan | None:
    """The plan of a pool with what is thought of the forecasts it rests on; None when no forecast signal has a capacity.

    forecasts: what the trusts let plans rest on, one a signal. A reactive signal is left out beside one that is not. Where all are
    reactive the floors hold the base load under windows and bounds, and the plan has no demand: nothing in it is a
    forecast that live load could be measured against.
    """
    usable = tuple(forecast for forecast in forecasts if pool.capacity.of(forecast.signal) is not None)
    told = tuple(found for found in trusts if found.signal in {forecast.signal for forecast in usable})
    idle = {found.signal for found in told if found.verdict is Verdict.REACTIVE}
    followed = tuple(forecast for forecast in usable if forecast.signal not in idle)
    needed = demand(followed or usable, pool, workload.policy)
    if needed is None:
        return None
    made = plan(needed, workload, pool, now)
    if not followed:
        made = replace(made, demand=None, floors=tuple(_of_base(floor, needed) for floor in made.floors))
    reasons = tuple(found.reason for found in told if found.reason is not None)
    return replace(made, trusts=told, reasons=(*made.reasons, *reasons))


def _of_base(floor: Floor, needed: Demand) -> Floor:
    """The floor with its true reason, unless an event or something else than the base load gave it."""
    if floor.reason.code is not Code.SIGNAL_BINDS or np.ptp(needed.load, axis=1).any():
        return floor
    s = int(needed.needs[:, 0].argmax())
    signal, load, carry = needed.signals[s], float(needed.load[s, 0]), needed.carry[s]
    own = needed.margin.told(floor.replicas)
    detail = (
        f"{signal}'s base load is {spell_number(load)} {signal.unit}, a replica carries {spell_number(carry)}{own}; no cycle is followed"
    )
    return replace(floor, reason=Reason(code=Code.TRUST_REACTIVE, detail=detail, after=floor.replicas))

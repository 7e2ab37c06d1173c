"""One replay, request by request."""

import numpy as np
import simpy

from forecaster.cost import Prices
from forecaster.simulate.requests.arrivals import Requests
from forecaster.simulate.requests.gateway import Gateway, Rules
from forecaster.simulate.requests.outcome import Deadline, Ledger, Outcome, summed_up
from forecaster.simulate.requests.pool import Pool
from forecaster.simulate.requests.replica import Service
from forecaster.simulate.requests.scaling import Autoscaler, Scaling
from forecaster.units import MINUTE_S


def simulate(
    requests: Requests,
    *,
    service: Service,
    scaling: Scaling,
    rules: Rules | None = None,
    deadline: Deadline | None = None,
    prices: Prices | None = None,
) -> Outcome:
    """What comes of these requests on a fleet that is scaled so. Equal input, equal outcome: all chance lies in how requests were drawn.

    It ends with the last minute of arrivals. Raises ValueError when `scaling.floors` does not have one entry a minute, or when a quota
    names a tenant without requests.
    """
    if scaling.floors.size != requests.minutes:
        msg = f"scaling.floors must have one entry a minute, got {scaling.floors.size} for {requests.minutes} minutes"
        raise ValueError(msg)
    env = simpy.Environment()
    gateway = Gateway(env, requests, service, rules or Rules())
    pool = Pool(env, gateway, lead_s=scaling.lead_s, drain_s=scaling.drain_s)
    autoscaler = Autoscaler(env, gateway, pool, scaling, service.replica_rpm)
    env.process(autoscaler.run())
    env.process(gateway.arrivals())
    env.run(until=requests.minutes * MINUTE_S)
    pool.expire()
    gateway.expire()
    ledger = Ledger(
        requests=requests,
        began_s=np.array(gateway.began_s, dtype=np.float64),
        fate=np.frombuffer(bytes(gateway.fate), dtype=np.uint8),
        paid_s=pool.paid_s(),
        changes=autoscaler.changes,
        breaker_opened=gateway.breaker_opened,
    )
    return summed_up(ledger, deadline or Deadline(), prices)

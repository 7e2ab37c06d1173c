"""Whether caches have as many hits right now as a plan counts on: a cache that is emptied raises the load at the engines at once.

| hits of the last minutes               | live load is less                            |
|----------------------------------------|----------------------------------------------|
| as many as the plan counts on, or more | what the plan counts on, so that both agree  |
| fewer                                  | what there is                                |
| not measured                           | what the plan counts on                      |
| measured, and there is no plan         | what there is                                |
| neither                                | nothing                                      |
"""

from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from forecaster.caches import Hits
from forecaster.decision import Observation
from forecaster.look import FRESH_S
from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.series import LOAD_SIGNALS, Signal
from forecaster.units import MINUTE_S
from forecaster.workload import Pool

_TOLD_RATIO = 1.1
"""What is left of the load over what was planned, from which on a person should hear of it: every twentieth hour has fewer hits than P5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Felt:
    """A pool as its caches are now. reasons: that they have fewer hits than was planned, none where they do."""

    pool: Pool
    reasons: tuple[Reason, ...] = ()


def felt(pool: Pool, plan: Plan | None, observation: Observation) -> Felt:
    """The pool with the hits that its live load is less; the table above says which."""
    if not pool.caches.counted:
        return Felt(pool=pool)
    live = Hits(responses=_lately(observation, Signal.RESPONSE_HITS), prefix=_lately(observation, Signal.PREFIX_HITS))
    planned = None if plan is None or plan.demand is None else plan.demand.hits
    if planned is None:
        return Felt(pool=replace(pool, caches=pool.caches.counting(live)))
    then = pool.caches.counting(planned)
    now = replace(pool, caches=replace(then, hits=planned.lowered(live)))
    more = max(_over(now.caches.left(signal), then.left(signal)) for signal in LOAD_SIGNALS)
    return Felt(pool=now, reasons=(_cold(planned, live, more),) if more >= _TOLD_RATIO else ())


def _lately(observation: Observation, signal: Signal) -> float | None:
    """The mean share of the last minutes, None where it was not measured in them."""
    series = observation.of(signal)
    if series is None:
        return None
    known = series.known_at(observation.at)
    span_s = max(FRESH_S, 2 * known.step_s)
    last = known.between(observation.at - timedelta(seconds=span_s), observation.at).mean
    measured = last[~np.isnan(last)]
    return float(measured.mean()) if measured.size else None


def _over(left: float, planned: float) -> float:
    return left / planned if planned > 0 else (1.0 if left == 0 else np.inf)


def _cold(planned: Hits, live: Hits, more: float) -> Reason:
    both = (("response", live.responses, planned.responses), ("prefix", live.prefix, planned.prefix))
    told = [f"{name} hits are {now:.0%}, {then:.0%} were planned" for name, now, then in both if now is not None and then is not None]
    detail = f"{'; '.join(told)} in the last {FRESH_S // MINUTE_S} min: {more:.3g} times the planned load is left for the engines"
    return Reason(code=Code.CACHE_COLD, detail=detail)

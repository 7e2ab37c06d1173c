"""How long requests wait, from the books of a replay: first come first served, arrivals and service even within a step.

A request that arrives at u finds `queue(u)` before it and is served when as much more capacity has gone by, for as long as there is
a queue no capacity is idle:

    served(u) = the instant at which  capacity until then = capacity until u + queue(u)          wait(u) = served(u) - u
"""

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.fleet import WAIT_LEVELS

_POINTS = 10
"""Requests of a step stand for this many instants in it."""


def waits_s(arrivals: Floats, capacity: Floats, backlog: Floats, step_s: float) -> Floats:
    """What WAIT_LEVELS of all requests wait at most before service begins, in seconds; 0 where there was none, shape (levels,).

    arrivals, capacity: requests that come and that could be served in each step, shape (n,); backlog: what waits at its end. After the
    last step capacity stays as it is.
    """
    before = np.concatenate([[0.0], backlog[:-1]])
    queued = np.flatnonzero((before > 0) | (backlog > 0))
    if not queued.size:
        return np.zeros(len(WAIT_LEVELS))
    share = (np.arange(_POINTS) + 0.5) / _POINTS
    ahead = np.maximum(before[queued, None] + np.outer(arrivals[queued] - capacity[queued], share), 0.0)
    edges = np.concatenate([[0.0], np.cumsum(capacity)])
    passed = edges[queued, None] + np.outer(capacity[queued], share) + ahead
    wait = np.maximum(_instant(passed, edges, capacity[-1]) - (queued[:, None] + share), 0.0) * step_s
    weight = np.repeat(arrivals[queued] / _POINTS, _POINTS)
    return _quantiles(wait.ravel(), weight, float(arrivals.sum()))


def _instant(passed: Floats, edges: Floats, last: float) -> Floats:
    """When so much capacity has gone by, in steps."""
    steps = np.arange(edges.size, dtype=np.float64)
    beyond = steps[-1] + (passed - edges[-1]) / last if last > 0 else np.full(passed.shape, np.inf)
    instant: Floats = np.where(passed > edges[-1], beyond, np.interp(passed, edges, steps))
    return instant


def _quantiles(wait_s: Floats, weight: Floats, total: float) -> Floats:
    """The least wait that so much of the total weight does not exceed; what is not listed waits 0."""
    order = np.argsort(wait_s)
    below = total - weight.sum() + np.cumsum(weight[order])
    at = np.searchsorted(below, np.array(WAIT_LEVELS) * total * (1 - 1e-12))
    quantiles: Floats = np.where(np.array(WAIT_LEVELS) * total <= total - weight.sum(), 0.0, wait_s[order][np.minimum(at, order.size - 1)])
    return quantiles

"""Nowcasts for tests: one that is easy to reckon with, and a strategy that draws any."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.nowcast import HOURS, SPANS_S, Nowcast
from forecaster.plan import Plan
from tests.values import NOW

LEVELS = (0.05, 0.5, 0.95)
TAILS = (-1.0, 0.0, 2.0)  # in sigmas, at every hour
DAY_START = NOW.replace(hour=0)
WEIGHTS = st.lists(st.floats(0, 1.5), min_size=len(SPANS_S), max_size=len(SPANS_S)).map(tuple)


def nowcast_of(
    *,
    weights: tuple[float, ...] = (0.5, 0.0, 0.0),
    lulls: tuple[float, ...] = (-7.0, -7.0, -7.0),
    base: float = 0.0,
    spread: tuple[float, ...] = (math.log(0.1), 0.0),
    tails: np.ndarray | None = None,
    offset: float = 0.5,
    most: float = 1_000.0,
) -> Nowcast:
    """A tenth of a logarithm of noise at any load; P95 lies two of these above the median."""
    rows = np.tile(TAILS, (HOURS, 1)) if tails is None else tails
    return Nowcast(
        weights=weights,
        lulls=lulls,
        base=base,
        spread=spread,
        levels=LEVELS,
        tails=rows,
        offset=offset,
        most=most,
        day_start=DAY_START,
        days=9.0,
    )


@st.composite
def nowcasts(draw: st.DrawFn) -> Nowcast:
    tails = draw(arrays(np.float64, (HOURS, len(LEVELS)), elements=st.floats(-6, 6)))
    return nowcast_of(
        weights=draw(WEIGHTS),
        lulls=tuple(draw(st.floats(-7, 0)) for _ in SPANS_S),
        base=draw(st.floats(-1, 1)),
        spread=(draw(st.floats(-6, 0)), draw(st.floats(-0.5, 0.5))),
        tails=np.sort(tails, axis=1),
        offset=draw(st.floats(0.01, 100)),
        most=draw(st.floats(0, 5_000)),
    )


def knowing(plan: Plan, nowcast: Nowcast | None, *, least_ratio: float = 0.4) -> Plan:
    """The plan of a workload with such a nowcast, whose low quantile is a share of the planned one."""
    assert plan.demand is not None
    return replace(plan, demand=replace(plan.demand, nowcasts=(nowcast,), least=plan.demand.load * least_ratio))

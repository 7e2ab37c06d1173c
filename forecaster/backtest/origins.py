"""When forecasts are issued: at every UTC midnight from the first origin on, and before it to choose the operating point."""

from datetime import datetime, timedelta

import numpy as np

from forecaster.errors import TraceRejected
from forecaster.series import Series
from forecaster.trace import Trace
from forecaster.units import DAY_S, ceil_to, iso

WARM_UP = timedelta(days=14)
_DAY = timedelta(days=1)


def first_origin(trace: Trace, series: Series) -> datetime:
    """The first UTC midnight at least min(14 days, half the trace) after its start. `series` is the trace as it is forecast.

    Raises TraceRejected when the trace is shorter than two days, ends before that midnight, or nothing was measured until then.
    """
    origin = ceil_to(trace.start + min(WARM_UP, (trace.end - trace.start) / 2), DAY_S)
    span = f"the trace runs from {iso(trace.start)} to {iso(trace.end)}"
    if origin >= trace.end or trace.end - trace.start < 2 * _DAY:
        msg = f"{span}, too short for one forecast after half of it: give at least two whole days"
        raise TraceRejected(msg)
    before = series.known_at(origin).mean
    if not (before > 0).any():
        what = f"no bucket of {series.step_s} s was measured" if np.isnan(before).all() else "no request was counted"
        msg = f"{span}, but {what} before the first forecast at {iso(origin)}: start it where the traffic starts"
        raise TraceRejected(msg)
    return origin


def origins(first: datetime, end: datetime) -> tuple[datetime, ...]:
    """Every midnight of [first, end)."""
    count = -(-(end - first) // _DAY)
    return tuple(first + day * _DAY for day in range(count))


def early_origins(series: Series, first: datetime) -> tuple[datetime, ...]:
    """The midnights before the first origin that have one day behind them since the first measured bucket."""
    measured = int(np.flatnonzero(~np.isnan(series.mean))[0])
    earliest = ceil_to(series.start + timedelta(seconds=measured * series.step_s) + _DAY, DAY_S)
    return origins(earliest, first) if earliest < first else ()

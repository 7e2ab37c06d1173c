"""Days of a workload as the line leaves them in the store: a forecast a day, decisions by the hour, and what was ready."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from forecaster.ports import Store
from forecaster.series import Floats, Series, Signal
from jobs.apply import apply_fleet
from jobs.fleet import Fleet
from jobs.forecast import fetch_fleet, forecast_fleet


def watched_days(fleet: Fleet, end: datetime, days: int, *, every: timedelta = timedelta(hours=1)) -> None:
    """Forecast once a day and apply every so often, as the daemon does, until `end`."""
    at = end - timedelta(days=days)
    while at < end:
        if (end - at) % timedelta(days=1) == timedelta(0):
            forecast_fleet(fleet, at)
        apply_fleet(fleet, at)
        at += every
    fetch_fleet(fleet, end)


def seen_ready(store: Store, counts: Floats | Sequence[float], end: datetime, *, name: str = "chat/gpu") -> None:
    """Ready replicas that end at `end`, one a bucket of five minutes; NaN = nobody looked."""
    values = np.asarray(counts, dtype=np.float64)
    start = end - timedelta(minutes=5 * values.size)
    store.append_history(name, Series(signal=Signal.READY, start=start, step_s=300, mean=values, peak=values))

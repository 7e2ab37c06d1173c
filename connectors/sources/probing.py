"""What `check` says of a query that was asked for its last hour."""

from datetime import datetime, timedelta

import numpy as np

from connectors.sources.readings import factor
from forecaster.ports import Query
from forecaster.series import Floats
from forecaster.units import MINUTE_S, iso


def hour_told(query: Query, numbers: Floats, end: datetime) -> str:
    """One sentence on the raw numbers of the minutes before `end`: how many were measured, and the last in the signal's unit."""
    measured = np.flatnonzero(np.isfinite(numbers) & (numbers >= 0))
    if not measured.size:
        return unusable(query)
    last = int(measured[-1])
    ago = numbers.size - last - 1
    value = f"{numbers[last] * factor(query, MINUTE_S):.6g} {query.signal.unit} at {iso(end - timedelta(minutes=ago))}"
    return f"{query.expression!r} gives one series, measured in {measured.size} of the last 60 minutes, the last {value}"


def unusable(query: Query) -> str:
    """One sentence on a query that answers for the last hour, with nothing that is a load."""
    counts = "NaN, infinite and negative numbers count as not measured"
    return f"{query.expression!r} gives one series without a usable number in the last 60 minutes; {counts}"

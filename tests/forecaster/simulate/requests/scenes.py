"""Requests and fleets to replay, small enough to work out by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.requests.arrivals import EVERYONE, Priority, Requests
from forecaster.simulate.requests.scaling import Scaling

START = datetime(2026, 3, 2, tzinfo=UTC)


def minute_load(rpm: Sequence[float] | Floats) -> MinuteLoad:
    return MinuteLoad(start=START, rpm=np.asarray(rpm, dtype=np.float64))


def at(
    *at_s: float,
    minutes: int = 1,
    priority: Sequence[Priority] | None = None,
    tenants: Sequence[str] | None = None,
    work: Sequence[float] | None = None,
) -> Requests:
    """Requests at these instants; interactive, of one tenant and mean work unless said otherwise."""
    names = tuple(dict.fromkeys(tenants)) if tenants else (EVERYONE,)
    return Requests(
        minutes=minutes,
        at_s=np.array(at_s, dtype=np.float64),
        work=np.ones(len(at_s)) if work is None else np.array(work, dtype=np.float64),
        tenant=np.array([names.index(name) for name in tenants] if tenants else [0] * len(at_s), dtype=np.int64),
        priority=np.array(priority or [Priority.INTERACTIVE] * len(at_s), dtype=np.int64),
        tenants=names,
    )


def fixed(replicas: int | Sequence[int], *, minutes: int = 1, lead_s: float = 0.0, drain_s: float | None = None) -> Scaling:
    """No autoscaler: so many replicas, or so many in each minute."""
    floors = [replicas] * minutes if isinstance(replicas, int) else list(replicas)
    return Scaling(
        target=np.inf,
        floors=np.array(floors, dtype=np.float64),
        before_rpm=np.array([1.0]),
        lead_s=lead_s,
        start=floors[0],
        drain_s=drain_s,
    )

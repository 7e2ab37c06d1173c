"""What production shows of a pool, for tests: load by bucket over replicas that carry a known load."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from forecaster.learned import Observed
from forecaster.profile import Slo
from forecaster.series import Floats

STEP_S = 300
CARRIES_RPM = 600.0
SLO = Slo(e2e_p95_s=10.0)
"""What `p95_s` keeps up to 600 rpm a replica."""


def p95_s(load_rpm: Floats) -> Floats:
    """4 s of an idle replica, 10 s at 600 rpm: a queue that would have no end at 1,000 rpm."""
    return 4.0 / (1.0 - np.minimum(load_rpm, 990.0) / 1_000.0)


def loads(hours: float, low: float = 100.0, high: float = 900.0) -> Floats:
    """Load a replica that goes up and down every eight hours."""
    at = np.arange(int(hours * 3_600 / STEP_S))
    return low + (high - low) * (1 - np.cos(2 * np.pi * at / 96)) / 2


def seen(load_rpm: Floats, measured: Mapping[str, Floats] | None = None, **more: Any) -> Observed:
    """Ten settled replicas under that load each, which nobody refuses; all else is unknown."""
    nothing, never = np.full(load_rpm.size, np.nan), np.zeros(load_rpm.size, dtype=bool)
    base = Observed(
        step_s=STEP_S,
        rpm=10 * load_rpm,
        ready=np.full(load_rpm.size, 10.0),
        p95_s={"e2e": p95_s(load_rpm)} if measured is None else measured,
        fresh=never,
        left_out=never,
        refused_rpm=nothing,
        in_flight=nothing,
        input_tokens=nothing,
        output_tokens=nothing,
        hits=nothing,
    )
    return replace(base, **more)

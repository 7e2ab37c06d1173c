"""How many processors we may use."""

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cpus(quota: Path = _QUOTA) -> int:
    """Processors that this process may run on, at least 1: those it is bound to, and no more than its container's limit in `quota`.

    The limit is the control group's `cpu.max`: microseconds of processor time a period, and the period, or `max`.
    """
    bound = len(os.sched_getaffinity(0))
    try:
        limit, period = quota.read_text().split()
    except (OSError, ValueError):  # no control groups, or those of version 1
        return bound
    return bound if limit == "max" else max(1, min(bound, math.ceil(int(limit) / int(period))))

"""What one replica carries, for want of anybody who measured it; and the user's HPA in those terms."""

from dataclasses import dataclass

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from forecaster.units import spell_number
from jobs.proof.hpa import Metric, TheirHpa

USUAL_TARGET = 0.7
"""An HPA's target is what a replica is meant to carry, not what it can: most leave 30 %."""
_CARRIED_LEVEL = 0.99
_LEAST_MINUTES = 1_440


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What one replica serves inside its SLO, in the load's unit; None = as the contract of a backtest sizes it. why: in a sentence."""

    replica_rpm: float | None
    why: str


def size(*, configured: float | None, per_pod: float | None, carried: float | None, unit: str) -> Size:
    """The capacity that somebody configured; else the HPA's own target, taken for 70 % of it; else what replicas did carry.

    per_pod: what the HPA means a replica to carry; carried: see `carried_by_one`. All in the load's unit.
    """
    if configured is not None:
        return Size(replica_rpm=configured, why=f"A replica serves {spell_number(configured)} {unit}: the configuration says so.")
    if per_pod is not None:
        whole = per_pod / USUAL_TARGET
        why = f"the HPA's target of {spell_number(per_pod)} a replica is taken for {USUAL_TARGET:.0%} of what it can carry"
        return Size(replica_rpm=whole, why=f"A replica serves {spell_number(whole)} {unit}: {why}.")
    if carried is not None:
        why = f"in {_CARRIED_LEVEL:.0%} of the minutes yours carried no more"
        return Size(replica_rpm=carried, why=f"A replica serves {spell_number(carried)} {unit}: {why}.")
    return Size(
        replica_rpm=None,
        why="What a replica serves is not known: it is sized so that the busiest minutes before the first day need 30, so compare ratios.",
    )


def carried_by_one(load: Floats, ready: Floats) -> float | None:
    """The load per ready replica that was not exceeded in 99 % of the buckets; None with less than a day of both, shape (n,) each."""
    both = ~np.isnan(load) & ~np.isnan(ready) & (ready >= 1)
    if int(both.sum()) < min(_LEAST_MINUTES, load.size // 2):
        return None
    carried = float(np.quantile(load[both] / ready[both], _CARRIED_LEVEL))
    return carried if carried > 0 else None


def replayed(hpa: TheirHpa, metric: Metric | None, *, per_pod: float | None, replica_rpm: float | None) -> Hpa | None:
    """The HPA as a replay runs it; None where its target says nothing of the share of a replica that it aims at."""
    if per_pod is not None and replica_rpm is not None:
        target, capped = per_pod / replica_rpm, False
    elif metric is not None and metric.utilisation_ratio is not None:
        target, capped = metric.utilisation_ratio, True  # the best that can be said of CPU: as busy as a replica is full
    else:
        return None
    least = max(1, hpa.minimum)
    behavior = HpaBehavior(up=hpa.up, down=hpa.down, minimum=least, maximum=max(least, hpa.maximum), capped=capped)
    return Hpa(target=target, behavior=behavior)

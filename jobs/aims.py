"""At which utilisation the autoscaler above a workload's floors aims: as a person says, as its HPA does, or as most do."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from connectors.kube.cluster import Cluster
from forecaster.errors import TargetError
from forecaster.ports import Query, Unit
from forecaster.series import Signal
from forecaster.units import MINUTE_S
from forecaster.workload import Pool
from jobs.fleet import Member
from jobs.proof.hpa import Metric, TheirHpa, read_hpa
from jobs.savings import PLAIN_TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """Where a HPA is told its target. full: what the metric reads, a replica, when a replica carries all that it can."""

    hpa: TheirHpa
    metric: Metric
    full: float
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """ratio: utilisation of what a replica carries, above 0. said: where it is known from. dial: where it is set, None = not known."""

    ratio: float
    said: str
    dial: Dial | None = field(default=None, compare=False)


def aim_of(member: Member, told: float | None) -> Aim:
    """The lowest utilisation that any of the workload's HPAs aims at, where one can be read as such; `told` outranks them."""
    if told is not None:
        return Aim(ratio=told, said="as you say")
    found = (aim for pool in member.workload.pools for aim in _aims(member, pool))
    assumed = Aim(ratio=PLAIN_TARGET, said="assumed: no HPA of it names a load that is asked for; say it with --hpa-target")
    return min(found, key=lambda aim: aim.ratio, default=assumed)


def aim_of_pool(member: Member, pool: Pool) -> Aim:
    """The same of one pool."""
    assumed = Aim(ratio=PLAIN_TARGET, said="assumed: no HPA of it names a load that is asked for")
    return min(_aims(member, pool), key=lambda aim: aim.ratio, default=assumed)


def _aims(member: Member, pool: Pool) -> Iterator[Aim]:
    for target in (member.hpas.get(name) for name in pool.targets):
        if target is None:
            continue
        try:
            hpa = read_hpa(f"{target.namespace}/{target.name}", Cluster(target.cluster))
        except TargetError:  # no aim is known of it, which is said
            continue
        for metric in hpa.metrics:
            for query in member.queries:
                capacity = pool.capacity.of(query.signal)
                if capacity is None or metric.per_pod is None or metric.per_pod <= 0 or metric.name not in query.expression:
                    continue
                full = capacity * member.workload.policy.efficiency_ratio / _per_own_unit(query)
                dial = Dial(hpa=hpa, metric=metric, full=full, context=target.cluster.context)
                said = f"HPA {hpa}: {metric.name} at {metric.per_pod:g} a replica"
                yield Aim(ratio=min(1.0, metric.per_pod / full), said=said, dial=dial)


def _per_own_unit(query: Query) -> float:
    """The signal's unit over that of the query, in which the metric is."""
    return MINUTE_S if query.signal is Signal.RPM and query.unit is Unit.PER_SECOND else 1.0

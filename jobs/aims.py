"""At which utilisation the autoscaler above a workload's floors aims: as a person says, as its HPA does, or as most do."""

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.kube.cluster import Cluster
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.registry import target_name
from forecaster.errors import TargetError
from forecaster.ports import Query, Unit
from forecaster.series import Signal
from forecaster.units import MINUTE_S
from jobs.config.document import Config
from jobs.fleet import Member
from jobs.proof.hpa import Metric, read_hpa
from jobs.savings import PLAIN_TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """ratio: utilisation of what a replica carries, above 0. said: where it is known from."""

    ratio: float
    said: str


def aim_of(member: Member, config: Config, told: float | None) -> Aim:
    """The lowest utilisation that any of the workload's HPAs aims at, where one can be read as such; `told` outranks them."""
    if told is not None:
        return Aim(ratio=told, said="as you say")
    found = min(_aims(member, config), key=lambda aim: aim.ratio, default=None)
    return found or Aim(ratio=PLAIN_TARGET, said="assumed: no HPA of it names a load that is asked for; say it with --hpa-target")


def _aims(member: Member, config: Config) -> Iterator[Aim]:
    configs = {target_name(target): target for section in config.workloads for pool in section.pools for target in pool.targets}
    for pool in member.workload.pools:
        for target in (configs.get(name) for name in pool.targets):
            if not isinstance(target, KubernetesHpaConfig):
                continue
            try:
                hpa = read_hpa(f"{target.namespace}/{target.name}", Cluster(target.cluster))
            except TargetError:  # no aim is known of it, which is said
                continue
            for metric in hpa.metrics:
                for query in member.queries:
                    capacity = pool.capacity.of(query.signal)
                    if capacity is not None and (per_replica := _load(metric, query)) is not None:
                        said = f"HPA {hpa}: {metric.name} at {metric.per_pod:g} a replica"
                        yield Aim(ratio=min(1.0, per_replica / (capacity * member.workload.policy.efficiency_ratio)), said=said)


def _load(metric: Metric, query: Query) -> float | None:
    """The load a replica that a metric aims at, where it is the one that a query asks for; in the signal's unit."""
    if metric.per_pod is None or metric.per_pod <= 0 or metric.name not in query.expression:
        return None
    return metric.per_pod * MINUTE_S if query.signal is Signal.RPM and query.unit is Unit.PER_SECOND else metric.per_pod

"""All that is known of a fleet before anything is installed: its load out of Prometheus, its HPA out of the cluster."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from connectors.kube.cluster import Cluster
from connectors.sources.registry import OpenedSource
from forecaster.errors import ConfigRejected, SourceRejected
from forecaster.ports import Query, Unit
from forecaster.simulate.autoscaler import Hpa
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S
from jobs.proof.history import FETCHED_DAYS, REPLAYED_DAYS, Load, load_among, load_of, ready_replicas
from jobs.proof.hpa import Metric, TheirHpa, read_hpa
from jobs.proof.keda import trigger_query
from jobs.proof.load_query import guesses, per_pod_rpm, ready_query, written
from jobs.proof.sizing import Size, carried_by_one, replayed, size

Names: TypeAlias = tuple[str, ...]
_WITH_QUERY = "give the load with --query, such as --query 'sum(rate(http_requests_total{app=\"chat\"}[2m]))'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to look at: an HPA (NAMESPACE/NAME), a query, or both, since a query says of what load the HPA's numbers are.

    capacity_rpm: what one replica serves, where a configuration says so.
    """

    hpa: str | None = None
    query: str | None = None
    capacity_rpm: float | None = None

    def __post_init__(self) -> None:
        if self.hpa is None and self.query is None:
            raise ConfigRejected("--prometheus needs --hpa NAMESPACE/NAME, whose metric is the load, or --query PROMQL, or both")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What was found. per_pod: what the HPA means a replica to carry, in the load's unit. notes: how each figure came about."""

    load: Load
    size: Size
    hpa: TheirHpa | None = None
    metric: Metric | None = None
    per_pod: float | None = None
    theirs: Hpa | None = None
    notes: Names = field(default=())

    @property
    def trace(self) -> Trace:
        """The load."""
        return self.load.trace


def gather(wanted: Wanted, source: OpenedSource, cluster: Cluster, now: datetime) -> Evidence:
    """Read everything once; nothing is written anywhere.

    Raises ConfigRejected where a query must be given, TraceRejected where there is too little load, and what source and cluster raise.
    """
    hpa = None if wanted.hpa is None else read_hpa(wanted.hpa, cluster)
    metric, load = _load(wanted, hpa, source, cluster, now)
    per_pod = None if metric is None else per_pod_rpm(metric, load.query)
    sized = _size(wanted, per_pod, load, hpa, source)
    theirs = None if hpa is None else replayed(hpa, metric, per_pod=per_pod, replica_rpm=sized.replica_rpm)
    return Evidence(
        load=load,
        size=sized,
        hpa=hpa,
        metric=metric,
        per_pod=per_pod,
        theirs=theirs,
        notes=(*_of_load(load), sized.why, *(() if hpa is None else _of_hpa(hpa, metric, theirs))),
    )


def unit_of(query: Query) -> str:
    """What the load is counted in, as far as the query tells."""
    return "requests/min" if query.unit is Unit.PER_SECOND else "of the query's own unit"


def _load(wanted: Wanted, hpa: TheirHpa | None, source: OpenedSource, cluster: Cluster, now: datetime) -> tuple[Metric | None, Load]:
    """The load, and the HPA's metric that speaks of it."""
    if wanted.query is not None:
        return _leading(hpa), load_of(source, written(wanted.query), now)
    if hpa is None:
        raise AssertionError("Wanted has an HPA or a query")
    for metric in hpa.metrics:
        query = trigger_query(hpa, metric, cluster)
        found = load_among(source, guesses(metric, hpa), now) if query is None else load_of(source, written(query), now)
        if found is not None:
            return metric, found
    raise _without_load(hpa)


def _leading(hpa: TheirHpa | None) -> Metric | None:
    """The metric that says most of what a replica is meant to carry."""
    metrics = () if hpa is None else sorted(hpa.metrics, key=lambda metric: (metric.per_pod is None, metric.utilisation_ratio is None))
    return metrics[0] if metrics else None


def _without_load(hpa: TheirHpa) -> ConfigRejected | SourceRejected:
    if all(metric.is_resource for metric in hpa.metrics):
        on = " and ".join(metric.name for metric in hpa.metrics) or "no metric"
        return ConfigRejected(f"HPA {hpa} scales on {on}, which says how busy its pods are, not how much load came: {_WITH_QUERY}")
    tried = [guess.queries[0].expression for metric in hpa.metrics for guess in guesses(metric, hpa)]
    if not tried:
        on = " and ".join(metric.name for metric in hpa.metrics if not metric.is_resource)
        return ConfigRejected(f"HPA {hpa} scales on {on}, which is no series of Prometheus by that name: {_WITH_QUERY}")
    looked = ", ".join(map(repr, tried))
    return SourceRejected(f"HPA {hpa}: Prometheus has no samples in {FETCHED_DAYS} days for any of {looked}: {_WITH_QUERY}")


def _size(wanted: Wanted, per_pod: float | None, load: Load, hpa: TheirHpa | None, source: OpenedSource) -> Size:
    ready = ready_query(hpa) if hpa is not None and per_pod is None and wanted.capacity_rpm is None else None
    try:
        carried = None if ready is None else carried_by_one(load.trace.rpm, ready_replicas(source, ready, load.trace))
    except SourceRejected:
        carried = None  # the load is there, and a replica can be sized without
    return size(configured=wanted.capacity_rpm, per_pod=per_pod, carried=carried, unit=unit_of(load.query))


def _of_load(load: Load) -> Names:
    trace = load.trace
    days = (trace.end - trace.start).total_seconds() / DAY_S
    step_min = trace.bucket_s // MINUTE_S
    grain = "one value a minute" if step_min == 1 else f"one value every {step_min} minutes, which is as fine as the server keeps them"
    notes = [f"Load: {load.query.expression}: {days:.1f} days, {grain}, {load.measured_ratio:.1%} measured."]
    if days < FETCHED_DAYS - 1:
        notes.append(f"For {REPLAYED_DAYS} replayed days {FETCHED_DAYS} are wanted; that is all that Prometheus keeps of it.")
    return tuple(notes)


def _of_hpa(hpa: TheirHpa, metric: Metric | None, theirs: Hpa | None) -> Names:
    if theirs is None:
        return (f"Your HPA {hpa} aims at a total, not at a share of each replica, so it could not be replayed as it is.",)
    how = " (CPU taken for the share of a replica that is used)" if metric is not None and metric.is_resource else ""
    others = ", ".join(one.name for one in hpa.metrics if one is not metric)
    beside = f"; its other metrics ({others}) were not replayed" if others else ""
    bounds = f"{max(1, hpa.minimum)} to {hpa.maximum} replicas"
    return (f"Your HPA {hpa}: {bounds}, target {theirs.target:.0%} of what a replica carries{how}{beside}.",)

"""Which PromQL gives the load that an HPA follows: what metrics adapters make of a name, the other way round."""

import json
import re
from dataclasses import dataclass

from forecaster.ports import Query, Unit
from forecaster.series import Signal
from forecaster.units import MINUTE_S
from jobs.proof.hpa import Metric, TheirHpa

_SERIES = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_RANGES = ("2m", "5m", "15m")
"""Spans of rate(), the finest first: it wants two samples, and some servers are scraped every few minutes only."""
_PODS = {"Deployment": "-[a-z0-9]+-[a-z0-9]+", "StatefulSet": "-[0-9]+"}
_READY = {"Deployment": "kube_deployment_status_replicas_ready", "StatefulSet": "kube_statefulset_status_replicas_ready"}
_A_SECOND = ("_per_second", "_rps", "_qps")
_A_MINUTE = ("_per_minute", "_rpm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """One series that a metric may stand for: the same question in as many words as it may take, the finest first."""

    queries: tuple[Query, ...]


def written(expression: str) -> Query:
    """A query that a person wrote: what rate() gives is per second, everything else is taken as it is."""
    unit = Unit.PER_SECOND if re.search(r"\bi?rate\s*\(", expression) else Unit.PER_MINUTE
    return Query(signal=Signal.RPM, expression=expression, unit=unit)


def guesses(metric: Metric, hpa: TheirHpa) -> tuple[Guess, ...]:
    """The series that a metric of an HPA may be made of, the likeliest first; none for CPU, memory and names that no series can have.

    `x_per_second` and `x` are what prometheus-adapter makes of the counter `x_total`; a gauge keeps its name.
    """
    if metric.is_resource or not _SERIES.fullmatch(metric.name):
        return ()
    matchers = ",".join((*_whose(metric, hpa), *metric.matchers))
    stem = next((metric.name.removesuffix(end) for end in (*_A_SECOND, *_A_MINUTE) if metric.name.endswith(end)), metric.name)
    counters = (stem,) if stem.endswith("_total") else (f"{stem}_total", *(() if stem == metric.name else (stem,)))
    plain = () if metric.name.endswith("_total") else (Guess(queries=(_as_is(metric.name, matchers),)),)
    return (*plain, *(Guess(queries=tuple(_rate(name, matchers, span) for span in _RANGES)) for name in counters))


def per_pod_rpm(metric: Metric, query: Query) -> float | None:
    """What the HPA means one replica to carry, in the unit that the query's load is kept in."""
    if metric.per_pod is None or metric.per_pod <= 0:
        return None
    return metric.per_pod * (MINUTE_S if query.unit is Unit.PER_SECOND else 1)


def ready_query(hpa: TheirHpa) -> Query | None:
    """The ready replicas of what an HPA scales, as kube-state-metrics tells them; None for kinds that it does not know."""
    kind, name = hpa.scales
    if kind not in _READY:
        return None
    expression = f"max({_READY[kind]}{{namespace={json.dumps(hpa.namespace)},{kind.lower()}={json.dumps(name)}}})"
    return Query(signal=Signal.CONCURRENCY, expression=expression, unit=Unit.COUNT)


def _whose(metric: Metric, hpa: TheirHpa) -> tuple[str, ...]:
    """The matchers that keep other people's series out."""
    namespace = f"namespace={json.dumps(hpa.namespace)}"
    match metric.kind:
        case "Pods":
            kind, name = hpa.scales
            return namespace, f"pod=~{json.dumps(name + _PODS.get(kind, '-.+'))}"
        case "Object" if metric.about is not None:
            kind, name = metric.about
            return (namespace,) if kind == "Namespace" else (namespace, f"{kind.lower()}={json.dumps(name)}")
        case _:
            return ()


def _as_is(name: str, matchers: str) -> Query:
    unit = Unit.PER_SECOND if name.endswith(_A_SECOND) else Unit.PER_MINUTE
    return Query(signal=Signal.RPM, expression=f"sum({name}{{{matchers}}})", unit=unit)


def _rate(name: str, matchers: str, span: str) -> Query:
    return Query(signal=Signal.RPM, expression=f"sum(rate({name}{{{matchers}}}[{span}]))", unit=Unit.PER_SECOND)

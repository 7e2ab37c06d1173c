"""How replicas of a Kubernetes workload came up: the timeline that pods and their nodes carry in their own status.

    requested   metadata.creationTimestamp of the pod
    scheduled   condition PodScheduled, when it became True
    pulled      the last container runs: images are there, init containers are done
    ready       condition Ready, when it became True
    cold        the node was created after the pod

All of it stands on the pod for as long as there is one; the events of the API server say the same, for an hour.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from connectors.kube.cluster import Cluster, Json, KubeFailed
from forecaster.starts import YOUNG_S, Start

_REVISIONS = ("pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash")
"""The label that tells the pods of one template from those of the next, by kind of workload."""
_ENDED = frozenset({"Failed", "Succeeded"})
_OPERATORS = {"In": "{key} in ({values})", "NotIn": "{key} notin ({values})", "Exists": "{key}", "DoesNotExist": "!{key}"}


def selector_of(workload: Json) -> str | None:
    """The label selector of the pods that a workload scales, None where it names none.

    LeaderWorkerSets and Rollouts say it as text in their status, Deployments and StatefulSets as labels in their spec.
    """
    status, spec = workload.get("status") or {}, workload.get("spec") or {}
    text = status.get("hpaPodSelector") or status.get("selector")
    if isinstance(text, str):
        return text
    selector = spec.get("selector") or {}
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    rules = selector.get("matchExpressions") or ()
    terms += [_OPERATORS[rule["operator"]].format(key=rule["key"], values=",".join(rule.get("values") or ())) for rule in rules]
    return ",".join(terms) or None


def starts_of(pods: tuple[Json, ...], target: str, created_of: Callable[[str], datetime | None], now: datetime) -> tuple[Start, ...]:
    """The starts that pods tell of; created_of: when a node was created, None where that cannot be had.

    Left out are pods that ended, are being deleted, or whose containers restarted: ready again is not ready for the first time. Nodes are
    asked for only where a pod is on its way or young. A pod is of a rolling update where an older one is of another template, and where it
    is ready and nobody can tell any more: its template is so young that all of its pods may have come in an update.
    """
    there = [pod for pod in map(_Pod.of, pods) if pod is not None]
    oldest = now - timedelta(seconds=YOUNG_S)
    first_of: dict[str | None, datetime] = {}
    for pod in there:
        first_of[pod.revision] = min(first_of.get(pod.revision, pod.created), pod.created)
    return tuple(
        Start(
            target=target,
            replica=pod.uid,
            requested=pod.created,
            seen_at=max(now, pod.created),
            scheduled=pod.scheduled,
            pulled=pod.pulled,
            ready=pod.ready,
            cold=_cold(pod, created_of) if pod.ready is None or pod.created > oldest else None,
            rollout=any(first < pod.created for revision, first in first_of.items() if revision != pod.revision)
            or (pod.ready is not None and first_of[pod.revision] > oldest),
        )
        for pod in there
        if not pod.ended
    )


class Nodes:
    """When nodes were created, each asked for once; a node that is gone, or may not be read, is not known."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._created: dict[str, datetime | None] = {}

    def created(self, name: str) -> datetime | None:
        """When the node was created, None where that cannot be had."""
        if name not in self._created:
            try:
                self._created[name] = _instant(self._cluster.node(name).get("metadata", {}).get("creationTimestamp"))
            except KubeFailed:
                self._created[name] = None
        return self._created[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    """What we read of a pod."""

    uid: str
    created: datetime
    revision: str | None
    node: str | None
    scheduled: datetime | None
    pulled: datetime | None
    ready: datetime | None
    ended: bool

    @classmethod
    def of(cls, pod: Json) -> "_Pod | None":
        """The pod; None for one that ended, whose corpse may lie there for days, and where clocks contradict each other."""
        metadata, status = pod.get("metadata") or {}, pod.get("status") or {}
        created, uid = _instant(metadata.get("creationTimestamp")), metadata.get("uid")
        if created is None or not uid or status.get("phase") in _ENDED:
            return None
        ready = _since(status, "Ready")
        if ready is not None and ready < created:
            return None
        containers = status.get("containerStatuses") or ()
        labels = metadata.get("labels") or {}
        restarted = any(container.get("restartCount") for container in containers)
        return cls(
            uid=uid,
            created=created,
            revision=next((labels[name] for name in _REVISIONS if name in labels), None),
            node=(pod.get("spec") or {}).get("nodeName"),
            scheduled=_since(status, "PodScheduled"),
            pulled=_running(containers),
            ready=ready,
            ended=restarted or "deletionTimestamp" in metadata,
        )


def _cold(pod: _Pod, created_of: Callable[[str], datetime | None]) -> bool | None:
    born = created_of(pod.node) if pod.node else None
    return None if born is None else born > pod.created


def _since(status: Json, condition: str) -> datetime | None:
    """When a condition became True, None while it is not."""
    met = [each for each in status.get("conditions") or () if each.get("type") == condition and each.get("status") == "True"]
    return _instant(met[0].get("lastTransitionTime")) if met else None


def _running(containers: Any) -> datetime | None:  # noqa: ANN401  # plain JSON
    """When the last container began to run, None before."""
    started = [_instant(((each.get("state") or {}).get("running") or {}).get("startedAt")) for each in containers]
    known = [at for at in started if at is not None]
    return max(known) if known and len(known) == len(started) else None


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None

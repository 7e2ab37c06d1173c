"""A timetable as the cron triggers of a KEDA ScaledObject. Schema: https://keda.sh/docs/latest/scalers/cron/ and scalers/prometheus/."""

from dataclasses import dataclass
from typing import TypeAlias

from jobs.export.week import after_midnight, cron
from jobs.proof.cron import HOURS, CronWindow, Timetable

Manifest: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """What the ScaledObject is called and scales. maximum None = KEDA's own, 100."""

    namespace: str
    name: str
    kind: str
    scales: str
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTrigger:
    """The load beside the crons: a Prometheus, its query, and what one replica is to carry in the query's unit."""

    url: str
    query: str
    threshold: float


def scaled_object(scaled: Scaled, table: Timetable, load: LoadTrigger | None) -> Manifest:
    """A ScaledObject (keda.sh/v1alpha1); KEDA follows the trigger that asks for most, and its minReplicaCount outside of all windows."""
    triggers = [_cron(window) for window in table.windows]
    if load is not None:
        metadata = {"serverAddress": load.url, "query": load.query, "threshold": f"{load.threshold:.6g}"}
        triggers.append({"type": "prometheus", "metadata": metadata})
    bounds = {"minReplicaCount": table.minimum, **({} if scaled.maximum is None else {"maxReplicaCount": scaled.maximum})}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": scaled.name, "namespace": scaled.namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": scaled.kind, "name": scaled.scales},
            **bounds,
            "triggers": triggers,
        },
    }


def _cron(window: CronWindow) -> Manifest:
    """One window. An end at or after midnight falls on the days after."""
    overnight = window.until_h == HOURS or window.until_h <= window.from_h
    end_days = after_midnight(window.days) if overnight else window.days
    return {
        "type": "cron",
        "metadata": {
            "timezone": "UTC",
            "start": cron(window.days, window.from_h),
            "end": cron(end_days, window.until_h % HOURS),
            "desiredReplicas": str(window.replicas),
        },
    }

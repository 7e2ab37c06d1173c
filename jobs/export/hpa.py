"""A patch that moves the target of the user's own HPA, and nothing else of it."""

import copy
from typing import Any, TypeAlias

from forecaster.errors import ConfigRejected
from jobs.aims import Dial
from jobs.export.kept import KeptHpa
from jobs.proof.quantity import quantity

Manifest: TypeAlias = dict[str, object]
_PARTS = {"Pods": "pods", "Object": "object", "External": "external", "Resource": "resource", "ContainerResource": "containerResource"}


def target_patch(hpa: KeptHpa, target: float) -> Manifest:
    """A merge patch of `spec.metrics`, the whole list since a merge replaces it, with the replayed metric aiming at `target` of a replica.

    Raises ConfigRejected where the HPA's target is no share of a replica, so that nobody can say what to write.
    """
    if hpa.target_utilisation is None or hpa.metric is None:
        raise ConfigRejected(f"HPA {hpa.namespace}/{hpa.name} aims at a total, not at a share of each replica: set its target by hand")
    metrics = copy.deepcopy(hpa.spec_metrics)
    for metric in metrics:
        part: Any = metric.get(part_of(str(metric.get("type"))))
        if isinstance(part, dict) and _name(part) == hpa.metric:
            _move(part["target"], target / hpa.target_utilisation)
    return {"spec": {"metrics": list(metrics)}}


def dial_patch(dial: Dial, target: float) -> Manifest:
    """The same for an HPA that was just read, where what its metric reads of a full replica is known."""
    metrics = copy.deepcopy(dial.hpa.spec_metrics)
    part: Any = metrics[dial.hpa.metrics.index(dial.metric)][part_of(dial.metric.kind)]
    part["target"]["averageValue"] = written(target * dial.full)
    return {"spec": {"metrics": list(metrics)}}


def part_of(kind: str) -> str:
    """Under which key a metric of a type has what it says; empty for a type that there is none of."""
    return _PARTS.get(kind, "")


def _name(part: dict[str, Any]) -> str:
    return str(part.get("name") or part.get("metric", {}).get("name"))


def _move(target: dict[str, Any], factor: float) -> None:
    if "averageUtilization" in target:
        target["averageUtilization"] = round(target["averageUtilization"] * factor)
    elif (value := quantity(target.get("averageValue", ""))) is not None:
        target["averageValue"] = written(value * factor)


def written(value: float) -> str:
    """A quantity of three digits that count, in thousandths where it is no whole number."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:.0f}" if rounded.is_integer() else f"{round(rounded * 1000)}m"

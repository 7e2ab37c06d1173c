"""The query behind an HPA that KEDA made: it stands in the ScaledObject, word for word."""

import re

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from jobs.proof.hpa import Metric, TheirHpa

_TRIGGER = re.compile(r"s(\d+)-prometheus.*")
"""How KEDA names the external metric of a Prometheus trigger: s, its place in the list, its type."""


def trigger_query(hpa: TheirHpa, metric: Metric, cluster: Cluster) -> str | None:
    """The PromQL of the trigger that an external metric stands for; None where KEDA has no hand in it or its object cannot be read."""
    named = _TRIGGER.fullmatch(metric.name)
    if hpa.keda is None or metric.kind != "External" or named is None:
        return None
    ref = ObjectRef(group="keda.sh", version="v1alpha1", plural="scaledobjects", namespace=hpa.namespace, name=hpa.keda)
    try:
        triggers = _ScaledObject.model_validate(cluster.read(ref)).spec.triggers
    except (KubeFailed, ValidationError):
        return None  # a role that may read HPAs only: the person is asked for the query instead
    place = int(named[1])
    return triggers[place].metadata.get("query") if place < len(triggers) else None


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _Trigger(_Part):
    metadata: dict[str, str] = Field(default_factory=dict)


class _Spec(_Part):
    triggers: tuple[_Trigger, ...] = ()


class _ScaledObject(_Part):
    spec: _Spec

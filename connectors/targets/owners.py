"""Objects that another controller makes and writes again: what moves them is their owner's field, and the owner is the target."""

from dataclasses import dataclass

from connectors.kube.cluster import Json, ObjectRef
from forecaster.errors import TargetRefused

_KEDA_NAME = "scaledobject.keda.sh/name"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owner:
    """A kind of owner: what people call it, the field that it writes again, the type of target that moves that field."""

    called: str
    field: str
    target: str


_KEDA = _Owner(called="KEDA ScaledObject", field="minReplicaCount", target="keda-scaledobject")
_OWNERS = {
    ("keda.sh", "ScaledObject"): _KEDA,
    ("serving.kserve.io", "InferenceService"): _Owner(
        called="KServe InferenceService", field="spec.predictor.minReplicas", target="kserve"
    ),
    ("autoscaling.aibrix.ai", "PodAutoscaler"): _Owner(called="AIBrix PodAutoscaler", field="minReplicas", target="aibrix"),
    ("autoscaling.internal.knative.dev", "PodAutoscaler"): _Owner(
        called="Knative PodAutoscaler", field="min-scale of its Revision", target="knative"
    ),
    ("nvidia.com", "DynamoGraphDeployment"): _Owner(called="DynamoGraphDeployment", field="replicas", target="dynamo"),
}


def check_owners(value: Json, ref: ObjectRef) -> None:
    """Raises TargetRefused where a controller that we know made the object and would write its own value back, naming it and the remedy."""
    metadata = value.get("metadata") or {}
    for owner in metadata.get("ownerReferences") or ():
        known = _OWNERS.get((str(owner.get("apiVersion", "")).partition("/")[0], str(owner.get("kind"))))
        if known is not None:
            raise TargetRefused(_refusal(ref, known, str(owner.get("name"))))
    name = {**(metadata.get("annotations") or {}), **(metadata.get("labels") or {})}.get(_KEDA_NAME)
    if name is not None:
        raise TargetRefused(_refusal(ref, _KEDA, name))


def _refusal(ref: ObjectRef, owner: _Owner, name: str) -> str:
    return (
        f"{ref} belongs to the {owner.called} {ref.namespace}/{name}, which would write its own value back: "
        f"make that the target (type {owner.target}, which moves {owner.field})"
    )

"""minReplicaCount of a KEDA ScaledObject (keda.sh/v1alpha1), under which KEDA's own HPA goes on working.

| annotation of the ScaledObject                | what we do                                             |
|-----------------------------------------------|--------------------------------------------------------|
| autoscaling.keda.sh/paused, paused-replicas   | hold: KEDA holds the replicas, whatever the minimum    |
| autoscaling.keda.sh/paused-scale-out          | hold: a higher minimum would scale out all the same    |
| autoscaling.keda.sh/paused-scale-in           | raise, and lower nothing                               |
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.kube_object import KubeObject, Standing
from connectors.targets.object_fields import CountField, optional_count
from connectors.targets.object_names import NAMESPACE, object_name
from connectors.targets.owners import check_owners
from connectors.targets.scaled_workload import scale_target
from connectors.targets.taken import raise_only
from forecaster.reasons import Code, Reason

_PREFIX = "autoscaling.keda.sh/"
_SCALE_IN = f"{_PREFIX}paused-scale-in"
_REPLICAS = f"{_PREFIX}paused-replicas"
_HOLDING = (f"{_PREFIX}paused", f"{_PREFIX}paused-scale-out")
_FALSE = frozenset({"0", "f", "F", "false", "False", "FALSE"})  # KEDA takes any other text for true
_MOST = 100  # KEDA's own maximum where none is written
_IDLE = CountField(path=("spec", "idleReplicaCount"))


class KedaScaledObjectConfig(BaseModel):
    """One ScaledObject whose minReplicaCount is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["keda-scaledobject"] = Field(description="This kind of target: spec.minReplicaCount of a KEDA ScaledObject.")
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(min_length=1, description="Name of the ScaledObject, as `kubectl get scaledobject` prints it. No default.")
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`keda-scaledobject:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The ScaledObject, held while KEDA is paused; a minimum that is not written is 0, and 0 is taken."""
        ref = ObjectRef(group="keda.sh", version="v1alpha1", plural="scaledobjects", namespace=self.namespace, name=self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "minReplicaCount"), absent=0),
            ceiling=CountField(path=("spec", "maxReplicaCount"), absent=_MOST, least=1),
            scaled=lambda value, _: scale_target(value, ref.namespace),
            check=lambda value, _: check_owners(value, ref),
            least=lambda standing: _least(standing, self.target),
            paused=_paused,
            stuck=_stuck,
        )


def _stuck(value: Json) -> str | None:
    """What KEDA says of a ScaledObject that is not ready."""
    conditions = (value.get("status") or {}).get("conditions") or ()
    failed = next((each for each in conditions if each.get("type") == "Ready" and each.get("status") == "False"), None)
    return None if failed is None else f"{failed.get('reason')}: {failed.get('message')}"


def _paused(value: Json) -> str | None:
    annotations = _annotations(value)
    if _REPLICAS in annotations:
        return f"KEDA, whose annotation {_REPLICAS} says {annotations[_REPLICAS]}"
    key = next((key for key in _HOLDING if _is_true(annotations, key)), None)
    return None if key is None else f"KEDA, whose annotation {key} says {annotations[key]}"


def _least(standing: Standing, target: str) -> Reason | None:
    """As many as now while KEDA scales nothing in; more than idleReplicaCount, without which KEDA's webhook refuses the ScaledObject."""
    if _is_true(_annotations(standing.value), _SCALE_IN):
        return raise_only(standing.floor, f"the annotation {_SCALE_IN} of {target} lets KEDA scale nothing in")
    idle = optional_count(standing.value, _IDLE, target)
    if idle is None:
        return None
    detail = f"minReplicaCount of {target} has to be above its idleReplicaCount {idle}, or KEDA refuses it: it gets {idle + 1}"
    return Reason(code=Code.MIN_BINDS, detail=detail, after=idle + 1)


def _is_true(annotations: dict[str, str], key: str) -> bool:
    return key in annotations and annotations[key] not in _FALSE


def _annotations(value: Json) -> dict[str, str]:
    return (value.get("metadata") or {}).get("annotations") or {}

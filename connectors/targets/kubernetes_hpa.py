"""minReplicas of a HorizontalPodAutoscaler (autoscaling/v2): the floor under an autoscaler that goes on working above it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.kube_object import KubeObject, Standing
from connectors.targets.object_fields import CountField
from connectors.targets.object_names import object_name
from connectors.targets.owners import check_owners
from connectors.targets.scaled_workload import scale_target
from forecaster.reasons import Code, Reason


class KubernetesHpaConfig(BaseModel):
    """One HPA whose minReplicas is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-hpa"] = Field(description="This kind of target: spec.minReplicas of an autoscaling/v2 HPA.")
    namespace: str = Field(min_length=1, description="Namespace of the HPA. No default: the current namespace of a kubeconfig changes.")
    name: str = Field(min_length=1, description="Name of the HPA, as `kubectl get hpa` prints it. No default.")
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`kubernetes-hpa:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The HPA: refused where another controller made it, such as KEDA; 0 is taken where it was found at 0."""
        ref = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=self.namespace, name=self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "minReplicas"), absent=1),
            ceiling=CountField(path=("spec", "maxReplicas"), least=1),
            scaled=lambda value, _: scale_target(value, ref.namespace),
            check=lambda value, _: check_owners(value, ref),
            least=lambda standing: _least(standing, self.target),
            stuck=_stuck,
        )


_WORKS = ("AbleToScale", "ScalingActive")


def _stuck(value: Json) -> str | None:
    """What the HPA says of itself where it does not scale; at 0 replicas it is told to rest, which is no fault."""
    for each in (value.get("status") or {}).get("conditions") or ():
        if each.get("type") in _WORKS and each.get("status") == "False" and each.get("reason") != "ScalingDisabled":
            return f"{each.get('reason')}: {each.get('message')}"
    return None


def _least(standing: Standing, target: str) -> Reason | None:
    if standing.original == 0:
        return None
    detail = f"a HPA takes no minReplicas of 0 without the feature gate HPAScaleToZero: {target} gets 1"
    return Reason(code=Code.ZERO_NOT_TAKEN, detail=detail, after=1)

"""minReplicas of a HorizontalPodAutoscaler (autoscaling/v2): the floor under an autoscaler that goes on working above it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Json, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.targets.kube_object import CLUSTER, KubeObject, Standing, object_name
from connectors.targets.object_fields import CountField
from connectors.targets.scaled_workload import workload_ref
from forecaster.errors import TargetRefused
from forecaster.reasons import Code, Reason

_KEDA_NAME = "scaledobject.keda.sh/name"


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
        """The HPA: refused where KEDA owns it, which would write its own minimum back; 0 is taken where it was found at 0."""
        ref = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=self.namespace, name=self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "minReplicas"), absent=1),
            ceiling=CountField(path=("spec", "maxReplicas"), least=1),
            scaled=lambda value, _: _scaled(value, ref),
            check=lambda value, _: _check_owner(value, ref),
            least=lambda standing: _least(standing, self.target),
        )


def _scaled(value: Json, ref: ObjectRef) -> ObjectRef | None:
    """The workload that the HPA scales, None for a kind that we do not know."""
    try:
        scaled = _Hpa.model_validate(value).spec.scale_target_ref
    except ValidationError as error:
        msg = f"{ref} has no usable spec.scaleTargetRef: is it an autoscaling/v2 HPA?"
        raise TargetRefused(msg) from error
    return workload_ref(api_version=scaled.api_version, kind=scaled.kind, namespace=ref.namespace, name=scaled.name)


def _check_owner(value: Json, ref: ObjectRef) -> None:
    metadata = _Owned.model_validate(value).metadata
    owner = next((owner.name for owner in metadata.owner_references if owner.kind == "ScaledObject"), None)
    owner = owner or metadata.labels.get(_KEDA_NAME) or metadata.annotations.get(_KEDA_NAME)
    if owner is not None:
        msg = (
            f"{ref} belongs to the KEDA ScaledObject {ref.namespace}/{owner}, which would write its own minimum back: "
            f"make that ScaledObject the target (type keda-scaledobject, which moves its minReplicaCount)"
        )
        raise TargetRefused(msg)


def _least(standing: Standing, target: str) -> Reason | None:
    if standing.original == 0:
        return None
    detail = f"a HPA takes no minReplicas of 0 without the feature gate HPAScaleToZero: {target} gets 1"
    return Reason(code=Code.ZERO_NOT_TAKEN, detail=detail, after=1)


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Owner(_Part):
    kind: str
    name: str


class _Metadata(_Part):
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    owner_references: tuple[_Owner, ...] = ()


class _Owned(_Part):
    metadata: _Metadata


class _ScaleTargetRef(_Part):
    api_version: str = ""
    kind: str
    name: str


class _Spec(_Part):
    scale_target_ref: _ScaleTargetRef


class _Hpa(_Part):
    spec: _Spec

"""Who scales an object already: the HPA, KEDA ScaledObject or serving autoscaler that names it in its scaleTargetRef.

Such an object's replicas are not ours to write: the loop would write its own number back within seconds. The loop's minimum is ours.
"""

from dataclasses import dataclass
from http import HTTPStatus

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef

HPA, SCALED_OBJECT = "HPA", "KEDA ScaledObject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """The object asked about: API group (`apps`), kind (`Deployment`), namespace and name."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaler:
    """The loop that writes an object's replicas. `remedy`: what to make the target instead."""

    kind: str
    namespace: str
    name: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def refusal(self, scaled: Scaled) -> str:
        """The sentence of a target that must not write the object."""
        return f"the {self} scales the {scaled} and would write its own number back: {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """One kind of loop. needed: without the right to list it nobody can say that an object has no loop."""

    kind: str
    group: str
    version: str
    plural: str
    remedy: str
    needed: bool


_LOOPS = (
    _Loop(
        kind=SCALED_OBJECT,
        group="keda.sh",
        version="v1alpha1",
        plural="scaledobjects",
        remedy="make that ScaledObject the target (type keda-scaledobject)",
        needed=True,
    ),
    _Loop(
        kind=HPA,
        group="autoscaling",
        version="v2",
        plural="horizontalpodautoscalers",
        remedy="make that HPA the target (type kubernetes-hpa)",
        needed=True,
    ),
    _Loop(
        kind="AIBrix PodAutoscaler",
        group="autoscaling.aibrix.ai",
        version="v1alpha1",
        plural="podautoscalers",
        remedy="make that PodAutoscaler the target (type aibrix)",
        needed=False,
    ),
    _Loop(
        kind="Knative PodAutoscaler",
        group="autoscaling.internal.knative.dev",
        version="v1alpha1",
        plural="podautoscalers",
        remedy="make its service the target (type knative, or kserve for an InferenceService)",
        needed=False,
    ),
)
"""KEDA comes before the HPA: it makes an HPA of its own, which must not be the answer."""


def scaler_of(scaled: Scaled, cluster: Cluster) -> Scaler | None:
    """The loop that scales the object, None where there is none. A cluster without a loop's CRD has none of that kind.

    Lists are shared by all that ask within two seconds, so that 2,000 targets of a namespace cost no more of them than ten.
    Raises KubeFailed where HPAs or ScaledObjects cannot be listed: an object of which nobody can tell is not ours to write. The other
    kinds count where our role may list them.
    """
    for loop in _LOOPS:
        for value in _listed(loop, scaled.namespace, cluster):
            named = _named(value)
            if named is not None and _names(named.spec.scale_target_ref, scaled):
                return _scaler(loop, named)
    return None


def _listed(loop: _Loop, namespace: str, cluster: Cluster) -> tuple[Json, ...]:
    ref = ObjectRef(group=loop.group, version=loop.version, plural=loop.plural, namespace=namespace, name="")
    try:
        return cluster.found_lately(ref)
    except KubeFailed as failed:
        if failed.status == HTTPStatus.NOT_FOUND or (failed.status == HTTPStatus.FORBIDDEN and not loop.needed):
            return ()
        raise


def _named(value: Json) -> "_Named | None":
    """The loop as read; None for one that scales something that is no single object, which is never ours."""
    try:
        return _Named.model_validate(value)
    except ValidationError:
        return None


def _names(ref: "_ScaleTargetRef", scaled: Scaled) -> bool:
    return (ref.api_version.rpartition("/")[0], ref.kind, ref.name) == (scaled.group, scaled.kind, scaled.name)


def _scaler(loop: _Loop, named: "_Named") -> Scaler:
    """The loop itself, or the ScaledObject that owns it where our look at ScaledObjects came too early to see it."""
    metadata = named.metadata
    keda = next((owner.name for owner in metadata.owner_references if owner.kind == "ScaledObject"), None)
    if keda is not None:
        return Scaler(kind=SCALED_OBJECT, namespace=metadata.namespace, name=keda, remedy=_LOOPS[0].remedy)
    return Scaler(kind=loop.kind, namespace=metadata.namespace, name=metadata.name, remedy=loop.remedy)


class _Part(BaseModel):
    """A part of an API object; what we do not read is ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class _Owner(_Part):
    kind: str
    name: str


class _Metadata(_Part):
    namespace: str
    name: str
    owner_references: tuple[_Owner, ...] = ()


class _ScaleTargetRef(_Part):
    api_version: str = "apps/v1"  # as KEDA reads a reference that leaves it out
    kind: str = "Deployment"
    name: str


class _Spec(_Part):
    scale_target_ref: _ScaleTargetRef


class _Named(_Part):
    metadata: _Metadata
    spec: _Spec

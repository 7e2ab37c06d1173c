"""minReplicas of the predictor of a KServe InferenceService.

| deployment mode            | what is moved                                                                              |
|----------------------------|--------------------------------------------------------------------------------------------|
| Standard, RawDeployment    | spec.predictor.minReplicas, from which KServe makes its HPA or ScaledObject                |
| Knative, Serverless        | min-scale of the serving Revision: minReplicas would make a new one and load every GPU anew |

KServe hands annotations of an InferenceService on to its pods, which restarts them, unless its configuration lists them as disallowed.
"""

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Cluster, Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.knative_revision import revision_object, serving_revision
from connectors.targets.kube_object import KubeObject, Standing
from connectors.targets.marks import OURS
from connectors.targets.object_fields import CountField
from connectors.targets.object_names import NAMESPACE, object_name
from connectors.targets.scaled_workload import deployment
from forecaster.errors import TargetRefused
from forecaster.reasons import Code, Reason

_MODE = "serving.kserve.io/deploymentMode"
_CLASS = "serving.kserve.io/autoscalerClass"
_SERVERLESS = frozenset({"Knative", "Serverless"})
_CONFIG_MAP = "inferenceservice-config"


class KserveConfig(BaseModel):
    """One InferenceService, the floor of whose predictor is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kserve"] = Field(description="This kind of target: the least replicas of the predictor of a KServe InferenceService.")
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(min_length=1, description="Name of the InferenceService, as `kubectl get isvc` prints it. No default.")
    controller_namespace: str = Field(
        default="kserve",
        min_length=1,
        description="Namespace of KServe itself, whose ConfigMap inferenceservice-config says which annotations reach no pod. Default "
        "kserve, as its manifests install it.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`kserve:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The InferenceService, or the Revision that serves it. Refused where a write would restart its pods or move nothing."""
        ref = ObjectRef(group="serving.kserve.io", version="v1beta1", plural="inferenceservices", namespace=self.namespace, name=self.name)
        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=("spec", "predictor", "minReplicas"), absent=1),
            ceiling=CountField(path=("spec", "predictor", "maxReplicas")),
            scaled=lambda _value, _cluster: deployment(self.namespace, f"{self.name}-predictor"),
            check=lambda value, cluster: _check(value, ref, cluster, self.controller_namespace),
            least=lambda standing: _least(standing, self.target),
            carrier=lambda value, _: self._carrier(value, ref),
        )

    def _carrier(self, value: Json, ref: ObjectRef) -> KubeObject | None:
        predictor = ((value.get("status") or {}).get("components") or {}).get("predictor") or {}
        traffic, latest = predictor.get("traffic") or (), predictor.get("latestReadyRevision")
        mode = _mode(value)
        if mode not in _SERVERLESS and (mode is not None or latest is None):
            return None
        name = serving_revision(traffic, latest, str(ref))
        return revision_object(target=self.target, namespace=self.namespace, name=name)


def _check(value: Json, ref: ObjectRef, cluster: Cluster, controller_namespace: str) -> None:
    mode, scaler = _mode(value), _annotations(value).get(_CLASS)
    if mode == "ModelMesh":
        msg = f"{ref} is served by ModelMesh, whose replicas are those of a ServingRuntime: make that the target (type kubernetes-field)"
        raise TargetRefused(msg)
    if scaler in {"external", "none"}:
        msg = f"{ref} has {_CLASS}: {scaler}, so that KServe scales nothing by minReplicas: make the HPA or ScaledObject the target"
        raise TargetRefused(msg)
    lacking = [key for key in OURS if key not in _disallowed(cluster.config_map(controller_namespace, _CONFIG_MAP))]
    if lacking:
        msg = (
            f"KServe would hand our annotations of {ref} on to its pods and restart them with every floor: add {', '.join(lacking)} to "
            f"serviceAnnotationDisallowedList in the key inferenceService of ConfigMap {controller_namespace}/{_CONFIG_MAP}, or set "
            f"{_CLASS}: external and make an HPA of your own the target"
        )
        raise TargetRefused(msg)


def _disallowed(config_map: dict[str, str]) -> tuple[str, ...]:
    """The annotations that reach no pod; none where the configuration says nothing of it that can be read."""
    try:
        section: Any = json.loads(config_map.get("inferenceService", ""))
    except ValueError:
        return ()
    listed = section.get("serviceAnnotationDisallowedList") if isinstance(section, dict) else None
    return tuple(listed) if isinstance(listed, list) else ()


def _least(standing: Standing, target: str) -> Reason | None:
    if standing.original == 0:
        return None
    detail = f"KServe's HPA takes no minimum of 0: {target} gets 1"
    return Reason(code=Code.ZERO_NOT_TAKEN, detail=detail, after=1)


def _mode(value: Json) -> str | None:
    """How KServe runs it: what it recorded itself comes before what was asked for."""
    return (value.get("status") or {}).get("deploymentMode") or _annotations(value).get(_MODE)


def _annotations(value: Json) -> dict[str, str]:
    return (value.get("metadata") or {}).get("annotations") or {}

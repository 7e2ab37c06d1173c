"""min-scale of a Knative Service, on the Revision that serves."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.targets.knative_revision import MAX_SCALE, MIN_SCALE, revision_object, serving_revision
from connectors.targets.kube_object import KubeObject
from connectors.targets.object_names import NAMESPACE, object_name


class KnativeConfig(BaseModel):
    """One Knative Service, the min-scale of whose serving Revision is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["knative"] = Field(description="This kind of target: min-scale of the Revision that serves a Knative Service.")
    namespace: str = Field(min_length=1, description=NAMESPACE)
    name: str = Field(min_length=1, description="Name of the Service of serving.knative.dev, as `kubectl get ksvc` prints it. No default.")
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @property
    def target(self) -> str:
        """`knative:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
        return object_name(self.type, self.namespace, self.name, self.cluster)

    def kube_object(self) -> KubeObject:
        """The Revision that most of the traffic goes to; it gets the whole floor while another takes over."""
        ref = ObjectRef(group="serving.knative.dev", version="v1", plural="services", namespace=self.namespace, name=self.name)

        def carrier(value: Json) -> KubeObject:
            status = value.get("status") or {}
            name = serving_revision(status.get("traffic") or (), status.get("latestReadyRevisionName"), str(ref))
            return revision_object(target=self.target, namespace=self.namespace, name=name)

        return KubeObject(target=self.target, ref=ref, floor=MIN_SCALE, ceiling=MAX_SCALE, carrier=lambda value, _: carrier(value))

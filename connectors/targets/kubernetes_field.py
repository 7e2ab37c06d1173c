"""Any number field of any object: for autoscalers and serving kinds that have no type of target of their own."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from connectors.kube.cluster import Cluster, Json, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from connectors.kube.paths import parse
from connectors.kube.plurals import regular_plural
from connectors.targets.kube_object import KubeObject, Standing
from connectors.targets.object_fields import CountField
from connectors.targets.owners import check_owners
from connectors.targets.replicas_alone import check_alone
from connectors.targets.scaled_workload import scale_target
from connectors.targets.taken import raise_only
from forecaster.reasons import Reason

_REPLICAS = "replicas"


def _path(text: str) -> str:
    parse(text)
    return text


class KubernetesFieldConfig(BaseModel):
    """One number field of one object that is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes-field"] = Field(description="This kind of target: one number field of any object.")
    api_version: str = Field(
        pattern=r"^[a-z0-9.-]+/[a-z0-9]+$", description="API group and version of the object, such as keda.sh/v1alpha1. No default."
    )
    kind: str | None = Field(
        default=None, pattern=r"^[A-Z][A-Za-z0-9]*$", description="Kind of the object, such as ScaledObject. Default: none, with `plural`."
    )
    plural: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]+$",
        description="Plural of the kind, as `kubectl api-resources` prints it. Default: the regular one of `kind`.",
    )
    namespace: str | None = Field(
        default=None, min_length=1, description="Namespace of the object. Default: none, for kinds of the whole cluster."
    )
    name: str = Field(min_length=1, description="Name of the object. No default.")
    field: Annotated[str, AfterValidator(_path)] = Field(
        description="Path of the floor: keys with dots between them, ['KEY'] for a key that has dots itself. No default."
    )
    absent: int | None = Field(
        default=None,
        ge=0,
        description="What the floor is where the field is not written, in its own unit. Default: none; the field then has to be there.",
    )
    ceiling_field: Annotated[str, AfterValidator(_path)] | None = Field(
        default=None, description="Path of the ceiling, if the object has one. Default: none."
    )
    replicas_per_unit: int = Field(
        default=1, ge=1, description="Replicas that one of the field's count stands for; floors are rounded up to whole units. Default 1."
    )
    lower: bool = Field(
        default=False,
        description="Whether a field that is the number of replicas itself may go down again. Default false: without an autoscaler above "
        "us a number too low serves nobody. Of no effect on a minimum under an autoscaler.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)

    @model_validator(mode="after")
    def _kind_or_plural(self) -> Self:
        if self.kind is None and self.plural is None:
            msg = "kind or plural is needed, which says what kind of object it is"
            raise ValueError(msg)
        return self

    @property
    def ref(self) -> ObjectRef:
        """The object in the API."""
        group, _, version = self.api_version.partition("/")
        plural = self.plural or regular_plural(self.kind or "")
        return ObjectRef(group=group, version=version, plural=plural, namespace=self.namespace or "", name=self.name)

    @property
    def target(self) -> str:
        """`kubernetes-field:NAMESPACE/PLURAL.GROUP/NAME/FIELD`, and `@CONTEXT` where a context is configured."""
        where = f"{self.namespace}/{self.ref.resource}" if self.namespace else self.ref.resource
        context = self.cluster.context
        return f"{self.type}:{where}/{self.name}/{self.field}" + (f"@{context}" if context is not None else "")

    def kube_object(self) -> KubeObject:
        """The field. Where it is replicas themselves: refused under an autoscaler, and without one lowered only if `lower` says so."""
        ref, path = self.ref, parse(self.field)
        desired = path[-1] == _REPLICAS

        def check(value: Json, cluster: Cluster) -> None:
            check_owners(value, ref)
            if desired and ref.namespace:
                check_alone(value, ref, cluster)

        def least(standing: Standing) -> Reason | None:
            if not desired or self.lower:
                return None
            return raise_only(standing.floor, f"no autoscaler is above {self.target}, and lower: true is not set")

        return KubeObject(
            target=self.target,
            ref=ref,
            floor=CountField(path=path, absent=self.absent),
            ceiling=None if self.ceiling_field is None else CountField(path=parse(self.ceiling_field)),
            replicas_per_unit=self.replicas_per_unit,
            scaled=lambda value, _: ref if path == ("spec", _REPLICAS) else scale_target(value, ref.namespace),
            check=check,
            least=least,
        )

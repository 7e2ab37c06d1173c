"""The kinds of Kubernetes objects that the watchdog can look through, and how each is named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from connectors.kube.cluster import ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.targets.aibrix import AibrixConfig
from connectors.targets.capacity_buffer import CapacityBufferConfig
from connectors.targets.dynamo import DynamoConfig
from connectors.targets.keda_scaledobject import KedaScaledObjectConfig
from connectors.targets.knative_revision import MARK_PREFIX, revision_object
from connectors.targets.kserve import KserveConfig
from connectors.targets.kube_object import KubeObject, KubeObjectTarget
from connectors.targets.kubernetes_field import KubernetesFieldConfig
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from connectors.targets.kubernetes_scale import KubernetesScaleConfig
from connectors.targets.marks import PREFIX
from connectors.targets.registry import OPENERS, Clients, Target, TargetConfig
from connectors.targets.scale_subresource import KINDS as SCALED
from forecaster.errors import ConfigRejected

Opener = Callable[[str, str, KubeConnection, Clients], Target]
"""Namespace, name, cluster: the target as the line opens it."""
_NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind. listed: all objects of it, in no namespace yet. mark_prefix: what our annotations begin with there."""

    name: str
    listed: ObjectRef
    open: Opener
    mark_prefix: str = PREFIX


def kind_of(text: str) -> Kind:
    """The kind as it is written on the command line. Raises ConfigRejected naming the kinds that there are."""
    first, _, rest = text.partition(":")
    if first == "kubernetes-scale" and rest in SCALED:
        return _scaled(rest)
    if first == "kubernetes-field" and rest:
        return _field(text, *rest.partition(":")[::2])
    if text in _KINDS:
        return _KINDS[text]()
    known = ", ".join([*_KINDS, *(f"kubernetes-scale:{kind}" for kind in SCALED)])
    msg = f"{text} is no kind that can be looked through; there is: {known}, kubernetes-field:GROUP/VERSION/PLURAL:FIELD"
    raise ConfigRejected(msg)


def _object_kind(config: type[Any], **rest: object) -> Kind:
    """A kind of target that is one field of one object."""

    def described(namespace: str, name: str, cluster: KubeConnection) -> TargetConfig:
        opened: TargetConfig = config(type=kind, namespace=namespace, name=name, cluster=cluster, **rest)
        return opened

    (kind,) = config.model_fields["type"].annotation.__args__
    spec: KubeObject = described(_NONE, _NONE, KubeConnection()).kube_object()  # type: ignore[union-attr]  # all of them have it
    return Kind(name=kind, listed=_all_of(spec.ref), open=_opened(described))


def _scaled(kind: str) -> Kind:
    def described(namespace: str, name: str, cluster: KubeConnection) -> KubernetesScaleConfig:
        return KubernetesScaleConfig(type="kubernetes-scale", kind=kind, namespace=namespace, name=name, cluster=cluster)

    ref = described(_NONE, _NONE, KubeConnection()).ref
    return Kind(name=f"kubernetes-scale:{kind}", listed=_all_of(ref), open=_opened(described))


def _field(text: str, resource: str, field: str) -> Kind:
    api_version, _, plural = resource.rpartition("/")

    def described(namespace: str, name: str, cluster: KubeConnection) -> KubernetesFieldConfig:
        return KubernetesFieldConfig(
            type="kubernetes-field",
            api_version=api_version,
            plural=plural,
            namespace=namespace or None,
            name=name,
            field=field,
            cluster=cluster,
        )

    try:
        ref = described(_NONE, _NONE, KubeConnection()).ref
    except ValidationError as error:
        msg = f"{text} names no field: write kubernetes-field:GROUP/VERSION/PLURAL:FIELD, as in {_EXAMPLE}"
        raise ConfigRejected(msg) from error
    return Kind(name=text, listed=_all_of(ref), open=_opened(described))


_EXAMPLE = "kubernetes-field:example.com/v1/fleets:spec.minReplicas"


def _revisions() -> Kind:
    """Where floors of Knative Services and of serverless InferenceServices stand, also on a Revision that serves no more."""

    def opened(namespace: str, name: str, cluster: KubeConnection, clients: Clients) -> Target:
        spec = revision_object(target=f"knative:{namespace}/{name}", namespace=namespace, name=name)
        return KubeObjectTarget(spec, clients.cluster(cluster))

    ref = revision_object(target=_NONE, namespace=_NONE, name=_NONE).ref
    return Kind(name="knative", listed=_all_of(ref), open=opened, mark_prefix=MARK_PREFIX)


def _opened(described: Callable[[str, str, KubeConnection], TargetConfig]) -> Opener:
    def opened(namespace: str, name: str, cluster: KubeConnection, clients: Clients) -> Target:
        config = described(namespace, name, cluster)
        return OPENERS[type(config)](config, clients)

    return opened


def _all_of(ref: ObjectRef) -> ObjectRef:
    return ObjectRef(group=ref.group, version=ref.version, plural=ref.plural, namespace="", name="")


_KINDS: Mapping[str, Callable[[], Kind]] = {
    "kubernetes-hpa": lambda: _object_kind(KubernetesHpaConfig),
    "keda-scaledobject": lambda: _object_kind(KedaScaledObjectConfig),
    "kserve": lambda: _object_kind(KserveConfig),
    "knative": _revisions,
    "aibrix": lambda: _object_kind(AibrixConfig),
    "dynamo": lambda: _object_kind(DynamoConfig),
    "capacity-buffer": lambda: _object_kind(CapacityBufferConfig),
}

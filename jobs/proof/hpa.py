"""A HorizontalPodAutoscaler as its owner set it up: read once, never written."""

import json
import re
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.errors import target_error
from connectors.targets.marks import ORIGINAL
from forecaster.errors import ConfigRejected, TargetMissing, TargetRefused
from forecaster.simulate.autoscaler import KUBERNETES_DOWN, KUBERNETES_UP, ScalingPolicy, ScalingRules, Select, Unit
from jobs.proof.quantity import quantity

Kind: TypeAlias = Literal["Resource", "ContainerResource", "Pods", "Object", "External"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric that an HPA follows.

    matchers: its selector in PromQL's words, such as `model="a"`. about: kind and name of the object that an Object metric describes.
    per_pod: the load that one replica is meant to carry, in the metric's own unit. utilisation_ratio: of what its containers request.
    Both None where the target is a total.
    """

    kind: Kind
    name: str
    matchers: tuple[str, ...] = ()
    about: tuple[str, str] | None = None
    per_pod: float | None = None
    utilisation_ratio: float | None = None

    @property
    def is_resource(self) -> bool:
        """Whether it is CPU or memory: what a replica uses, which says nothing of the load that came."""
        return self.kind in {"Resource", "ContainerResource"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirHpa:
    """What of an HPA a replay needs. scales: kind and name of the workload that it scales. keda: the ScaledObject that made it.

    spec_metrics: `spec.metrics` word for word, since a patch replaces the whole list.
    """

    namespace: str
    name: str
    minimum: int
    maximum: int
    scales: tuple[str, str]
    metrics: tuple[Metric, ...]
    up: ScalingRules = KUBERNETES_UP
    down: ScalingRules = KUBERNETES_DOWN
    keda: str | None = None
    spec_metrics: tuple[Json, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def read_hpa(named: str, cluster: Cluster) -> TheirHpa:
    """The HPA that `named` (NAMESPACE/NAME) is. Reads it and nothing else.

    Raises ConfigRejected when that is no name, TargetMissing when there is none, TargetForbidden, TargetUnavailable or TargetRefused
    when it cannot be read.
    """
    namespace, _, name = named.partition("/")
    if not namespace or not name or "/" in name:
        raise ConfigRejected(f"--hpa {named!r} is no NAMESPACE/NAME; write it as `kubectl get hpa -A` prints it, such as inference/chat")
    ref = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace=namespace, name=name)
    try:
        found = cluster.read(ref)
        return replace(_their(_Hpa.model_validate(found)), spec_metrics=tuple(found["spec"].get("metrics", ())))
    except KubeFailed as failed:
        if failed.status == HTTPStatus.NOT_FOUND:
            msg = f"there is no HPA {named} in the cluster of your kubeconfig; `kubectl get hpa -A` lists those there are"
            raise TargetMissing(msg) from failed
        raise target_error(failed) from failed
    except ValidationError as error:
        raise TargetRefused(f"{ref} has no usable spec: is it an autoscaling/v2 HPA?") from error


def _their(hpa: "_Hpa") -> TheirHpa:
    """Our own floor, where we raised one, is not theirs: the value found at adoption is."""
    spec, original = hpa.spec, hpa.metadata.annotations.get(ORIGINAL)
    return TheirHpa(
        namespace=hpa.metadata.namespace,
        name=hpa.metadata.name,
        minimum=int(original) if original is not None and original.isdecimal() else spec.min_replicas,
        maximum=spec.max_replicas,
        scales=(spec.scale_target_ref.kind, spec.scale_target_ref.name),
        metrics=tuple(_metric(metric) for metric in spec.metrics),
        up=_rules(spec.behavior.scale_up, KUBERNETES_UP),
        down=_rules(spec.behavior.scale_down, KUBERNETES_DOWN),
        keda=hpa.metadata.labels.get("scaledobject.keda.sh/name"),
    )


def _metric(metric: "_Metric") -> Metric:
    match metric:
        case _Metric(type="Pods", pods=_Named() as part) | _Metric(type="External", external=_Named() as part):
            about = None
        case _Metric(type="Object", object=_Named(described_object=_Target() as described) as part):
            about = (described.kind, described.name)
        case _:
            return _resource(metric)
    target, selector = part.target, part.metric.selector
    return Metric(
        kind=metric.type,
        name=part.metric.name,
        matchers=() if selector is None else _matchers(selector),
        about=about,
        per_pod=quantity(target.average_value) if target.average_value is not None else None,
    )


def _resource(metric: "_Metric") -> Metric:
    used = metric.resource or metric.container_resource
    if used is None:
        return Metric(kind=metric.type, name=metric.type)
    aim = used.target.average_utilization
    return Metric(kind=metric.type, name=used.name, utilisation_ratio=None if aim is None else aim / 100)


def _matchers(selector: "_Selector") -> tuple[str, ...]:
    """A label selector as PromQL has it."""
    equal = (f"{name}={json.dumps(value)}" for name, value in sorted(selector.match_labels.items()))
    return (*equal, *(_matcher(one) for one in selector.match_expressions))


def _matcher(one: "_Expression") -> str:
    among = json.dumps("|".join(re.escape(value) for value in one.values))
    match one.operator:
        case "In":
            return f"{one.key}=~{among}"
        case "NotIn":
            return f"{one.key}!~{among}"
        case "Exists":
            return f'{one.key}!=""'
        case "DoesNotExist":
            return f'{one.key}=""'


def _rules(given: "_Rules | None", usual: ScalingRules) -> ScalingRules:
    if given is None:
        return usual
    window, tolerance = given.stabilization_window_seconds, quantity(given.tolerance) if given.tolerance is not None else None
    policies = tuple(ScalingPolicy(unit=rule.type, value=rule.value, period_s=rule.period_seconds) for rule in given.policies)
    return ScalingRules(
        policies=policies or usual.policies,
        select=given.select_policy,
        stabilization_s=usual.stabilization_s if window is None else window,
        tolerance_ratio=usual.tolerance_ratio if tolerance is None else tolerance,
    )


class _Part(BaseModel):
    """A part of an HPA as far as it is read here; the rest is ignored."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Target(_Part):
    kind: str = ""
    name: str = ""


class _Expression(_Part):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()


class _Selector(_Part):
    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: tuple[_Expression, ...] = ()


class _Identity(_Part):
    name: str
    selector: _Selector | None = None


class _Aim(_Part):
    average_value: str | int | None = None
    average_utilization: int | None = None


class _Used(_Part):
    name: str
    target: _Aim


class _Named(_Part):
    metric: _Identity
    target: _Aim
    described_object: _Target | None = None


class _Metric(_Part):
    type: Kind
    pods: _Named | None = None
    object: _Named | None = None
    external: _Named | None = None
    resource: _Used | None = None
    container_resource: _Used | None = None


class _Rule(_Part):
    type: Unit
    value: int
    period_seconds: int


class _Rules(_Part):
    stabilization_window_seconds: int | None = None
    select_policy: Select = Select.MAX
    policies: tuple[_Rule, ...] = ()
    tolerance: str | float | None = None


class _Behavior(_Part):
    scale_up: _Rules | None = None
    scale_down: _Rules | None = None


class _Spec(_Part):
    min_replicas: int = 1
    max_replicas: int
    scale_target_ref: _Target
    metrics: tuple[_Metric, ...] = ()
    behavior: _Behavior = Field(default_factory=_Behavior)


class _Metadata(_Part):
    namespace: str
    name: str
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)


class _Hpa(_Part):
    metadata: _Metadata
    spec: _Spec

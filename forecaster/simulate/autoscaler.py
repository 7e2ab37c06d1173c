"""A HorizontalPodAutoscaler as it is set up: what of it decides how many replicas it asks for.

Names and defaults are those of Kubernetes' autoscaling/v2 API (HorizontalPodAutoscalerBehavior, HPAScalingRules, HPAScalingPolicy)
and of kube-controller-manager; what is done with them stands in `forecaster.simulate.kubernetes`.
"""

from dataclasses import dataclass
from enum import StrEnum

from forecaster.errors import ReplayUnsupported
from forecaster.units import check_named, check_not_negative, check_positive

_PERCENT = 100


class Unit(StrEnum):
    """What a scaling policy's value counts."""

    PODS = "Pods"
    PERCENT = "Percent"


class Select(StrEnum):
    """Which of several policies holds: the one that allows most change, the one that allows least, or none at all."""

    MAX = "Max"
    MIN = "Min"
    DISABLED = "Disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    """At most `value` pods, or per cent of those that there were, added or removed within `period_s`."""

    unit: Unit
    value: int
    period_s: int

    def __post_init__(self) -> None:
        check_positive("scaling_policy.value", self.value, self.unit)
        check_positive("scaling_policy.period_s", self.period_s, "s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRules:
    """One direction: its policies (none = no limit), and the caution before them.

    stabilization_s: the most cautious recommendation of so many seconds counts. tolerance_ratio: no change while the metric is
    within this share of its target.
    """

    policies: tuple[ScalingPolicy, ...] = ()
    select: Select = Select.MAX
    stabilization_s: int = 0
    tolerance_ratio: float = 0.1

    def __post_init__(self) -> None:
        check_not_negative("scaling_rules.stabilization_s", self.stabilization_s, "s")
        check_not_negative("scaling_rules.tolerance_ratio", self.tolerance_ratio, "")


KUBERNETES_UP = ScalingRules(
    policies=(
        ScalingPolicy(unit=Unit.PERCENT, value=100, period_s=15),
        ScalingPolicy(unit=Unit.PODS, value=4, period_s=15),
    )
)
"""scaleUp where nothing is said: at once, doubling or 4 pods in 15 s, whichever is more."""

KUBERNETES_DOWN = ScalingRules(policies=(ScalingPolicy(unit=Unit.PERCENT, value=100, period_s=15),), stabilization_s=300)
"""scaleDown where nothing is said: the highest of the last 5 minutes, and then all of it at once."""

KUBERNETES_SYNC_S = 15
"""--horizontal-pod-autoscaler-sync-period of kube-controller-manager."""

METRIC_LAG_S = 30
"""How old a metric is when it is read: scraped every 15 s, collected every 15 s (kubelet; metrics-server's --metric-resolution)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaBehavior:
    """All that a HPA does beside its target.

    maximum None = no limit. capped: the metric is a utilisation, which cannot say how much more load there is than ready replicas
    carry; else it counts waiting requests too.
    """

    up: ScalingRules = KUBERNETES_UP
    down: ScalingRules = KUBERNETES_DOWN
    sync_s: int = KUBERNETES_SYNC_S
    metric_lag_s: int = METRIC_LAG_S
    minimum: int = 1
    maximum: int | None = None
    capped: bool = False

    def __post_init__(self) -> None:
        check_positive("hpa.sync_s", self.sync_s, "s")
        check_not_negative("hpa.metric_lag_s", self.metric_lag_s, "s")
        check_positive("hpa.minimum", self.minimum, "replicas")
        if self.maximum is not None and self.maximum < self.minimum:
            msg = f"hpa.maximum must be at least hpa.minimum, {self.minimum} replicas, got {self.maximum}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaMetric:
    """One entry of spec.metrics. type: Resource, ContainerResource, Pods, Object or External.

    One of utilization_percent (averageUtilization), average_value (averageValue) and value (value) is what the HPA aims at.
    """

    type: str
    name: str
    utilization_percent: float | None = None
    average_value: float | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaSpec:
    """What a HPA object says, in values of the core; up and down None = the object says nothing of them."""

    name: str
    metrics: tuple[HpaMetric, ...]
    maximum: int
    minimum: int = 1
    up: ScalingRules | None = None
    down: ScalingRules | None = None

    def __post_init__(self) -> None:
        check_named("hpa.name", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hpa:
    """A HPA as a replay runs it. target: the share of what a replica carries at which it aims."""

    target: float
    behavior: HpaBehavior

    def __post_init__(self) -> None:
        check_positive("hpa.target", self.target, "of what a replica carries")


def modelled(spec: HpaSpec, *, full_value: float | None = None, metric_lag_s: int = METRIC_LAG_S) -> Hpa:
    """The HPA as a replay runs it.

    A utilisation of CPU is taken as the share of what a replica carries. full_value: what the metric reads, a replica, when a replica
    carries all that it can; needed for metrics of an average value, which without it mean nothing to a replay.

    Raises ReplayUnsupported where a replay would have to guess: several metrics or none, another object's metric, a total, memory.
    """
    metric = _only_metric(spec)
    return Hpa(
        target=_target(spec.name, metric, full_value),
        behavior=HpaBehavior(
            up=spec.up or KUBERNETES_UP,
            down=spec.down or KUBERNETES_DOWN,
            metric_lag_s=metric_lag_s,
            minimum=spec.minimum,
            maximum=spec.maximum,
            capped=metric.utilization_percent is not None,
        ),
    )


def _only_metric(spec: HpaSpec) -> HpaMetric:
    if len(spec.metrics) != 1:
        found = f"on {len(spec.metrics)} metrics ({', '.join(metric.name for metric in spec.metrics)})" if spec.metrics else "on no metric"
        msg = f"the HPA {spec.name} scales {found}, and a replay knows one load: name the target utilisation that it comes to"
        raise ReplayUnsupported(msg)
    return spec.metrics[0]


def _target(hpa: str, metric: HpaMetric, full_value: float | None) -> float:
    what, remedy = f"the HPA {hpa} scales on {metric.name} ({metric.type})", "name the target utilisation that it comes to"
    if metric.type == "Object" or metric.value is not None:
        msg = f"{what}, a value of something else than its own replicas, which no replay of the load shows: {remedy}"
        raise ReplayUnsupported(msg)
    if metric.name == "memory":
        msg = f"{what}, which does not follow requests and cannot be replayed: {remedy}"
        raise ReplayUnsupported(msg)
    if metric.utilization_percent is not None:
        return metric.utilization_percent / _PERCENT
    if metric.average_value is None or full_value is None:
        msg = f"{what}, and nobody said what that reads when a replica carries all that it can: {remedy}"
        raise ReplayUnsupported(msg)
    check_positive("full_value", full_value, metric.name)
    return metric.average_value / full_value

"""The fleet as jobs work on it: every workload with its connectors, and what they share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from forecaster.budget import Budget
from forecaster.cost import Prices
from forecaster.decision import Ruling
from forecaster.envelope import Envelope
from forecaster.events import Event
from forecaster.keep import Keep
from forecaster.lineage import Lineage
from forecaster.ports import Executor, MetricSource, Query, ScaleTarget, StartSource, Store
from forecaster.profile import Setup
from forecaster.profile_best import Asked, Choice
from forecaster.recommendation import Recommendation, Rules
from forecaster.workload import Mode, Workload
from jobs.breakers import Breakers
from jobs.capacity.variant import Variant
from jobs.cost.asked import TaskAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One workload: the questions about its load, who answers them, and where its floors go, by target name.

    continues: the older names of its traffic. prices: by pool, empty where none were said. live: the targets as `auto` has them. promotion:
    the one that raised its mode from the configured one, None = none did. starts: those of the targets that tell how replicas came up, and
    are asked to. hpas: the HPAs among the targets, by target name. follows: whether its level is the recommended one; points: what is
    recommended now, by pool. task: what one takes, None = nobody says. servings: what each pool's replicas run; asked: by pool, where its
    capacity shall come from; choices: what was chosen for those without figures, by `with_capacities`. latencies: questions about P95 and
    P99 that only people look at, by name.
    variants: other ways to serve. gpus: those of one replica, by pool.
    """

    workload: Workload
    step_s: int
    queries: tuple[Query, ...]
    conditions: tuple[tuple[str, Query], ...]
    source: MetricSource
    targets: Mapping[str, ScaleTarget]
    continues: tuple[Lineage, ...] = ()
    prices: Mapping[str, Prices] = field(default_factory=dict)
    live: Mapping[str, ScaleTarget] = field(default_factory=dict)
    promotion: Ruling | None = None
    configured: Mode | None = None
    starts: Mapping[str, StartSource] = field(default_factory=dict)
    hpas: Mapping[str, KubernetesHpaConfig] = field(default_factory=dict)
    follows: bool = False
    points: Mapping[str, Recommendation] = field(default_factory=dict)
    task: TaskAsked | None = None
    servings: Mapping[str, Setup] = field(default_factory=dict)
    asked: Mapping[str, Asked] = field(default_factory=dict)
    choices: Mapping[str, Choice] = field(default_factory=dict)
    latencies: Mapping[str, Query] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    gpus: Mapping[str, int] = field(default_factory=dict)

    @property
    def lineage(self) -> Lineage:
        """The workload with the older names of its traffic."""
        return Lineage(name=self.workload.name, continues=self.continues)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model by name, so that it can travel; members and watched ones are those of the ensemble."""

    name: str
    members: tuple[str, ...]
    watched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What both halves of the line need. history_s: span that models see. horizon_s: how far they look.

    events: those of the configuration; the store has others. rules: those of operating points. breakers: the targets that
    failed lately. problems: one sentence for each thing that kept a workload out of the fleet. budgets: GPUs that pools share.
    """

    members: tuple[Member, ...]
    store: Store
    executor: Executor
    model: ModelChoice
    fallback: str
    history_s: int
    horizon_s: int
    envelope: Envelope
    workers: int
    problems: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    keep: Keep = field(default_factory=Keep)
    rules: Rules = field(default_factory=Rules)
    breakers: Breakers = field(default_factory=Breakers)
    budgets: tuple[Budget, ...] = ()

"""The `workloads` section: what is scaled, what its load is, what a replica carries and where its floor is written."""

from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from connectors.sources.presets.quantity import Quantity
from connectors.targets.registry import TargetConfig, counts_nodes, target_name
from forecaster.always_on import incomparable
from forecaster.claim import Claim
from forecaster.ports import Query, Unit
from forecaster.queueing import check_kept
from forecaster.series import LOAD_SIGNALS, Signal
from forecaster.units import DAY_S, MINUTE_S
from forecaster.workload import Pool, Workload
from jobs.config.bulk import BulkSection
from jobs.config.caches import CacheSection
from jobs.config.capacity import CapacitySection, LeadTimeSection, ServingSection, SloSection
from jobs.config.events import CalendarSection
from jobs.config.one_or_more import OneOrMore
from jobs.config.policy import SECTION, PolicySection
from jobs.config.presets import PresetSection, Supply, idle_of, supplies, used
from jobs.config.roles import RolesSection
from jobs.config.scalars import Count, Duration, Integer, Name, Number, Positive, Whole, Zone, spell_duration
from jobs.config.spot import SpotSection
from jobs.config.task import TaskSection

SignalName = Literal[
    "rpm", "concurrency", "tokens", "input_length", "output_length", "response_hits", "prefix_hits", "queue_depth", "refused"
]


class QuerySection(BaseModel):
    """One question to the source."""

    model_config = SECTION
    query: str = Field(min_length=1)
    """In the source's own language: PromQL that answers with one series, `metric(...)` of CloudWatch, a SELECT with :start and :end, a
    query to Datadog, or the name of a CSV column. No default: names differ between serving engines and their versions."""
    unit: Unit
    """What the numbers mean: `per_second` or `per_minute` for a rate, `count` for a number in the bucket or in flight. No default:
    a wrong guess is off by 60."""


class ConditionSection(BaseModel):
    """A question whose non-zero answer blocks lowering."""

    model_config = SECTION
    query: str = Field(min_length=1)
    """In the source's own language; any value but 0 holds, and so does no answer. No default."""


class PoolSection(BaseModel):
    """Replicas of one kind."""

    model_config = SECTION
    name: Name
    """Unique in the workload, part of records and plans. No default."""
    capacity: CapacitySection = CapacitySection()
    """What one replica carries. Default: nothing known, so that the pool is held and reported, never guessed."""
    serving: ServingSection = ServingSection()
    """The engine, model and hardware of its replicas, against which a measured capacity is held. Default: not told, so that no profile is
    ever stale."""
    lead_time: LeadTimeSection = LeadTimeSection()
    """How long before the load a replica must be asked for; the longer one of `warm` and `cold` counts. Where nodes are among the targets
    beside what runs on them, nodes are asked for that long before the load, and replicas `warm` before it."""
    share: Number = Field(1.0, gt=0, le=1)
    """Part of the workload's load that goes to this pool, above 0 to 1. Default 1: most workloads have one pool."""
    gpu_hour: Positive | None = None
    """Price of one of its replicas for one hour, in the currency of `prices`. Default: that of `prices`."""
    slo: SloSection | None = None
    """How long its requests may wait, for pools so small that queueing binds before load does. Default: none, capacity says it all."""
    spare: Whole = 0
    """Replicas that may fail without the load noticing: N + k. They stand on top of those for the load, rounded up, wherever there is any;
    of an always-on pool they are among those that it holds. Windows, bounds and the fallback have none on top. Default 0."""
    always_on: Count | None = None
    """Replicas that it holds whatever the load, such as reserved GPUs: its floor, which needs neither a forecast nor live load. Not below
    `min` of the policy, nor above `max`. Default: none, its floor follows the load."""
    after: Annotated[tuple[Name, ...], OneOrMore("string")] = ()
    """Always-on pools of the workload, one or a list: its `share` is what it serves together with them, and they carry of it what they can.
    It makes up for their overdue replicas. Default: none, it carries the whole of its share."""
    stands_in_for: Name | None = None
    """Another pool of the workload, on other GPUs or in another zone: what it was asked for and does not have by the end of its lead
    time is asked of this one, on top. Default: none."""
    budget: Name | None = None
    """Which of `budgets` its replicas take their GPUs from. Default: none, it shares its GPUs with no other pool."""
    gpus_per_replica: Count = 1
    """GPUs of that budget that one replica takes. Default 1."""
    priority: Integer = 0
    """Its place under the budget: where GPUs are too few, pools of a higher priority are served first, and alike ones by how likely each
    replica is needed. Default 0."""
    spot: SpotSection | None = None
    """How often its replicas are taken away; what is away on average is asked for on top. Default: none, they stay."""
    bulk: BulkSection | None = None
    """Work that may wait, which the pool does instead of live load, in what the other pools of its budget leave; it needs a `budget` and no
    `capacity`, and its `share` says nothing. Default: none, it serves its share of the load."""
    targets: tuple[TargetConfig, ...] = Field(min_length=1)
    """Where the floor is written, in this order, nodes before what runs on them. No default."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.slo is not None:
            check_kept(self.capacity.to_core(), self.slo.to_core())
        if self.bulk is not None and self.capacity != CapacitySection():
            raise ValueError("bulk and capacity contradict each other: bulk work is no live load; say the speed of a replica in bulk")
        return self

    def to_core(self) -> Pool:
        """The same in the core's type."""
        nodes = tuple(target_name(target) for target in self.targets if counts_nodes(target))
        lead_time = self.lead_time.to_core()
        return Pool(
            name=self.name,
            capacity=self.capacity.to_core(),
            lead_time=replace(lead_time, nodes_first=0 < len(nodes) < len(self.targets)),
            targets=tuple(target_name(target) for target in self.targets),
            nodes=nodes,
            share_ratio=self.share,
            slo=None if self.slo is None else self.slo.to_core(),
            stands_in_for=self.stands_in_for,
            claim=self._claim(),
            bulk=None if self.bulk is None else self.bulk.to_core(),
            preempted_per_hour=0.0 if self.spot is None else self.spot.preempted_per_hour,
            spare=self.spare,
            always_on=self.always_on or 0,
            after=self.after,
        )

    def _claim(self) -> Claim | None:
        if self.budget is None:
            return None
        return Claim(budget=self.budget, gpus_per_replica=self.gpus_per_replica, priority=self.priority)


class VariantSection(BaseModel):
    """Another way to serve: quantised, distilled, another engine or GPU. `capacity compare` plans tomorrow with it; it never runs."""

    model_config = SECTION
    name: Name
    """Unique among variants and pools of the workload; `capacity import --pool` takes it. No default."""
    pool: Name | None = None
    """The pool whose place it would take. Default: the first."""
    capacity: CapacitySection = CapacitySection(profile="imported")
    """What one replica of it carries. Default: that of the newest load test that was imported for it."""
    serving: ServingSection = ServingSection()
    """Its engine, model and hardware. Default: not told."""
    lead_time: LeadTimeSection | None = None
    """How long one of its replicas takes to be ready. Default: as the pool's."""
    gpu_hour: Positive | None = None
    """Price of one of its replicas for one hour, in the currency of `prices`. Default: as the pool's."""
    gpus_per_replica: Count | None = None
    """GPUs that one replica takes. Default: as the pool's."""
    task: TaskSection | None = None
    """What a task takes of it: a distilled model may need more rounds. Default: as the workload's."""


class ContinuesSection(BaseModel):
    """An older name of the same traffic: history before the workload's own first request is that name's, times the share."""

    model_config = SECTION
    name: Name
    """The workload whose history goes on here; it need not be configured any more. No default."""
    share: Number = Field(1.0, gt=0, le=100)
    """How much of its load came over: 1 after a rename, 0.3 for a canary with 30 % of it. Default 1."""


class WorkloadSection(BaseModel):
    """One model service."""

    model_config = SECTION
    name: Name
    """Unique in the fleet. History, plans and approvals are kept under it: a new name begins anew, unless it `continues` an
    older one. No default."""
    continues: Annotated[tuple[ContinuesSection, ...], OneOrMore()] = ()
    """Which older names its traffic had, after a rename, a canary or blue/green; several add up until its own first request, and its own
    samples win from then on. Default: none."""
    source: Name
    """Which of `sources` its load is read from. No default."""
    presets: Annotated[tuple[PresetSection, ...], OneOrMore()] = ()
    """Ready-made queries, one preset or a list: of two that supply the same the earlier one counts, so put the gateway first, which sees
    what arrives, and the engine behind it. Default: none, `signals` says it all."""
    signals: dict[SignalName, QuerySection] = Field(default_factory=dict)
    """Load by signal, in place of what presets say: of `rpm`, `concurrency` and `tokens` at least one, here or by a preset. `queue_depth`
    is optional and only corrects; so is `refused` (requests turned away with 429, in PromQL with `or vector(0)`), which with the queue
    tells the hours whose load says too little; `input_length` and `output_length` (mean tokens a request, unit `count`) are optional,
    forecast and shown, and size nothing; `response_hits` and `prefix_hits` (0 to 1, unit `count`) are kept, for `cache`.
    Default: none, presets say it all."""
    hold_when: dict[Name, ConditionSection] = Field(default_factory=dict)
    """Named conditions that block lowering while they hold, such as a rollout. Default: none."""
    zone: Zone = "UTC"
    """IANA time zone of its days and daily peaks. Default UTC, so that nothing depends on the machine."""
    calendar: CalendarSection = CalendarSection()
    """Whose public holidays it may feel."""
    step: Duration = Field(300.0, ge=60, le=DAY_S)
    """Grid of history and forecasts: whole minutes that divide a day. Default 5m: finer is noise to a daily cycle. Choose it
    once: history is kept at its step."""
    pools: tuple[PoolSection, ...] = Field(min_length=1)
    """Its kinds of replicas. Shares need not add up to 1: spare capacity is allowed, and so is a part served elsewhere. No default."""
    roles: RolesSection | None = None
    """Prefill and decode pools whose replicas must stand in a ratio. Default: none, each pool has the floor of its own load."""
    variants: tuple[VariantSection, ...] = ()
    """Other ways to serve it, for `forecaster capacity compare`. Default: none."""
    policy: PolicySection = PolicySection()
    """Under which rules floors are chosen."""
    cache: CacheSection | None = None
    """Caches whose hits come off its load. Default: none, all of the load is served."""
    task: TaskSection | None = None
    """What a task takes, for `forecaster cost`. Default: none; requests and tokens are priced, and tasks are not."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not {signal.value for signal in LOAD_SIGNALS} & {*self.signals, *(supply.quantity.value for supply in self.supplies())}:
            raise ValueError(self._without_load())
        self._check_variants()
        if self.cache is not None:
            roles = None if self.roles is None else self.roles.to_core()
            self.cache.check(self.signals, self.supplies(), [pool.name for pool in self.pools], roles)
        if DAY_S % self.step or self.step % MINUTE_S:
            msg = f"step must be whole minutes and divide a day, such as 1m, 5m, 15m or 1h, got {spell_duration(self.step)}"
            raise ValueError(msg)
        apart = incomparable(self.to_core())
        if apart is not None:
            raise ValueError(apart)
        return self

    def to_core(self) -> Workload:
        """The same in the core's type. Raises ValueError naming what contradicts itself."""
        pools = tuple(pool.to_core() for pool in self.pools)
        roles = None if self.roles is None else self.roles.to_core()
        if self.cache is not None:
            pools = tuple(replace(pool, caches=self.cache.to_core(pool.name, roles)) for pool in pools)
        calendar = self.calendar.to_core(self.zone)
        return Workload(name=self.name, pools=pools, policy=self.policy.to_core(), calendar=calendar, roles=roles)

    def queries(self) -> tuple[Query, ...]:
        """The questions to the source, a signal each: those written out, then those of presets."""
        return (*self.written(), *(supply.query for supply in self.used()))

    def written(self) -> tuple[Query, ...]:
        """The questions of `signals`."""
        return tuple(Query(signal=Signal(name), expression=q.query, unit=q.unit) for name, q in self.signals.items())

    def supplies(self) -> tuple[Supply, ...]:
        """Everything that presets say of the workload, also what only people look at."""
        return supplies(self.presets, self.signals)

    def used(self) -> tuple[Supply, ...]:
        """What of that the core asks for."""
        carried = [s for s in LOAD_SIGNALS if any(p.capacity.is_found or p.capacity.to_core().of(s) is not None for p in self.pools)]
        return used(self.supplies(), self.signals, carried)

    def latencies(self) -> dict[str, Query]:
        """The questions about P95 and P99 latency, and P95 of the first token, that presets supply, by quantity."""
        told = {Quantity.LATENCY_P95, Quantity.LATENCY_P99, Quantity.TTFT_P95}
        return {supply.quantity.value: supply.query for supply in self.supplies() if supply.quantity in told}

    def _check_variants(self) -> None:
        pools, names = [pool.name for pool in self.pools], [variant.name for variant in self.variants]
        twice = next((name for i, name in enumerate(names) if name in pools or name in names[:i]), None)
        if twice is not None:
            raise ValueError(f"variants: {twice} is the name of another variant or pool; choose one of its own")
        stray = next((variant for variant in self.variants if variant.pool is not None and variant.pool not in pools), None)
        if stray is not None:
            raise ValueError(f"variants: {stray.name} would take the place of {stray.pool}, which is no pool; there is: {', '.join(pools)}")

    def _without_load(self) -> str:
        if not self.presets:
            return "signals needs at least one load signal: rpm, concurrency or tokens; or name a preset that supplies one"
        told = f"{idle_of(self.presets)}, which is no load: utilisation alone never lowers a floor"
        return f"{told}; add a preset or a signal with rpm, concurrency or tokens"

    def conditions(self) -> tuple[tuple[str, Query], ...]:
        """The `hold_when` questions by name."""
        return tuple(
            (name, Query(signal=Signal.CONDITION, expression=condition.query, unit=Unit.COUNT))
            for name, condition in self.hold_when.items()
        )

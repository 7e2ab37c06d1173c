"""The `tiers` section: what is watched from second to second, which levers it moves, and what admission follows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from connectors.levers.registry import LeverConfig, lever_name
from forecaster.admission import Service, Tenant
from forecaster.ladder import Ladder, LeverValue, Step, Tier, Trigger
from forecaster.tiers import Rules
from jobs.config.live_signals import SignalSection, SourceSignalSection
from jobs.config.policy import SECTION
from jobs.config.scalars import Duration, Name, Number, Positive, did_you_mean, plain_number, short, spell_duration
from jobs.config.workloads import WorkloadSection


def _single(value: object) -> object:
    if value is None or not isinstance(value, bool | int | float | str):
        must = "must be a number, a word, true or false"
        raise ValueError("is empty: it " + must if value is None else f"{must}, one value alone")
    return value


Moved: TypeAlias = dict[Name, Annotated[LeverValue, BeforeValidator(_single)]]


class StepSection(BaseModel):
    """One step of a ladder."""

    model_config = SECTION
    name: str = Field(min_length=1)
    """What it is called in records, such as `shorter batch wait`. No default."""
    set: Moved = Field(default_factory=dict)
    """Levers by name, and what they are set to: a number, a word, true or false. Default: none, with `raise_now`."""
    raise_now: bool = False
    """Whether floors are decided at once, not at the next tick of `apply`. Default false."""

    def to_core(self) -> Step:
        """The same in the core's type."""
        return Step(name=self.name, levers=self.set, raise_now=self.raise_now)


class WhenSection(BaseModel):
    """When a signal is too high, and when it has calmed down."""

    model_config = SECTION
    signal: Name
    """Which of `signals` is watched. No default."""
    above: Number
    """A reading above it is too high. No default."""
    below: Number | None = None
    """A reading below it is calm; lower than `above`. Default: 0.8 of `above`, since without a gap it would flutter."""
    lasting: Duration | None = 5.0
    """So long readings must be too high without a break. Default 5s, which is two readings; null = one is enough."""
    calm: Duration = 60.0
    """So long they must be calm before anything is taken back. Default 1m."""
    expires: Duration = 3_600.0
    """So long after it began it ends by itself, and waits for a calm before it acts again. Default 1h: by then a person or more replicas
    have taken over."""

    def to_core(self) -> Trigger:
        """The same in the core's type. Raises ValueError."""
        if self.below is None and self.above <= 0:
            msg = f"give `below` as well: its default, 0.8 of `above`, is not lower than {plain_number(self.above)}"
            raise ValueError(msg)
        return Trigger(
            signal=self.signal,
            above=self.above,
            below=0.8 * self.above if self.below is None else self.below,
            for_s=self.lasting or 0.0,
            calm_s=self.calm,
            expiry_s=self.expires,
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self


class RuleSection(BaseModel):
    """One consequence of one signal."""

    model_config = SECTION
    name: Name
    """Unique among rules and ladders; where it stands is kept under it. No default."""
    tier: Tier = Tier.ACT
    """How grave it is: `warn`, `act` or `emergency`; where two ask for one lever, the graver one has it. Default act."""
    when: WhenSection
    """When it acts. No default."""
    set: Moved = Field(default_factory=dict)
    """Levers by name, and what they are set to while it lasts. Default: none, with `raise_now`."""
    raise_now: bool = False
    """Whether floors are decided at once when it begins. Default false."""

    def to_core(self) -> Ladder:
        """The same in the core's type."""
        step = Step(name=self.name, levers=self.set, raise_now=self.raise_now)
        return Ladder(name=self.name, tier=self.tier, trigger=self.when.to_core(), steps=(step,))

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self


class LadderSection(BaseModel):
    """Several consequences, taken one by one while the signal stays too high and taken back in reverse."""

    model_config = SECTION
    name: Name
    """Unique among rules and ladders; where it stands is kept under it. No default."""
    tier: Tier = Tier.ACT
    """How grave it is: `warn`, `act` or `emergency`; where two ask for one lever, the graver one has it. Default act."""
    when: WhenSection
    """When it acts. No default."""
    hold: Duration = 30.0
    """Least time between two steps. Default 30s: as long as a step needs to show in the signal."""
    steps: tuple[StepSection, ...] = Field(min_length=1)
    """In the order in which they are taken: the cheapest first. No default."""

    def to_core(self) -> Ladder:
        """The same in the core's type."""
        steps = tuple(step.to_core() for step in self.steps)
        return Ladder(name=self.name, tier=self.tier, trigger=self.when.to_core(), steps=steps, hold_s=self.hold)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        last_s = self.hold * (len(self.steps) - 1)
        if last_s >= self.when.expires:
            told = f"the last of {len(self.steps)} steps is taken {spell_duration(last_s)} after the first at the earliest, by hold"
            msg = f"{told}, and all of it ends {spell_duration(self.when.expires)} after the first: lengthen expires, or shorten hold"
            raise ValueError(msg)
        return self


class TenantSection(BaseModel):
    """Who shares the capacity of a pool."""

    model_config = SECTION
    name: Name
    """Unique in the pool's admission. No default."""
    weight: Positive = 1.0
    """Its share beside others of its class. Default 1."""
    paid: bool = False
    """Whether it comes before those that do not pay. Default false."""
    bought_rpm: Positive | None = None
    """Most requests a minute that it is let in with. Default: as much as there is, which a paid tenant may have only where all pay."""
    rate: Name | None = None
    """The lever that takes its requests a minute. Default: none."""
    burst: Name | None = None
    """The lever that takes its requests at once. Default: none."""


class AdmissionSection(BaseModel):
    """Limits of a gateway that follow the replicas that are ready."""

    model_config = SECTION
    workload: Name
    """Whose ready replicas count. No default."""
    pool: Name
    """Which of its pools; `rpm` and `concurrency` must stand in its `capacity`, or be known by its `profile` or `estimate`. No
    default."""
    slo: Duration
    """Longest time that a request may take, waiting included. No default: it is the promise."""
    service: Duration
    """Mean time in service at the load of `capacity`. No default. What of the SLO it leaves is the queue's timeout."""
    notice: Duration = 120.0
    """So long before the plan lowers the floor limits fall. Default 2m: requests in flight end within it."""
    tenants: tuple[TenantSection, ...] = ()
    """Who shares the capacity. Default: none, with the levers below."""
    queue_length: Name | None = None
    """The lever that takes the number of requests that may wait. Default: none."""
    queue_timeout: Name | None = None
    """The lever that takes how long they may, in seconds. Default: none."""
    breaker: Name | None = None
    """The lever that takes the most requests in flight. Default: none."""

    def levers(self) -> tuple[str, ...]:
        """The levers that it moves."""
        named = [self.queue_length, self.queue_timeout, self.breaker, *(name for each in self.tenants for name in (each.rate, each.burst))]
        return tuple(name for name in named if name is not None)

    def service_of(self, rpm: float, concurrency: float) -> Service:
        """The same in the core's type, for what a replica carries. Raises ValueError."""
        tenants = tuple(Tenant(name=one.name, weight=one.weight, paid=one.paid, bought_rpm=one.bought_rpm) for one in self.tenants)
        return Service(rpm=rpm, concurrency=concurrency, slo_s=self.slo, service_s=self.service, tenants=tenants)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.service_of(1.0, 1.0)
        if not self.levers():
            msg = "no lever is named that takes a limit: name queue_length, queue_timeout, breaker, or rate and burst of a tenant"
            raise ValueError(msg)
        return self


class TiersSection(BaseModel):
    """Levers that act within seconds, while replicas are on their way. A loop of its own, beside floors and without any forecast."""

    model_config = SECTION
    mode: Literal["observe", "auto"] = "observe"
    """Whether levers are moved. Default observe: nothing is written, and what would be is shown."""
    every: Duration = Field(5.0, ge=1, le=300)
    """How often signals are read and levers are moved. Default 5s."""
    levers: dict[Name, LeverConfig] = Field(min_length=1)
    """What may be moved, by name; `type` says of which kind. No default."""
    signals: dict[Name, SignalSection] = Field(default_factory=dict)
    """What is watched, by name: `pages` and a `query`, or a `source` and a `query`. Default: none, with `admission` alone."""
    rules: tuple[RuleSection, ...] = ()
    """One signal, one consequence. Default: none."""
    ladders: tuple[LadderSection, ...] = ()
    """One signal, several consequences in order. Default: none."""
    admission: tuple[AdmissionSection, ...] = ()
    """Limits that follow ready capacity. Default: none."""

    def to_core(self) -> Rules:
        """Rules and ladders in the core's type. Raises ValueError where they contradict each other."""
        return Rules(ladders=tuple(watch.to_core() for watch in self._watches()))

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_known("signal", ((ladder.name, ladder.trigger.signal) for ladder in self.to_core().ladders), self.signals)
        _check_known("lever", self._named(), self.levers)
        limits = [name for one in self.admission for name in one.levers()]
        twice = next((name for name in limits if limits.count(name) > 1), None)
        if twice is not None:
            msg = f"the lever {twice} takes two limits of admission: give each its own"
            raise ValueError(msg)
        values = [lever_name(config) for config in self.levers.values()]
        same = next((name for name in values if values.count(name) > 1), None)
        if same is not None:
            msg = f"two levers move the same value, {same}: keep one of them"
            raise ValueError(msg)
        return self

    def _watches(self) -> tuple[RuleSection | LadderSection, ...]:
        return (*self.rules, *self.ladders)

    def moved(self) -> list[str]:
        """The levers that anything moves, once for each time that it is named."""
        return [lever for _, lever in self._named()]

    def _named(self) -> list[tuple[str, str]]:
        """The same with the rule, ladder or admission that names it."""
        of_rules = [(rule.name, name) for rule in self.rules for name in rule.set]
        of_ladders = [(ladder.name, name) for ladder in self.ladders for step in ladder.steps for name in step.set]
        return [*of_rules, *of_ladders, *((f"admission of {one.workload}", name) for one in self.admission for name in one.levers())]


def tier_contradictions(
    tiers: TiersSection | None, sources: Mapping[str, object], workloads: Sequence[WorkloadSection], *, whole: bool = True
) -> list[str]:
    """A sentence for each source, workload or pool that the section names and that is not there, or cannot size an admission.

    whole: these are all workloads that there are. One of a template is known only once it was looked up, so that beside templates a
    workload that is not configured one by one is no fault.
    """
    if tiers is None:
        return []
    asked = [(name, one.source) for name, one in tiers.signals.items() if isinstance(one, SourceSignalSection)]
    found = [
        f"tiers.signals.{name}.source: there is no source {short(source)}{_remedy(source, sources)}"
        for name, source in asked
        if source not in sources
    ]
    by_name = {section.name: section for section in workloads}
    for i, one in enumerate(tiers.admission):
        section = by_name.get(one.workload)
        pool = None if section is None else next((pool for pool in section.pools if pool.name == one.pool), None)
        if section is None and whole:
            found.append(f"tiers.admission[{i}].workload: there is no workload {short(one.workload)}{_remedy(one.workload, by_name)}")
        if section is not None and pool is None:
            names = [each.name for each in section.pools]
            found.append(f"tiers.admission[{i}].pool: {one.workload} has no pool {short(one.pool)}{_remedy(one.pool, names)}")
        told_both = pool is not None and pool.capacity.rpm is not None and pool.capacity.concurrency is not None
        if pool is not None and not told_both and not pool.capacity.is_found:
            told = "admission needs rpm and concurrency in its capacity, or a `profile`, which is what limits are made of"
            found.append(f"tiers.admission[{i}].pool: {one.workload}/{one.pool}: {told}")
    return found


def _check_known(what: str, named: Iterable[tuple[str, str]], known: Mapping[str, object]) -> None:
    """named: who names it, and what is named."""
    for who, name in named:
        if name not in known:
            msg = f"{who}: there is no {what} {short(name)}{_remedy(name, known)}"
            raise ValueError(msg)


def _remedy(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) or f"; there is {', '.join(known) or 'none'}"

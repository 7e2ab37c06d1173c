"""The whole configuration file."""

from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from connectors.executors.processes import ProcessesConfig
from connectors.executors.registry import ExecutorConfig
from connectors.leases.kubernetes import KubernetesLeaseConfig
from connectors.sources.registry import SourceConfig
from forecaster.cost import Prices
from forecaster.envelope import Envelope
from forecaster.keep import Keep
from forecaster.recommendation import Rules
from forecaster.units import DAY_S, HOUR_S, MINUTE_S
from jobs.config.budgets import BudgetSection, without_budget
from jobs.config.contradictions import contradictions, placed
from jobs.config.events import EventSection
from jobs.config.policy import SECTION
from jobs.config.replay import ReplaySection
from jobs.config.scalars import Count, Duration, Integer, Name, Number, Positive, Whole
from jobs.config.serve import ServeSection
from jobs.config.templates import TemplateSection
from jobs.config.tiers import TiersSection, tier_contradictions
from jobs.config.workloads import WorkloadSection

MemberName = Literal[
    "naive_day", "naive_week", "slot_quantile", "profile", "ridge_slow", "ridge_quick", "gbm", "holt_winters",
    "prophet", "unobserved_components", "sarimax", "statsforecast",
]  # fmt: skip
ModelName = Literal["ensemble", "seasonal_naive", MemberName]


class ForecastSection(BaseModel):
    """How load is forecast."""

    model_config = SECTION
    model: ModelName = "ensemble"
    """The model. Default ensemble: its members weighted by how they did lately, which beats the best single one; or one member alone."""
    members: tuple[MemberName, ...] = Field(
        ("naive_day", "naive_week", "slot_quantile", "profile", "ridge_slow", "ridge_quick", "gbm", "holt_winters"), min_length=1
    )
    """Who speaks in the ensemble. Default: those that gain something at their cost; gbm only where its extra is installed."""
    watched: tuple[MemberName, ...] = ("prophet", "unobserved_components")
    """Members that are scored on a sample of days and shown in `review` without a say. Default prophet and unobserved_components,
    which people know: so you see what they would bring before paying for them."""
    fallback: ModelName = "seasonal_naive"
    """The model where the first fails or history is too short. Default seasonal_naive, which needs the least history."""
    history: Duration = Field(4_838_400.0, ge=DAY_S)
    """How far back history is fetched and kept in use. Default 8w: enough for a weekly cycle, little enough to follow growth."""
    horizon: Duration = Field(259_200.0, ge=HOUR_S, le=14 * DAY_S)
    """How far ahead load is forecast. Default 3d: a weekend without a new forecast is still covered."""
    every: Duration = Field(3_600.0, ge=MINUTE_S)
    """How often the daemon forecasts. Default 1h: in an hour a day's forecast hardly changes, and live correction covers the rest."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for key, names in (("members", self.members), ("watched", self.watched)):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"{key} names {twice} twice: name it once, its share follows its loss")
        return self


class ApplySection(BaseModel):
    """How floors are applied."""

    model_config = SECTION
    every: Duration = Field(30.0, ge=5, le=HOUR_S)
    """How often the daemon observes and applies. Default 30s: twice a minute, since metrics are scraped about once."""
    workers: Integer = Field(16, ge=1, le=256)
    """How many workloads are observed and written at once. Default 16: 2,000 targets at 200 ms each end within 25 s."""


class EnvelopeSection(BaseModel):
    """How far the fleet's plan may change in one cycle before a person is asked, even in mode auto."""

    model_config = SECTION
    replicas_ratio: Positive | None = 0.5
    """Largest change of the fleet's planned replica-hours over the next day, as a share of those in force. Default 0.5: the whole
    fleet never moves by half on an ordinary day; null = no limit."""
    workloads: Count | None = None
    """Largest number of pools that may change by more than that at once. Default: no limit, since only you know your fleet's size."""

    def to_core(self) -> Envelope:
        """The same in the core's type."""
        return Envelope(replicas_ratio=self.replicas_ratio, workloads=self.workloads)


class KeepSection(BaseModel):
    """How long the store remembers; older rows are forgotten once a day. What people said (approvals, overrides, marks, events) stays."""

    model_config = SECTION
    history: Duration = 34_560_000.0
    """Measured load. Default 400d: a year and a month, so that a yearly holiday was seen once; about 4 kB a day and signal at 5 minutes."""
    all_forecasts: Duration = 1_209_600.0
    """Every forecast. Default 14d: as far back as views look; at one an hour and 5 minutes they take 1 to 2 MB a day and signal."""
    forecasts: Duration = 7_776_000.0
    """One forecast a UTC day, the first, beyond `all_forecasts`. Default 90d: a quarter to compare with."""
    plans: Duration = 7_776_000.0
    """Every plan. Default 90d, so that `explain` knows what a floor of the last quarter rested on; half a MB a day and pool. At least
    42d: the last approved floor of a weekday is looked up four weeks back."""
    records: Duration = 34_560_000.0
    """What was decided and written. Default 400d: a year's audit, and small."""
    starts: Duration = 7_776_000.0
    """Starts of replicas. Default 90d, and small; at least 56d, which is as far back as a lead time looks."""

    def to_core(self) -> Keep:
        """The same in the core's type. Raises ValueError for a span too short for what the line looks back."""
        return Keep(
            history_s=self.history,
            forecasts_s=self.forecasts,
            all_forecasts_s=self.all_forecasts,
            plans_s=self.plans,
            records_s=self.records,
            starts_s=self.starts,
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self


class PricesSection(BaseModel):
    """What replica-hours and late requests cost, for `forecaster savings`."""

    model_config = SECTION
    currency: str = Field(min_length=1)
    """Currency of all prices, such as EUR or USD. No default: a sum without one says nothing."""
    gpu_hour: Positive
    """Price of one replica for one hour, with all of its GPUs. No default. A pool may have its own."""
    late_request: Positive | None = None
    """Price of one request that had to wait for a replica. Default: none; late requests are counted and not priced."""

    def to_core(self) -> Prices:
        """The same in the core's type."""
        return Prices(currency=self.currency, gpu_hour=self.gpu_hour, late_request=self.late_request)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self


class OperatingPointSection(BaseModel):
    """Which level and HPA target are recommended for each pool, by replay of its own last days."""

    model_config = SECTION
    late_limit: Number = Field(0.001, ge=0, lt=1)
    """Share of the requests that may wait for a replica. Default 0.001, one in a thousand. Where `prices` has both a replica-hour and a
    late request, the least cost is chosen and no limit is asked for."""
    gain: Number = Field(0.03, ge=0, lt=1)
    """What another pair must save on the same days before it replaces the one that stands. Default 0.03: less is noise, and settings
    that move teach nobody."""
    every: Duration = 604_800.0
    """How often each pool is replayed. Default 1w; sooner while its history is young and has grown by a quarter."""
    workloads: Whole = 2
    """So many workloads are replayed after a forecast at most, those first that waited longest. Default 2: one takes ten to twenty seconds
    of a processor, and with a forecast an hour 300 have their turn in a week; 0 = none, only by `forecaster tune`."""

    def to_core(self) -> Rules:
        """The same in the core's type."""
        return Rules(late_limit_ratio=self.late_limit, gain_ratio=self.gain, every_s=self.every, workloads=self.workloads)


class DaemonSection(BaseModel):
    """The long-running service."""

    model_config = SECTION
    host: str = Field("127.0.0.1", min_length=1)
    """Address of `/healthz`, `/metrics` and `/v1/workloads`, also for `forecaster serve`. Default loopback: opening it is a decision."""
    port: Integer = Field(9464, ge=0, le=65_535)
    """Port of the same. Default 9464, the port that OpenTelemetry's exporters use; 0 takes a free one."""


class LogSection(BaseModel):
    """What is written to stderr."""

    model_config = SECTION
    format: Literal["auto", "console", "json"] = "auto"
    """`console` for people, `json` for collectors. Default auto: console on a terminal, json elsewhere."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level. Default info: one line a decision that changed something."""


class Config(BaseModel):
    """Everything that Forecaster needs to know. Unknown keys are refused; `${NAME}` in any text is read from the environment."""

    model_config = SECTION
    store: str = Field("sqlite:///forecaster.db", min_length=1)
    """Where history, forecasts, plans and decisions are kept: `sqlite:///FILE`, `postgresql://USER:${PASSWORD}@HOST/DATABASE`, or
    `memory:` for a store that forgets. Default a file beside the configuration: one machine needs no more."""
    sources: dict[Name, SourceConfig] = Field(min_length=1)
    """Where load is read from, by name. No default."""
    workloads: tuple[WorkloadSection, ...] = ()
    """What is scaled, one by one. Default: none."""
    templates: tuple[TemplateSection, ...] = ()
    """What is scaled, one workload for each object that carries a label. Default: none."""
    events: tuple[EventSection, ...] = ()
    """What people know ahead, for all workloads or some: the shared calendar. Default: none, beside those of `forecaster calendar add`."""
    include: tuple[str, ...] = ()
    """Files or patterns, relative to this one, that hold further `workloads`, `templates` and `events`, so that each team keeps its own.
    Default: none."""
    forecast: ForecastSection = ForecastSection()
    """How load is forecast."""
    lease: KubernetesLeaseConfig | None = None
    """Who may work where several replicas run. Default: the store's own lease, a lock beside the SQLite file or in PostgreSQL."""
    executor: ExecutorConfig = ProcessesConfig(type="processes")
    """Where chunks of series are forecast; `type` says of which kind. Default `{type: processes}`: a small fleet is one chunk, which is
    forecast in the process itself, and a large one has work for every processor."""
    apply: ApplySection = ApplySection()
    """How floors are applied."""
    envelope: EnvelopeSection = EnvelopeSection()
    """When the fleet's change needs a person."""
    budgets: dict[Name, BudgetSection] = Field(default_factory=dict)
    """GPUs that several pools share, by name, such as `h100: {gpus: 32}`. Default: none, every pool has what its plan asks for."""
    keep: KeepSection = KeepSection()
    """How long the store remembers."""
    prices: PricesSection | None = None
    """What replica-hours and late requests cost. Default: none; `forecaster savings` tells hours alone, never a made-up sum."""
    operating_point: OperatingPointSection = OperatingPointSection()
    """Which level and HPA target are recommended."""
    tiers: TiersSection | None = None
    """Levers that act within seconds, and limits that follow ready capacity. Default: none."""
    replay: ReplaySection = ReplaySection()
    """How `forecaster capacity replay` drives load."""
    daemon: DaemonSection = DaemonSection()
    """The long-running service."""
    serve: ServeSection = ServeSection()
    """What autoscalers ask us for."""
    log: LogSection = LogSection()
    """What is logged, and how."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.keep.history < self.forecast.history:
            days = (self.forecast.history / DAY_S, self.keep.history / DAY_S)
            msg = f"keep.history must not be shorter than forecast.history of {days[0]:g}d, got {days[1]:g}d"
            raise ValueError(msg)
        if self.lease is not None:
            self._check_lease(self.lease)
        found = contradictions(
            self.sources,
            placed("", "workloads", self.workloads),
            placed("", "templates", self.templates),
            placed("", "events", self.events),
            whole=not self.include,
            priced=self.prices is not None,
        )
        found += without_budget(self.budgets, placed("", "workloads", self.workloads))
        found += tier_contradictions(self.tiers, self.sources, self.workloads, whole=not self.templates and not self.include)
        if found:
            raise ValueError(found[0])
        return self

    def _check_lease(self, lease: KubernetesLeaseConfig) -> None:
        """A holder renews at every tick, and one tick may be tried twice over: sooner than that its lease must not end."""
        least_s = self.apply.every + 2 * lease.cluster.timeout_s
        if least_s > lease.ttl_s:
            msg = f"lease.ttl_s must be at least apply.every + 2 x lease.cluster.timeout_s, which is {least_s:g}, got {lease.ttl_s:g}"
            raise ValueError(msg)
        if not self.store.startswith("postgresql"):
            scheme = self.store.partition(":")[0]
            msg = f"lease kubernetes is for several replicas, which share no {scheme} store: name a postgresql:// one, or remove lease"
            raise ValueError(msg)


class Included(BaseModel):
    """A file named by `include`."""

    model_config = SECTION
    workloads: tuple[WorkloadSection, ...] = ()
    """What is scaled, one by one. Default: none."""
    templates: tuple[TemplateSection, ...] = ()
    """What is scaled, one workload for each object that carries a label. Default: none."""
    events: tuple[EventSection, ...] = ()
    """What people know ahead. Default: none."""

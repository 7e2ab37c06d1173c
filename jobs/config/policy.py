"""The `policy` section: under which rules a workload's floors are chosen."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidatorFunctionWrapHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_wrap_validator_function

from forecaster.calendar import FloorWindow
from forecaster.cost import newsvendor_level
from forecaster.trust import Gate
from forecaster.workload import Blend, Mode, Policy, Shape
from jobs.config.scalars import ClockTime, Count, Duration, Level, Number, Positive, Whole, Zone

SECTION = ConfigDict(
    extra="forbid",
    frozen=True,
    populate_by_name=True,
    use_attribute_docstrings=True,
    allow_inf_nan=False,
    hide_input_in_errors=True,  # inputs may be secrets that stand at the wrong place
)
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DEFAULT_LEVEL = 0.95
AUTO_LEVEL: Literal["auto"] = "auto"
_DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class _OrAuto:
    """A level, or the word `auto`; what is wrong with it is said of the number."""

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate(value: object, of_level: ValidatorFunctionWrapHandler) -> object:
            return value if value == AUTO_LEVEL else of_level(value)

        return no_info_wrap_validator_function(validate, handler.generate_schema(Level))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "type": ["number", "string"], "pattern": f"^{AUTO_LEVEL}$"}


class WindowSection(BaseModel):
    """A configured floor: at least `min_replicas` from `from` to `to` on the named days, whatever the forecast says."""

    model_config = SECTION
    days: tuple[Day, ...] = Field(_DAYS, min_length=1)
    """Weekdays on which the window starts. Default: all seven, since a floor that lapses on a forgotten day is the worse surprise."""
    start: ClockTime = Field(alias="from")
    """Local time at which the floor begins to hold, HH:MM. No default. Where windows overlap, the largest floor holds."""
    end: ClockTime = Field(alias="to")
    """Local time at which it ends, HH:MM; before `from` means on the next day, 24:00 is midnight. No default."""
    zone: Zone = "UTC"
    """IANA time zone of `from`, `to` and `days`. Default UTC, so that nothing depends on the machine."""
    min_replicas: Whole
    """The floor in replicas. No default: it is what the window is for."""

    def to_core(self) -> FloorWindow:
        """The window in the core's type. Raises ValueError for an empty window."""
        days = frozenset(_DAYS.index(day) for day in self.days)
        return FloorWindow(days=days, start_min=self.start, end_min=self.end, zone=self.zone, min_replicas=self.min_replicas)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.start == self.end:
            raise ValueError("from and to must differ: equal ones could mean nothing or the whole day, which is 00:00 to 24:00")
        self.to_core()
        return self


class BlendSection(BaseModel):
    """How live load corrects the plan."""

    model_config = SECTION
    fade_half_life: Duration = 3600.0
    """After this long half of a live deviation is expected to have gone, until days are there from which a workload's own gains are
    learned. Default 1h: measured deviations of LLM traffic lose half their weight in about an hour."""
    break_glass_ratio: Number = Field(1.5, gt=1)
    """Live load above this many times the median forecast takes the plan for wrong and follows the load. Default 1.5: a day that is
    half as large again is no noise."""
    drain: Duration = 300.0
    """A measured backlog is to be served within this time. Default 5m, about one cold start: replicas that come later do not help."""
    decay_after: Duration = 7200.0
    """A floor begins to decay when load has stayed below `decay_ratio` of the forecast this long. Default 2h, so that a lunch break
    does not count."""
    decay_ratio: Number = Field(0.5, ge=0, lt=1)
    """Share of the median forecast below which load counts as far too low. Default 0.5: half of it for two hours is another day than
    the one that was planned for; 0 turns the decay off."""
    live_may_lower: bool = True
    """Whether a floor goes below the plan's while the last minutes make the planned quantile unlikely, down to a low quantile of the
    forecast and never below a window or bound. Default true: what a quiet hour saves pays for room before a busy one; false lowers
    floors in a lull only."""

    def to_core(self) -> Blend:
        """The same in the core's type."""
        return Blend(
            fade_half_life_s=self.fade_half_life,
            break_glass_ratio=self.break_glass_ratio,
            drain_s=self.drain,
            decay_after_s=self.decay_after,
            decay_ratio=self.decay_ratio,
            live_may_lower=self.live_may_lower,
        )


class TrustSection(BaseModel):
    """When a forecast is not planned from."""

    model_config = SECTION
    gate: Number = Field(0.4, ge=0, le=1)
    """Trust score, 0 to 1, below which plans rest on the load at the same time earlier, or on the base load where nothing comes back
    by the day or week. 0.5 is as good as that load itself. Default 0.4: a tenth worse than it is luck, more is not; 0 turns the
    gate off."""
    days: Count = 3
    """Scored days before the score counts. Default 3: one bad day says little about the next."""

    def to_core(self) -> Gate:
        """The same in the core's type."""
        return Gate(score=self.gate, days=self.days)


class PolicySection(BaseModel):
    """Rules for the floors of one workload."""

    model_config = SECTION
    mode: Mode = Mode.OBSERVE
    """`observe` only records what it would do, `review` writes plans that a person approved, `auto` writes. Default observe: trust
    is earned."""
    level: Annotated[float | Literal["auto"], _OrAuto()] | None = None
    """Quantile of the load that floors cover. Default 0.95, or what `cost_ratio` gives: in 5 % of cases load comes out above, which is
    the autoscaler's part. `auto` follows the level that `forecaster tune` recommends for each pool, 0.95 until there is one."""
    cost_ratio: Positive | None = None
    """Cost of a replica-hour missing over that of one idle; the level becomes ratio / (1 + ratio). Default: none, `level` says it. Set
    one of the two."""
    shape: Shape = Shape.PROFILE
    """`profile` follows the day, `daily-peak` holds one floor over its busy span. Default profile: it costs less."""
    minimum: Whole | None = Field(None, alias="min")
    """Least floor in replicas. Default: the minimum found on the object when we first saw it, so that adoption lowers nothing."""
    maximum: Whole | None = Field(None, alias="max")
    """Largest floor in replicas. Default: none of ours, the object's own ceiling binds."""
    allow_below_original: bool = Field(default=False)
    """Whether `min` may be below the minimum found on the object. Default false: nobody is worse off by adopting us."""
    windows: tuple[WindowSection, ...] = ()
    """Configured floors by local time; the floor is the larger of forecast and window. Default: none."""
    growth: Positive = 1.0
    """Expected load over past load, for growth that history cannot know, such as a launch. Default 1: tomorrow as the past says."""
    efficiency_gain: Positive = 1.0
    """Throughput of a replica over the one that `capacity` was measured at. Default 1: measured on what runs; load scales with
    growth / gain."""
    headroom: Positive = 1.0
    """Factor on the load on top of the level. Default 1: the autoscaler above already applies its own target utilisation."""
    hold: Duration = 600.0
    """A floor stays at least this long before it is lowered. Default 10m, one cold start: what is lowered sooner is asked for again."""
    raise_per_min: Positive | None = None
    """Largest raise in replicas a minute; what the last five minutes left unused adds up. Default: no limit, since a late replica
    helps nobody."""
    lower_per_min: Positive | None = None
    """Largest lowering in replicas a minute, counted alike. Default: no limit, since a floor ends no replica: the autoscaler does, at
    its own pace."""
    expiry: Duration = 86400.0
    """A plan is followed this long after it was made. Default 1d: a day-old forecast of a daily cycle still holds."""
    fallback: Whole | None = None
    """Floor in replicas when neither load nor plan is known. Default: the minimum found on the object, the state before adoption."""
    review_tolerance: Number = Field(0.1, ge=0)
    """In mode review, a newer plan within this share of the approved floors inherits the approval. Default 0.1: what one would approve
    without a second look."""
    hold_when_expiry: Duration = 7200.0
    """A `hold_when` condition that has blocked lowering this long is taken for stuck. Default 2h, longer than a rollout."""
    blend: BlendSection = BlendSection()
    """How live load corrects the plan."""
    trust: TrustSection = TrustSection()
    """When a forecast is not planned from."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.level is not None and self.cost_ratio is not None:
            raise ValueError("level and cost_ratio both choose the level: keep one of them")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            msg = f"min must not be above max, got {self.minimum} and {self.maximum}: raise max or lower min"
            raise ValueError(msg)
        self.to_core()
        return self

    def to_core(self) -> Policy:
        """The same in the core's type. Raises ValueError naming what contradicts itself."""
        by_cost = DEFAULT_LEVEL if self.cost_ratio is None else newsvendor_level(self.cost_ratio)
        return Policy(
            level=self.level if isinstance(self.level, float) else by_cost,
            shape=self.shape,
            mode=self.mode,
            minimum=self.minimum,
            maximum=self.maximum,
            allow_below_original=self.allow_below_original,
            windows=tuple(window.to_core() for window in self.windows),
            growth_ratio=self.growth,
            efficiency_ratio=self.efficiency_gain,
            headroom_ratio=self.headroom,
            hold_s=self.hold,
            raise_per_min=self.raise_per_min,
            lower_per_min=self.lower_per_min,
            expiry_s=self.expiry,
            fallback=self.fallback,
            review_tolerance_ratio=self.review_tolerance,
            hold_when_expiry_s=self.hold_when_expiry,
            blend=self.blend.to_core(),
            trust=self.trust.to_core(),
        )

"""The `events` section: launches, campaigns and closed days, as the file, calendar files and the command line write them."""

import re
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from forecaster.calendar import Calendar
from forecaster.events import Event, Every
from forecaster.series import LOAD_SIGNALS, Signal
from jobs.config.policy import SECTION, Day
from jobs.config.scalars import Duration, Integer, Name, Positive, Zone, did_you_mean, short

WALL_PATTERN = r"^\d{4}-\d{2}-\d{2}([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?|[T ]24:00)?$"
LOAD_PATTERN = r"^(rpm|concurrency|tokens)=\d+(\.\d+)?$"
_DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def wall_time(value: object) -> datetime:
    """A time on a wall clock such as 2026-12-01T09:00; a date alone is its midnight, 24:00 that of the next. Raises ValueError."""
    if not isinstance(value, str) or not re.match(WALL_PATTERN, value):
        shown = f", got {short(value)}" if isinstance(value, str | int | float) else ""
        msg = f"a time is written like 2026-12-01T09:00, on the wall clock of its zone, without Z or an offset{shown}"
        raise ValueError(msg)
    try:
        if value.endswith("24:00"):
            return datetime.fromisoformat(value[:10]) + timedelta(days=1)
        return datetime.fromisoformat(value)
    except (ValueError, OverflowError) as error:
        msg = f"there is no {short(value)} in the calendar"
        raise ValueError(msg) from error


def wall_end(value: object) -> datetime:
    """The same for an end: a date alone is meant with all of its day."""
    end = wall_time(value)
    return end + timedelta(days=1) if isinstance(value, str) and len(value) == len("2026-12-01") else end


def told_load(value: object) -> tuple[Signal, float]:
    """A load with its signal, such as rpm=5000. Raises ValueError."""
    text = value.replace(" ", "") if isinstance(value, str) else ""
    signal, _, number = text.partition("=")
    if signal not in LOAD_SIGNALS or not re.match(r"^\d+(\.\d+)?$", number):
        meant = did_you_mean(signal, LOAD_SIGNALS) if number else ""
        shown = f", got {short(value)}{meant}" if isinstance(value, str | int | float) else ""
        msg = f"a load is written with its signal, like rpm=5000, concurrency=80 or tokens=12000{shown}"
        raise ValueError(msg)
    return Signal(signal), float(number)


def _day(value: object) -> date:
    return wall_time(value).date()


Wall = Annotated[
    datetime, BeforeValidator(wall_time), WithJsonSchema({"type": "string", "pattern": WALL_PATTERN, "examples": ["2026-12-01T09:00"]})
]
WallEnd = Annotated[
    datetime, BeforeValidator(wall_end), WithJsonSchema({"type": "string", "pattern": WALL_PATTERN, "examples": ["2026-12-01T18:00"]})
]
LastDay = Annotated[
    date, BeforeValidator(_day), WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "examples": ["2026-12-31"]})
]
Told = Annotated[
    tuple[Signal, float],
    BeforeValidator(told_load),
    WithJsonSchema({"type": "string", "pattern": LOAD_PATTERN, "examples": ["rpm=5000"]}),
]


class CalendarSection(BaseModel):
    """Whose public holidays a workload may feel. What they do to it is learned from its own past ones, and never assumed."""

    model_config = SECTION
    country: str | None = Field(None, min_length=1)
    """ISO 3166 code of the country, such as DE. Default: none, no holidays."""
    subdivision: str | None = Field(None, min_length=1)
    """Part of the country with holidays of its own: what ISO 3166-2 has behind the dash, such as BY. Default: none, those of the whole
    country."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core("UTC")
        return self

    def to_core(self, zone: str) -> Calendar:
        """The calendar of a workload in that zone. Raises ValueError for a country or a subdivision that is not known."""
        return Calendar(zone=zone, country=self.country, subdivision=self.subdivision)


class EventSection(BaseModel):
    """Something that people know ahead and history does not: a launch, a campaign, a load test, a closed day."""

    model_config = SECTION
    name: str = Field(min_length=1, max_length=128)
    """Unique among all events, those of `forecaster calendar add` included: a plan's reasons name it. No default."""
    start: Wall = Field(alias="from")
    """When it begins, on the wall clock of `zone`: 2026-12-01T09:00; a date alone begins at midnight. No default."""
    end: WallEnd = Field(alias="until")
    """When it ends, on the same clock; a date alone is meant with all of its day. No default."""
    zone: Zone = "UTC"
    """IANA time zone of `from` and `until`. Default UTC, so that nothing depends on the machine."""
    factor: Positive | None = None
    """Load over that of ordinary days, such as 3. No default: either this or `load` is needed."""
    load: Told | None = None
    """Load itself, at every level: rpm=5000, concurrency=80 or tokens=12000. No default: either this or `factor` is needed."""
    ramp_up: Duration | None = None
    """Over so long before `from` the effect grows. Default: none, it is whole at once."""
    ramp_down: Duration | None = None
    """Over so long after `until` it fades. Default: none."""
    workloads: tuple[Name, ...] = ()
    """Whom it is for. Default: all of them; a `load` needs them named."""
    every: Literal["day", "week", "month", "year"] | None = None
    """How often it comes again. A 29 February is the 28th in other years. Default: it does not."""
    weekdays: tuple[Day, ...] = ()
    """Of an event of every week: its days. Default: that of `from`."""
    month_days: tuple[Annotated[Integer, Field(ge=1, le=31)], ...] = ()
    """Of an event of every month: its days, 31 being the last of every month. Default: that of `from`."""
    last: LastDay | None = None
    """The last day on which an event that comes again begins. Default: never."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.weekdays and self.every != "week":
            raise ValueError("weekdays belong to an event of every week: write every: week, or remove them")
        if self.month_days and self.every != "month":
            raise ValueError("month_days belong to an event of every month: write every: month, or remove them")
        self.to_core()
        return self

    def to_core(self) -> Event:
        """The same in the core's type. Raises ValueError naming what contradicts itself."""
        signal, load = self.load if self.load is not None else (None, None)
        return Event(
            name=self.name,
            zone=self.zone,
            start=self.start,
            end=self.end,
            factor=self.factor,
            load=load,
            signal=signal,
            ramp_up_s=self.ramp_up or 0.0,
            ramp_down_s=self.ramp_down or 0.0,
            workloads=self.workloads,
            every=None if self.every is None else Every(self.every),
            days=tuple(_DAYS.index(day) for day in self.weekdays) or self.month_days,
            until=self.last,
        )

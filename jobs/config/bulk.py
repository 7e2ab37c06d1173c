"""The `bulk` of a pool: work that may wait for a trough, and by when it is to be done."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from forecaster.bulk import Bulk
from forecaster.calendar import instant_of, zone_of
from forecaster.units import DAY_S, HOUR_S, MINUTE_S
from jobs.config.events import WALL_PATTERN, wall_time
from jobs.config.policy import SECTION
from jobs.config.scalars import CLOCK_PATTERN, Duration, Positive, Zone, clock_min


def _deadline(value: object) -> int | datetime:
    """Minutes of the day of a time such as 06:00, or a wall time such as 2026-12-01T06:00. Raises ValueError."""
    return clock_min(value) if isinstance(value, str) and ":" in value[:3] else wall_time(value)


Deadline = Annotated[
    int | datetime,
    BeforeValidator(_deadline),
    WithJsonSchema({"type": "string", "pattern": f"{CLOCK_PATTERN}|{WALL_PATTERN}", "examples": ["06:00", "2026-12-01T06:00"]}),
]


class BulkSection(BaseModel):
    """Work that may wait: done in what other pools of the budget leave, the earliest deadline first."""

    model_config = SECTION
    replica_hours: Positive | None = None
    """The work in replica-hours. Default: none. Set this, `requests` with `rpm`, or `tokens` with `tokens_per_s`."""
    requests: Positive | None = None
    """The work in requests. Default: none."""
    rpm: Positive | None = None
    """Requests per minute of one replica when it does nothing else. Default: none."""
    tokens: Positive | None = None
    """The work in tokens. Default: none."""
    tokens_per_s: Positive | None = None
    """Tokens per second of one replica when it does nothing else. Default: none."""
    deadline: Deadline
    """By when it is to be done: a time of every day, such as `06:00`, or one instant, such as `2026-12-01T06:00`. No default."""
    zone: Zone = "UTC"
    """IANA time zone of `deadline`. Default UTC, so that nothing depends on the machine."""
    span: Duration = Field(86_400.0, le=7 * DAY_S)
    """How long before its deadline the work may begin. Default 1d: as soon as the day's work before it is due."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self

    def to_core(self) -> Bulk:
        """The same in the core's type. Raises ValueError where the work is said twice, not at all, or without a replica's speed."""
        at = self.deadline
        return Bulk(
            work_s=self._work_s(),
            deadline=None if isinstance(at, int) else instant_of(at, zone_of(self.zone)),
            daily_min=at if isinstance(at, int) else None,
            zone=self.zone,
            span_s=self.span,
        )

    def _work_s(self) -> float:
        said = [each for each in (self.replica_hours, self.requests, self.tokens) if each is not None]
        if len(said) != 1 or (self.requests is None) != (self.rpm is None) or (self.tokens is None) != (self.tokens_per_s is None):
            raise ValueError("say the work once: replica_hours, or requests with rpm, or tokens with tokens_per_s")
        if self.requests is not None and self.rpm is not None:
            return self.requests / self.rpm * MINUTE_S
        if self.tokens is not None and self.tokens_per_s is not None:
            return self.tokens / self.tokens_per_s
        return (self.replica_hours or 0.0) * HOUR_S

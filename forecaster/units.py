"""Instants, steps and the checks that every type runs on itself. Instants are aware UTC; durations are seconds."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

MINUTE_S = 60
HOUR_S = 3_600
DAY_S = 86_400
WEEK_S = 604_800


def check_instant(name: str, value: datetime) -> None:
    """Refuse an instant that is naive or not in UTC."""
    if value.tzinfo is not UTC and value.utcoffset() != timedelta(0):  # the first is quick and nearly always enough
        msg = f"{name} must be an aware UTC instant, got {value.isoformat()}"
        raise ValueError(msg)


def check_positive(name: str, value: float, unit: str) -> None:
    """Refuse a value that is not a finite number above 0."""
    if not (math.isfinite(value) and value > 0):
        msg = f"{name} must be above {f'0 {unit}'.rstrip()}, got {value:g}"
        raise ValueError(msg)


def check_not_negative(name: str, value: float, unit: str) -> None:
    """Refuse a value that is not a finite number of at least 0."""
    if not (math.isfinite(value) and value >= 0):
        msg = f"{name} must be at least {f'0 {unit}'.rstrip()}, got {value:g}"
        raise ValueError(msg)


def check_level(name: str, value: float) -> None:
    """Refuse a quantile level outside of the open interval (0, 1)."""
    if not 0 < value < 1:
        msg = f"{name} must be a quantile level between 0 and 1, both excluded, got {value:g}"
        raise ValueError(msg)


def check_named(name: str, value: str) -> None:
    """Refuse an empty name."""
    if not value.strip():
        msg = f"{name} must not be empty"
        raise ValueError(msg)


def epoch_s(instant: datetime) -> int:
    """Whole seconds since 1970-01-01T00:00Z, rounded down."""
    return math.floor(instant.timestamp())


def from_epoch_s(seconds: float) -> datetime:
    """The UTC instant that many seconds after 1970-01-01T00:00Z."""
    return datetime.fromtimestamp(seconds, UTC)


def floor_to(instant: datetime, step_s: int) -> datetime:
    """The last epoch-aligned multiple of `step_s` at or before `instant`."""
    return from_epoch_s(epoch_s(instant) // step_s * step_s)


def ceil_to(instant: datetime, step_s: int) -> datetime:
    """The first epoch-aligned multiple of `step_s` at or after `instant`."""
    return from_epoch_s(math.ceil(instant.timestamp() / step_s) * step_s)


def iso(instant: datetime) -> str:
    """`2024-05-18T08:00:00Z`: how an instant is written in files, logs and annotations."""
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def spell_number(value: float) -> str:
    """A number as sentences have it: four digits, thousands apart, never an exponent: 0.1234, 12.3, 1,235, 12,345."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"  # noqa: PLR2004 - from here on whole numbers have four digits


_CEIL_NOISE = 1e-9
"""Relative slack in rounding up: 6.04 / 2 x 2 must not become 7 by the last bits of a float."""


MOST_REPLICAS = 1_000_000
"""No fleet is larger; what asks for more is a broken number, and is bounded before it becomes an integer."""


def whole_replicas(replicas: float) -> int:
    """The fewest whole replicas that carry a fractional number of them: rounded up, blind to float noise. 0 to a million."""
    if replicas >= MOST_REPLICAS:
        return MOST_REPLICAS
    return max(0, math.ceil(replicas - _CEIL_NOISE * max(1.0, abs(replicas))))


def whole_replicas_each(replicas: NDArray[np.float64]) -> NDArray[np.int64]:
    """The same for each number of an array."""
    most = np.minimum(replicas, MOST_REPLICAS)
    found = np.maximum(0, np.ceil(most - _CEIL_NOISE * np.maximum(1.0, np.abs(most))))
    whole: NDArray[np.int64] = np.where(replicas >= MOST_REPLICAS, MOST_REPLICAS, found).astype(np.int64)
    return whole

"""How durations and times of day are written in the configuration."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
DURATION_PATTERN = r"^(\d+(\.\d+)?[smhdw])+$"
CLOCK_PATTERN = r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$"


def duration_s(value: object) -> float:
    """Seconds of a duration such as 90s, 10m, 1h30m or 7d. Raises ValueError for anything else: a bare number has no unit."""
    text = str(value).strip()
    parts = _DURATION.findall(text)
    if isinstance(value, bool | int | float) and not isinstance(value, str):
        if isinstance(value, float):
            return value  # a default, already in seconds
        msg = f"a duration needs a unit, such as {value}s or {value}m"
        raise ValueError(msg)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        msg = f"a duration is written like 90s, 10m, 1h30m or 7d, got {text!r}"
        raise ValueError(msg)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts)


def clock_min(value: object) -> int:
    """Minutes of the day of a time such as 07:30; 24:00 is the end of the day."""
    text = str(value)
    if not re.match(CLOCK_PATTERN, text):
        hint = "; put it in quotes, since YAML reads 7:30 as a number" if isinstance(value, int) else ""
        msg = f"a time of day is written HH:MM, 00:00 to 24:00, got {text!r}{hint}"
        raise ValueError(msg)
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)


def spell_duration(seconds: float) -> str:
    """The shortest spelling of a duration, as the documentation prints defaults."""
    for unit, size in reversed(_UNITS_S.items()):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"


Duration = Annotated[
    float,
    BeforeValidator(duration_s),
    Field(gt=0),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["10m", "1h30m"]}),
]
ClockTime = Annotated[int, BeforeValidator(clock_min), WithJsonSchema({"type": "string", "pattern": CLOCK_PATTERN, "examples": ["07:30"]})]

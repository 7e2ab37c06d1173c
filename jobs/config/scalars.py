"""How single values are written in the configuration: durations, times of day, zones, names, numbers."""

import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from forecaster.calendar import zone_of
from forecaster.forecast import STANDARD_LEVELS

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_LONGEST_S = 3_650 * 86_400  # ten years: beyond it a duration is a typing error, and beyond 2.7 million years no instant can be computed
DURATION_PATTERN = r"^(\d+(\.\d+)?[smhdw])+$"
CLOCK_PATTERN = r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$"
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_NAME_CHARS = 128
_SHOWN_CHARS = 60
_MOST_REPLICAS = 1_000_000  # beyond it a number is a typing error
_LARGEST = 10**24  # likewise of anything else; whole numbers may be beyond what a float holds


def duration_s(value: object) -> float:
    """Seconds of a duration such as 90s, 10m, 1h30m or 7d. Raises ValueError for anything else: a bare number has no unit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        msg = f"a duration needs a unit, such as {value}s, {value}m or {value}h"
        raise ValueError(msg)  # noqa: TRY004 - pydantic takes a ValueError for a fault
    text = value.strip() if isinstance(value, str) else ""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        shown = f", got {short(text)}" if text else ""
        msg = f"a duration is written like 90s, 10m, 1h30m or 7d{shown}"
        raise ValueError(msg)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts)


def clock_min(value: object) -> int:
    """Minutes of the day of a time such as 07:30; 24:00 is the end of the day. Raises ValueError for anything else."""
    if not isinstance(value, str) or not re.match(CLOCK_PATTERN, value):
        shown = f", got {short(value)}" if isinstance(value, str | int | float) else ""
        msg = f"a time of day is written HH:MM, 00:00 to 24:00{shown}"
        raise ValueError(msg)
    hour, minute = value.split(":")
    return int(hour) * 60 + int(minute)


def spell_duration(seconds: float) -> str:
    """The shortest spelling of a duration in one unit, as sentences and the documentation print it."""
    for unit, size in reversed(_UNITS_S.items()):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"


def plain_number(value: float) -> str:
    """A number without a needless fraction or exponent, in groups of three digits."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def short(value: object) -> str:
    """A value as sentences show it: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """`; did you mean X?` where one of the known names is at least that much alike (0 to 1), else nothing."""
    close = get_close_matches(name, list(known), n=1, cutoff=likeness)
    return f"; did you mean {close[0]}?" if close else ""


def _zone(name: str) -> str:
    try:
        zone_of(name)
    except ValueError as error:
        msg = f"must be an IANA time zone such as Europe/Paris or UTC, got {short(name)}{did_you_mean(name, available_timezones())}"
        raise ValueError(msg) from error
    return name


def _name(text: str) -> str:
    if len(text) > _NAME_CHARS or not re.match(NAME_PATTERN, text) or text.endswith("\n"):
        msg = f"a name begins with a letter or a digit and holds at most {_NAME_CHARS} letters, digits, dots, dashes and underscores"
        raise ValueError(f"{msg}, got {short(text)}")
    return text


def _no_switch(value: object) -> object:
    """Refuse true and false where a number belongs, which Python counts as 1 and 0, and what is beyond anything that is counted."""
    if isinstance(value, bool):
        msg = f"must be a number, got {str(value).lower()}"
        raise ValueError(msg)  # noqa: TRY004 - pydantic takes a ValueError for a fault
    if isinstance(value, int | float) and _LARGEST < abs(value) != math.inf:
        msg = f"must be at most {_LARGEST:g}, got {short(value)}"
        raise ValueError(msg)
    return value


Duration = Annotated[
    float,
    BeforeValidator(duration_s),
    Field(gt=0, le=_LONGEST_S),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["10m", "1h30m"]}),
]
ClockTime = Annotated[int, BeforeValidator(clock_min), WithJsonSchema({"type": "string", "pattern": CLOCK_PATTERN, "examples": ["07:30"]})]
Zone = Annotated[str, AfterValidator(_zone)]
Name = Annotated[str, AfterValidator(_name), WithJsonSchema({"type": "string", "pattern": NAME_PATTERN, "maxLength": _NAME_CHARS})]
Number = Annotated[float, BeforeValidator(_no_switch)]
Positive = Annotated[float, Field(gt=0), BeforeValidator(_no_switch)]
Level = Annotated[float, Field(ge=STANDARD_LEVELS[0], le=STANDARD_LEVELS[-1]), BeforeValidator(_no_switch)]
Integer = Annotated[int, BeforeValidator(_no_switch)]
Count = Annotated[int, Field(ge=1), BeforeValidator(_no_switch)]
Whole = Annotated[int, Field(ge=0, le=_MOST_REPLICAS), BeforeValidator(_no_switch)]

"""One thing that was checked."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """`ok`; `warning`: it works, and not as one may think; `failed`: it does not work."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was checked, of which part of the configuration, how it is, and a sentence with the remedy where one is needed."""

    what: str
    where: str
    state: State
    sentence: str

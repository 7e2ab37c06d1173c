"""One thing that was checked."""

from dataclasses import dataclass
from enum import StrEnum

CONFIGURATION = "configuration"
"""What a finding is about that speaks of the configuration as a whole: where it failed, nothing else could be checked."""


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

    @property
    def is_unusable_configuration(self) -> bool:
        """Whether this is why no command can start."""
        return self.what == CONFIGURATION and self.state is State.FAILED

"""An event as a file has it: its line, and texts under the keys of the configuration's `events`, judged where these are."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from forecaster.errors import SourceRejected

KEYS = (
    "name",
    "from",
    "until",
    "zone",
    "factor",
    "load",
    "ramp_up",
    "ramp_down",
    "workloads",
    "every",
    "weekdays",
    "month_days",
    "last",
)
"""What can be said of an event, as `events` of the configuration calls it."""
LISTS = ("workloads", "weekdays", "month_days")


Fields: TypeAlias = dict[str, str | list[str]]
"""What is said of an event, by key; texts, or lists of texts."""


class EntryRefused(Exception):
    """What keeps one event from being read, without its place; the reader of the file adds that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One event of a file. line: where it begins, from 1."""

    line: int
    fields: Fields = field(repr=False)


def file_text(path: Path) -> str:
    """The text of a file. Raises SourceRejected when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path}: is no UTF-8 text (byte {error.start}); export it once more as UTF-8"
        raise SourceRejected(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror or error}); name a file that is there"
        raise SourceRejected(msg) from error

"""One JSON file of a load test, and the questions that every format asks of it. Nothing that is missing is guessed."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from forecaster.errors import LoadTestRejected
from forecaster.profile import Point
from forecaster.units import from_epoch_s

Value = TypeVar("Value")
Json = Mapping[str, Any]
_MOST_BYTES = 512 * 1024 * 1024
_MS_PER_S = 1_000.0
_MOST_SERVED_RATIO = 3.0
"""Of what was sent: random arrivals of a short run may come to more than their rate, and a unit that is mixed up comes to 60 times."""
_FIRST, _LAST = datetime(2015, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Load tests of language models lie between; an instant beyond is in another unit, such as nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Tokens of a typical request, for formats that tell a capacity for each length."""

    input_tokens: float
    output_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """The content of a file, or of one of several results in it; `name` is how sentences call it."""

    name: str
    data: Json

    def reject(self, why: str) -> NoReturn:
        """Refuse the file: one sentence."""
        raise LoadTestRejected(f"{self.name}: {why}")

    def at(self, *path: str) -> object:
        """What stands there, None where nothing does."""
        found: object = self.data
        for key in path:
            if not isinstance(found, Mapping):
                return None
            found = found.get(key)
        return found

    def number(self, *path: str) -> float | None:
        """A number; None where it is missing. Raises LoadTestRejected for what is none, or not finite."""
        found = self.at(*path)
        if found is None:
            return None
        number = finite(found)
        return self.reject(f"{'.'.join(path)} must be a finite number, got {repr(found)[:40]}") if number is None else number

    def needed(self, *path: str) -> float:
        """A number that must be there. Raises LoadTestRejected naming it."""
        found = self.number(*path)
        return self.reject(f"{'.'.join(path)} is missing, so this is no complete result") if found is None else found

    def text(self, *path: str) -> str | None:
        """A text; None where it is missing, empty or something else."""
        found = self.at(*path)
        return found if isinstance(found, str) and found.strip() else None

    def part(self, name: str, data: object) -> "ResultFile":
        """One of several results in the file. Raises LoadTestRejected where it is no object."""
        if not isinstance(data, Mapping):
            self.reject(f"{name} must be an object")
        return ResultFile(name=f"{self.name} {name}", data=data)

    def made(self, make: Callable[[], Value]) -> Value:
        """What a constructor gives, its refusal told with the name of the file."""
        try:
            return make()
        except ValueError as error:
            self.reject(str(error))

    def step(self, make: Callable[[], Point]) -> Point:
        """A load step. Raises LoadTestRejected where it contradicts itself, or more was served than was sent by far."""
        point = self.made(make)
        if point.offered_rpm is not None and point.achieved_rpm > _MOST_SERVED_RATIO * point.offered_rpm:
            told = f"{point.achieved_rpm:g} rpm were served of {point.offered_rpm:g} sent"
            self.reject(f"{told}: a rate a minute is taken for one a second")
        return point

    def instant(self, epoch_s: float | None) -> datetime | None:
        """An instant in seconds since the epoch. Raises LoadTestRejected for one in another unit."""
        if epoch_s is None:
            return None
        if not _FIRST.timestamp() <= epoch_s < _LAST.timestamp():
            self.reject(f"a time of {epoch_s:g} is not in seconds since 1970")
        return from_epoch_s(epoch_s)


def read_json(path: Path) -> object:
    """What a file holds. Raises LoadTestRejected where it cannot be read or is no JSON."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise LoadTestRejected(f"{path} is larger than 512 MB: give the summary, not the log of every request")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise LoadTestRejected(f"{path} cannot be read: {error.strerror if isinstance(error, OSError) else 'it is no text'}") from error
    except ValueError as error:
        raise LoadTestRejected(f"{path} is no JSON ({error}): give the result file itself, whole") from error
    except RecursionError as error:
        raise LoadTestRejected(f"{path} is nested too deeply to be a result of a load test") from error


def finite(value: object) -> float | None:
    """The number that a JSON value is; None where it is none, not finite, or beyond what a float holds."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def seconds(value_ms: float | None) -> float | None:
    """Of milliseconds."""
    return None if value_ms is None else value_ms / _MS_PER_S


def newest(instants: Iterable[datetime | None]) -> datetime | None:
    """The last of those that are known."""
    return max((at for at in instants if at is not None), default=None)


def names(files: Iterable[ResultFile]) -> str:
    """The files in words: the first, and how many more."""
    first, *more = [file.name for file in files]
    return f"{first} and {len(more)} more" if more else first

"""What does not answer is left alone for a while: a throttled API gets better when it is asked less."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from forecaster.errors import TargetError, TargetUnavailable
from forecaster.units import MINUTE_S, iso

TRIPS_AFTER = 3
"""Failures in a row: one is a restart, two are a slow one."""
_LONGEST_S = 10 * MINUTE_S
"""The floor stands meanwhile, and an API that is well again is found so within this time."""


class Outcome(Protocol):
    """What came of a turn with a target; error: why a write failed, None = it did not."""

    @property
    def error(self) -> TargetError | None:
        """As above."""


Came = TypeVar("Came", bound=Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Failures in a row of one target, the last of them at `at` and with these words."""

    times: int
    at: datetime
    words: str

    @property
    def until(self) -> datetime:
        """When it is asked again: at once below TRIPS_AFTER failures, then after 1, 2, 4, ... minutes, at most 10."""
        beyond = self.times - TRIPS_AFTER
        return self.at if beyond < 0 else self.at + timedelta(seconds=min(MINUTE_S * 2**beyond, _LONGEST_S))


class Breakers:
    """The targets that failed lately, by name, for as long as the process lives. Threads may share it: each target has one at a time."""

    def __init__(self) -> None:
        self._faults: dict[str, Fault] = {}

    def called(self, name: str, now: datetime, turn: Callable[[], Came]) -> Came:
        """The outcome of a turn with a target; its errors raise as they are. Raises TargetUnavailable where the target is left alone."""
        fault = self._faults.get(name)
        if fault is not None and now < fault.until:
            msg = f"left alone until {iso(fault.until)} after {fault.times} failures in a row, the last: {fault.words}"
            raise TargetUnavailable(msg)
        try:
            outcome = turn()
        except TargetUnavailable as error:
            self._failed(name, now, str(error))
            raise
        if isinstance(outcome.error, TargetUnavailable):
            self._failed(name, now, str(outcome.error))
        else:
            self._faults.pop(name, None)
        return outcome

    def _failed(self, name: str, now: datetime, words: str) -> None:
        before = self._faults.get(name)
        self._faults[name] = Fault(times=1 if before is None else before.times + 1, at=now, words=words)

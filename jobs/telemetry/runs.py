"""What became of each run of the two halves of the line."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from threading import Lock


class Half(StrEnum):
    """The two halves of the line, by their verbs; also the names of their leases."""

    FORECAST = "forecast"
    APPLY = "apply"


class Outcome(StrEnum):
    """`partly`: something failed and something was done. `skipped`: another process was at work."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"


def outcome_of(failures: int, done: int) -> Outcome:
    """The outcome by what failed and what was done, as the exit code of the command says it."""
    if not failures:
        return Outcome.DONE
    return Outcome.PARTLY if done else Outcome.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. at: the instant that it acted at, which is when it began. sentence: what it did, or why it did nothing."""

    half: Half
    at: datetime
    ended_at: datetime
    duration_s: float
    outcome: Outcome
    sentence: str


class Diary:
    """The last run of each half, and when each last got something done. Safe for threads."""

    def __init__(self, started_at: datetime) -> None:
        self.started_at = started_at
        self._lock = Lock()
        self._last: dict[Half, Run] = {}
        self._succeeded_at: dict[Half, datetime] = {}
        self._stood_by_at: datetime | None = None

    def enter(self, run: Run) -> None:
        """Note a run of our own."""
        with self._lock:
            self._last[run.half] = run
            if run.outcome in {Outcome.DONE, Outcome.PARTLY}:
                self._succeeded_at[run.half] = run.ended_at

    def found(self, half: Half, at: datetime) -> None:
        """Note that some process got a run done at that instant, as its traces in the store say."""
        with self._lock:
            self._succeeded_at[half] = max(at, self._succeeded_at.get(half, at))

    def stand_by(self, at: datetime) -> None:
        """Note that another replica has the lease, which it renews while it works: ours is to be there when it does not."""
        with self._lock:
            self._stood_by_at = at

    def stood_by_at(self) -> datetime | None:
        """When we last stood by, None where we never did."""
        with self._lock:
            return self._stood_by_at

    def last(self, half: Half) -> Run | None:
        """The last run of our own, None before the first."""
        with self._lock:
            return self._last.get(half)

    def succeeded_at(self, half: Half) -> datetime | None:
        """When the half last got something done, None when that is not known."""
        with self._lock:
            return self._succeeded_at.get(half)

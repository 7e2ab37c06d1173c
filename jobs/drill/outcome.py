"""What came of one rehearsal."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """`warning`: the promise is kept, and something about it wants a look; `not applicable`: it cannot be rehearsed here."""

    PASS = "pass"  # noqa: S105 - a word, not a secret
    WARNING = "warning"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"


class Promise(StrEnum):
    """What is rehearsed, by the number of the promise in docs/safety.md where it has one."""

    SEEN = "the object can be read"
    BOUNDS = "1 bounds outrank everything"
    CEILING = "1 a ceiling is an alert"
    LIVE = "2 live load is read"
    UNKNOWN = "2 unknown load lowers nothing"
    SAME = "3 same input, same decision"
    ONCE = "3 a floor is written once"
    WALL = "5 one broken stops no other"
    UNTOUCHED = "6 observe writes nothing"
    SHOWN = "6 observe shows the plan of auto"
    LEASE = "7 one holder at a time"
    TAKEN = "7 the API takes the write"
    RIGHTS = "7 rights are enough"
    EXCESS = "7 rights are no more than needed"
    OWNER = "7 nobody else writes the field"
    ORIGINAL = "8 the original comes back"
    WATCHDOG = "8 the watchdog sees its end"
    EXPIRY = "8 an expired plan is not followed"
    PAUSE = "9 a pause is obeyed"
    ENVELOPE = "9 a leap waits for a person"
    KILLED = "if Forecaster dies"
    AWAY = "if the API is away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One promise on one object (`where`: a target or a pool; empty = the workload as a whole), and one sentence of evidence."""

    workload: str
    where: str
    promise: Promise
    result: Result
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A result and its evidence, before it is known whose they are."""

    result: Result
    evidence: str


def told(workload: str, where: str, promise: Promise, found: Found) -> Outcome:
    """What was found of a promise, with whose it is."""
    return Outcome(workload=workload, where=where, promise=promise, result=found.result, evidence=found.evidence)


def kept(evidence: str) -> Found:
    """The promise is kept."""
    return Found(result=Result.PASS, evidence=evidence)


def broken(evidence: str) -> Found:
    """The promise is not kept."""
    return Found(result=Result.FAIL, evidence=evidence)


def doubtful(evidence: str) -> Found:
    """The promise is kept, and something about it wants a look."""
    return Found(result=Result.WARNING, evidence=evidence)


def idle(evidence: str) -> Found:
    """The promise cannot be rehearsed here, and why."""
    return Found(result=Result.NOT_APPLICABLE, evidence=evidence)

"""What failed on the way down the line: told, counted, and never in the way of another workload."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One thing that failed. verb: the step of the line. error: the type that was raised, or the reason code where nothing was."""

    verb: str
    error: str
    sentence: str


def failure(verb: str, error: Exception, sentence: str | None = None) -> Failure:
    """What was raised at a step, in the sentence given or in its own."""
    kind = type(error).__name__
    return Failure(verb=verb, error=kind, sentence=sentence or str(error) or kind)

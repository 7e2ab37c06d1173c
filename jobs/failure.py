"""What failed on the way down the line: told, counted, and never in the way of another workload."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forecaster.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One thing that failed. verb: the step of the line. error: the type that was raised, or the reason code where nothing was.

    cause: what was raised in its own words, empty where nothing was; two steps may fail for one cause.
    """

    verb: str
    error: str
    sentence: str
    cause: str = ""


def failure(verb: str, error: Exception, sentence: str | None = None) -> Failure:
    """What was raised at a step, in the sentence given or in its own."""
    kind = type(error).__name__
    cause = str(error) or kind
    return Failure(verb=verb, error=kind, sentence=sentence or cause, cause=cause)


def no_samples(signal: str) -> str:
    """The cause that both halves of the line name when a source answers without recent samples of a signal."""
    return f"no recent samples of {signal}"


def unfetched(errors: Iterable[tuple[str, SourceError]], words: str) -> Iterator[Failure]:
    """One failure a cause: `rpm and concurrency WORDS: cause`."""
    by_cause: dict[str, list[tuple[str, SourceError]]] = defaultdict(list)
    for name, error in errors:
        by_cause[str(error)].append((name, error))
    for cause, pairs in by_cause.items():
        names = [name for name, _ in pairs]
        yield failure("fetch", pairs[0][1], f"{' and '.join(names)} {words}: {cause}")


def told_once(failures: Iterable[Failure]) -> Iterator[Failure]:
    """The failures without those whose cause an earlier one tells."""
    told: set[str] = set()
    for failed in failures:
        if failed.cause not in told:
            yield failed
        told |= {failed.cause} - {""}

"""A source that answers nobody: it is said once, and what its workloads would have of it is unknown."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import Lock

from connectors.sources.registry import OpenedSource
from forecaster.errors import SourceError, SourceUnavailable
from forecaster.marks import Mark
from forecaster.ports import Query
from forecaster.series import Series, Window
from jobs.checking.finding import Finding, State
from jobs.config.workloads import WorkloadSection

_TRIES = 3
"""A question can be too heavy for a server that answers others; after so many without one answer no more are waited for."""
_SHOWN = 5


class HeardSource:
    """A source as it is, which remembers whether it ever answered. Safe to ask from several threads."""

    def __init__(self, source: OpenedSource) -> None:
        self._source = source
        self._lock = Lock()
        self._answered = False
        self._failures: list[str] = []

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """What the source answers. Raises what it raises."""
        self._give_up()
        try:
            found = self._source.fetch(query, window, step_s)
        except SourceError as error:
            self._hear(error)
            raise
        self._hear(None)
        return found

    def probe(self, query: Query, now: datetime) -> str:
        """What the source says. Raises what it raises."""
        self._give_up()
        try:
            found = self._source.probe(query, now)
        except SourceError as error:
            self._hear(error)
            raise
        self._hear(None)
        return found

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:
        """What the source found odd; nobody is asked for it."""
        return self._source.remarks(query, window, now)

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    @property
    def silence(self) -> str | None:
        """Why nobody was answered; None where somebody was, or nobody asked. A refusal is an answer."""
        with self._lock:
            return self._failures[0] if self._failures and not self._answered else None

    def _hear(self, error: SourceError | None) -> None:
        with self._lock:
            if isinstance(error, SourceUnavailable):
                self._failures.append(str(error))
            else:
                self._answered = True

    def _give_up(self) -> None:
        with self._lock:
            if len(self._failures) >= _TRIES and not self._answered:
                raise SourceUnavailable(self._failures[0])


def silent_sources(sources: Mapping[str, HeardSource], sections: Sequence[WorkloadSection]) -> dict[str, Finding]:
    """By source: that it answered none of its workloads, and what is unknown for that."""
    return {
        name: Finding(what="source", where=name, state=State.FAILED, sentence=f"{source.silence}; {_unknown(name, sections)}")
        for name, source in sources.items()
        if source.silence is not None
    }


def _unknown(name: str, sections: Sequence[WorkloadSection]) -> str:
    names = [section.name for section in sections if section.source == name]
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"until it answers, load, history and presets are unknown of {shown or 'all that reads it'}"

"""The fleet of the configuration in force, and those before it that a run still works on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from forecaster.errors import ConfigRejected
from jobs.config.document import Config
from jobs.fleet import Fleet
from jobs.wiring import open_fleet, store_url


@dataclass(slots=True, kw_only=True, eq=False)
class OpenFleet:
    """A configuration with its connections; folder: where its relative paths start. runs: how many work on it right now.

    looked_at: when the objects of its templates were last looked up, problems: what that look met, one sentence each. changed_at:
    plans from before were made under another configuration; None = we know of no other.
    """

    config: Config
    folder: Path
    fleet: Fleet
    store_url: str
    looked_at: datetime
    problems: tuple[str, ...]
    changed_at: datetime | None
    closing: ExitStack
    runs: int = 0

    @property
    def workloads(self) -> frozenset[str]:
        """The names of its workloads."""
        return frozenset(member.workload.name for member in self.fleet.members)

    @property
    def forgets(self) -> bool:
        """Whether its store ends with its connections."""
        return self.store_url == "memory:"


class Fleets:
    """One fleet in force at a time. One that was replaced is closed when the last run on it has ended. Safe for threads.

    Relative paths of a configuration start at `folder`. Raises ConfigRejected or StoreError when the first cannot be opened.
    """

    def __init__(self, folder: Path, config: Config, now: datetime) -> None:
        self._folder = folder
        self._lock, self._changing = Lock(), Lock()
        self._current = _opened(folder, config, now, None)

    @property
    def current(self) -> OpenFleet:
        """The fleet in force, to look at; to work on it use `in_force`."""
        return self._current

    @contextmanager
    def in_force(self) -> Iterator[OpenFleet]:
        """The fleet in force, which stays open for the length of the block."""
        with self._lock:
            working = self._current
            working.runs += 1
        try:
            yield working
        finally:
            with self._lock:
                working.runs -= 1
                left = working.runs == 0 and working is not self._current
            if left:
                working.closing.close()

    def replace(self, config: Config, now: datetime) -> None:
        """Put a configuration in force, on connections of its own. Raises ConfigRejected or StoreError, and all stays as it was."""
        if self._current.forgets:
            msg = "store: memory: would forget every plan and every word of a person; use sqlite:///FILE, or restart"
            raise ConfigRejected(msg)
        with self._changing:
            changed_at = now if config != self._current.config else self._current.changed_at
            self._put_in_force(_opened(self._folder, config, now, changed_at))

    def refresh(self, now: datetime) -> None:
        """Look up the objects of the templates again. Raises ConfigRejected or StoreError, and all stays as it was.

        A look that met problems takes no workload away: an API server that does not answer says nothing about who is there.
        """
        with self._changing:
            before = self._current
            fresh = _opened(self._folder, before.config, now, before.changed_at)
            if fresh.problems and before.workloads - fresh.workloads:
                fresh.closing.close()
                before.looked_at, before.problems = now, fresh.problems
            else:
                self._put_in_force(fresh)

    def close(self) -> None:
        """Let go of connections; nobody may be at work any more."""
        self._current.closing.close()

    def _put_in_force(self, fresh: OpenFleet) -> None:
        with self._lock:
            old, self._current = self._current, fresh
            left = old.runs == 0
        if left:
            old.closing.close()


def _opened(folder: Path, config: Config, now: datetime, changed_at: datetime | None) -> OpenFleet:
    closing = ExitStack()
    fleet = closing.enter_context(open_fleet(config, folder))
    return OpenFleet(
        config=config,
        folder=folder,
        fleet=fleet,
        store_url=store_url(config, folder),
        looked_at=now,
        problems=fleet.problems,
        changed_at=changed_at,
        closing=closing,
    )

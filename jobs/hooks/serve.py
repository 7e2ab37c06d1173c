"""`forecaster serve`: answers from the store, for those who run the line from cron; it asks no source and writes to no target."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock

import structlog
from prometheus_client import CollectorRegistry

from connectors.stores.opening import open_store
from forecaster.errors import ConfigRejected, ForecasterError
from forecaster.ports import Clock, Store
from forecaster.units import MINUTE_S
from forecaster.workload import Workload
from jobs.clock import SystemClock
from jobs.config.document import Config
from jobs.config.reading import read_config
from jobs.failure import Failure
from jobs.hooks.desk import Desk, Roster
from jobs.hooks.opening import Doors
from jobs.hooks.readings import posted, pulled
from jobs.telemetry import catalogue, start_logging
from jobs.telemetry.board import Board
from jobs.templates import expand
from jobs.web.health import Health, allowed_s
from jobs.wiring import store_url

RETRY_S = MINUTE_S
"""How long objects of templates that were out of sight wait for the next look."""
log = structlog.get_logger()


class StoreRoster:
    """The workloads of a configuration on a store of our own. Safe for threads. problems: what kept objects of templates out."""

    def __init__(self, store: Store, config: Config, folder: Path) -> None:
        self._store, self._folder, self._lock = store, folder, Lock()
        self.problems: tuple[str, ...] = ()
        self._roster = self._made(config)

    def replace(self, config: Config) -> None:
        """Put another configuration in force, on the same store."""
        self._put(self._made(config))

    def look_again(self, config: Config) -> None:
        """Look up the objects of the templates again; a look that met problems takes no workload away."""
        with self._lock:
            before = self._roster
        made = self._made(config)
        self._put(replace(made, workloads={**before.workloads, **made.workloads}) if self.problems else made)

    @contextmanager
    def __call__(self) -> Iterator[Roster]:
        """The roster of the moment."""
        with self._lock:
            roster = self._roster
        yield roster

    def _put(self, made: Roster) -> None:
        with self._lock:
            self._roster = made

    def _made(self, config: Config) -> Roster:
        expansions = expand(config, self._folder)
        problems = tuple(problem for expanded in expansions for problem in expanded.problems)
        for problem in problems:
            if problem not in self.problems:
                log.warning("templates", sentence=problem)
        self.problems = problems
        sections = (*config.workloads, *(section for expanded in expansions for section in expanded.workloads))
        workloads: dict[str, Workload] = {section.name: section.to_core() for section in sections}
        return Roster(store=self._store, workloads=workloads, fresh_s=allowed_s(config.apply.every))


def serve_store(path: Path) -> None:
    """Answer until SIGTERM or SIGINT; SIGHUP reads the configuration again. Raises ConfigRejected or StoreError when it cannot start."""
    asked: SimpleQueue[int] = SimpleQueue()
    config, clock = read_config(path), SystemClock()
    if config.store == "memory:":
        raise ConfigRejected("store: memory: is another process's own; `forecaster serve` needs sqlite:///FILE or postgresql://")
    start_logging(config.log)
    with ExitStack() as closing:
        store = open_store(store_url(config, path.parent))
        closing.callback(store.close)
        roster = StoreRoster(store, config, path.parent)
        board, registry = Board(), CollectorRegistry()
        desk = Desk(roster, clock, lambda failed: _count(board, failed))
        registry.register(board)
        board.ask(lambda: (*pulled(desk), *posted(desk)))
        doors = Doors(config, path.parent, desk, registry, lambda: store_health(desk, clock))
        closing.callback(doors.close)
        for kind in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(kind, lambda caught, _: asked.put(caught))
        doors.open()
        while (number := _next(asked, _patience_s(config, roster))) in {signal.SIGHUP, None}:
            if number is None:
                _look_again(config, roster)
            else:
                config = _reloaded(path, config, roster)
        log.info("stop", sentence="no further question is answered")


def store_health(desk: Desk, clock: Clock) -> Health:
    """Well while the store can be read: that nobody decides is shown, and no restart of ours changes it."""
    now = clock.now()
    try:
        found = desk.postings()
    except ForecasterError as error:
        return Health(ok=False, reason=str(error), now=now, applied_at=None, forecast_at=None)
    last: datetime | None = max((posting.at for posting in found.values()), default=None)
    reason = "the store is read; nobody has applied yet" if last is None else "the store is read"
    return Health(ok=True, reason=reason, now=now, applied_at=last, forecast_at=None)


def _reloaded(path: Path, before: Config, roster: StoreRoster) -> Config:
    """The configuration in force from now on: the one on disk where it can be used."""
    try:
        config = read_config(path)
        if store_url(config, path.parent) != store_url(before, path.parent):
            raise ConfigRejected("store: is opened at the start: restart to change it")
        roster.replace(config)
    except ForecasterError as error:
        log.error("reload", sentence=f"{error}; the configuration before stays in force")  # noqa: TRY400 - a sentence, no traceback
        return before
    log.info("reload", sentence=f"{path} is in force")
    return config


def _look_again(config: Config, roster: StoreRoster) -> None:
    """Look up the objects of templates; what keeps that from being done takes nobody away."""
    try:
        roster.look_again(config)
    except ForecasterError as error:
        log.error("templates", sentence=str(error))  # noqa: TRY400 - a sentence, no traceback


def _patience_s(config: Config, roster: StoreRoster) -> float | None:
    """How long until the objects of templates are looked up again, as the daemon does; None without templates."""
    if not config.templates:
        return None
    return RETRY_S if roster.problems else config.forecast.every


def _next(asked: "SimpleQueue[int]", wait_s: float | None) -> int | None:
    """The next signal, None when none came for so long."""
    try:
        return asked.get(timeout=wait_s)
    except Empty:
        return None


def _count(board: Board, failed: Failure) -> None:
    board.count(catalogue.FAILURES, (failed.verb, failed.error))

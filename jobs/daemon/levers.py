"""The quick loop in the daemon: a tick every few seconds, beside both halves of the line and in nobody's way."""

from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock

import structlog

from forecaster.errors import ForecasterError
from forecaster.ports import Clock
from jobs.daemon.fleets import Fleets, OpenFleet
from jobs.failure import failure
from jobs.leases import lease_of
from jobs.levers.desk import Desk, open_desk
from jobs.levers.once import LEASE, once
from jobs.levers.state import Memory, recall
from jobs.levers.tick import Tick
from jobs.telemetry.metrics import Metrics
from jobs.wiring import open_sources

POLL_S = 1.0
"""The schedule asks this often whether a tick is due, so that a reload may change the interval, or begin or end it all."""
log = structlog.get_logger()


class LeverLoop:
    """What the schedule calls; it never raises. Safe for threads: one tick at a time.

    raise_now: decides floors at once, beside us. The section is opened anew whenever another configuration is in force.
    """

    def __init__(self, fleets: Fleets, clock: Clock, metrics: Metrics, raise_now: Callable[[], None]) -> None:
        self._fleets = fleets
        self._clock = clock
        self._metrics = metrics
        self._raise_now = raise_now
        self._turn = Lock()
        self._opened: OpenFleet | None = None
        self._desk: Desk | None = None
        self._closing = ExitStack()
        self._memory: Memory | None = None
        self._last_s = float("-inf")
        self._told: frozenset[str] = frozenset()

    def poll(self) -> None:
        """Run a tick if it is due."""
        with self._turn:
            try:
                self._poll()
            except ForecasterError as error:
                self._metrics.record_failures((failure("levers", error),))
                self._tell((str(error),))
            except Exception:  # whatever breaks a tick must not end the daemon: the next one tries again
                log.exception("levers")

    def end(self, timeout_s: float) -> bool:
        """Begin no further tick, wait for the one at work and let go of connections; False when it still is after that time."""
        ended = self._turn.acquire(timeout=timeout_s)
        if ended:
            self._closing.close()
        return ended

    def _poll(self) -> None:
        with self._fleets.in_force() as opened:
            if opened is not self._opened:
                self._open(opened)
            desk, begun_s = self._desk, self._clock.monotonic()
            if desk is None or begun_s - self._last_s < desk.every_s - POLL_S / 2:
                return
            self._last_s = begun_s
            lease = lease_of(opened.config, opened.folder, LEASE, lingers=True)
            if not lease.try_acquire():
                self._memory = None  # another process moves them: what it remembers counts
                self._metrics.forget_levers()
                return
            try:
                self._tick(desk)
            finally:
                lease.release()

    def _tick(self, desk: Desk) -> None:
        first = self._memory is None
        before = recall(desk.fleet.store, desk.mode) if self._memory is None else self._memory
        tick = once(desk, before, self._clock.now().replace(microsecond=0), first=first)
        self._memory = tick.memory
        self._metrics.record_levers(tick)
        self._tell_tick(tick)
        if tick.pulled.raise_now:
            self._raise_now()

    def _open(self, opened: OpenFleet) -> None:
        self._closing.close()
        self._opened, self._desk, self._memory = opened, None, None
        self._metrics.forget_levers()
        tiers = opened.config.tiers
        if tiers is not None:
            sources = self._closing.enter_context(open_sources(opened.config, opened.folder))
            self._desk = open_desk(tiers, opened.fleet, sources, opened.folder)
            self._closing.callback(self._desk.asking.close)

    def _tell_tick(self, tick: Tick) -> None:
        would = "" if tick.moves else "in mode auto: "
        for reason in tick.pulled.reasons:
            if reason.detail not in self._told:
                log.info("levers", sentence=f"{would}{reason.detail}", code=reason.code.value)
        if tick.memory.left_alone and tick.memory.left_alone not in self._told:
            log.info("levers", sentence=tick.memory.left_alone)
        for turn in tick.turns:
            if turn.failure is None and turn.sentence not in self._told:
                log.info("levers", sentence=f"{would}{turn.sentence}", lever=turn.lever)
        told = {reason.detail for reason in tick.pulled.reasons} | {turn.sentence for turn in tick.turns} | {tick.memory.left_alone}
        self._tell(tuple(failed.sentence for failed in tick.failures), frozenset(told))

    def _tell(self, problems: tuple[str, ...], beside: frozenset[str] = frozenset()) -> None:
        """Warn of what was not told at the last tick."""
        for problem in problems:
            if problem not in self._told:
                log.warning("levers", sentence=problem)
        self._told = frozenset(problems) | beside

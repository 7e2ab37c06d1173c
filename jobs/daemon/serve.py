"""The daemon from its start to its end."""

import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

import structlog

from jobs.clock import SystemClock
from jobs.config.reading import read_config
from jobs.daemon.fleets import Fleets
from jobs.daemon.levers import POLL_S, LeverLoop
from jobs.daemon.reload import tell_fleet
from jobs.daemon.roster import FleetRoster
from jobs.daemon.runs import Runs
from jobs.daemon.schedule import Schedule
from jobs.hooks.desk import Desk
from jobs.hooks.opening import Doors
from jobs.hooks.readings import pulled
from jobs.leases import give_up
from jobs.levers.once import LEASE
from jobs.operating_point import TUNE
from jobs.telemetry import start_logging
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.runs import Diary, Half
from jobs.web.health import health

END_S = 6.0
"""A run at work is waited for this long: with the pages' second or two we end within the 10 s that service managers grant."""
LEVERS_END_S = 1.0
"""So long for the levers: what a tick left half done is found on their objects at the next start."""
log = structlog.get_logger()


def serve(path: Path) -> None:
    """Run both halves of the line on schedule until SIGTERM or SIGINT; SIGHUP reads the configuration again.

    Raises ConfigRejected or StoreError when it cannot start; from then on nothing but a signal ends it.
    """
    asked: SimpleQueue[int] = SimpleQueue()
    _listen(asked, signal.SIGHUP)  # one that comes while we start must not end us; a SIGTERM may
    config, clock = read_config(path), SystemClock()
    start_logging(config.log)
    with ExitStack() as closing:
        fleets = Fleets(path.parent, config, clock.now().replace(microsecond=0))
        closing.callback(fleets.close)
        metrics, diary = Metrics(), Diary(clock.now())
        metrics.record_config(clock.now())
        desk = Desk(FleetRoster(fleets), clock, lambda failed: metrics.record_failures((failed,)))
        metrics.ask(lambda: pulled(desk))
        doors = Doors(config, path.parent, desk, metrics.registry, lambda: health(diary, fleets.current.config.apply.every, clock.now()))
        closing.callback(doors.close)
        runs = Runs(fleets, clock, metrics, diary)
        schedule = Schedule(runs, clock)
        levers = LeverLoop(fleets, clock, metrics, schedule.apply_at_once)
        _listen(asked, signal.SIGTERM, signal.SIGINT)
        doors.open()
        there = fleets.current
        tell_fleet("start", there, metrics, known=there.workloads, met=(), sentence=f"{path} is in force")
        schedule.start(config.apply.every)
        schedule.beside(levers.poll, POLL_S, LEASE)
        while (number := asked.get()) == signal.SIGHUP:
            schedule.reload(path)
        log.info("stop", sentence=f"{signal.Signals(number).name}: no further run begins")
        schedule.stop()
        ended = levers.end(LEVERS_END_S) & runs.end(END_S)
        give_up(fleets.current.config, path.parent, (*(half.value for half in Half), TUNE, LEASE))
        if not ended:
            _leave_at_once()


def _listen(asked: SimpleQueue[int], *numbers: signal.Signals) -> None:
    """Queue these signals from now on; a handler that only queues may interrupt anything."""
    for number in numbers:
        signal.signal(number, lambda caught, _: asked.put(caught))


def _leave_at_once() -> None:
    """End the process under a run that takes too long: the interpreter would wait for its threads.

    Nothing is half done by it: the store keeps all of an append or none, and a write to a target is one request.
    """
    log.warning("stop", sentence=f"a run was still at work after {END_S:g} s and is given up; the next start makes up for it")
    sys.stderr.flush()
    os._exit(0)

"""When runs begin: a tick that finds the last run at work is left out, and nobody is warned of it."""

import logging
from threading import Event, Lock

import pytest

from jobs.daemon.schedule import Schedule
from tests.jobs.test_daemon_runs import started
from tests.jobs.world import World

EVERY_S = 0.1
TICKS = 3
PATIENCE_S = 30.0


def test_a_run_that_takes_longer_than_its_ticks_never_overlaps_itself_and_warns_of_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.workload("chat")
    turn, begun, others, again, may_end = Lock(), Event(), [], Event(), Event()

    def slow() -> None:
        assert turn.acquire(blocking=False)
        try:
            if begun.is_set():
                again.set()
            begun.set()
            may_end.wait(PATIENCE_S)
        finally:
            turn.release()

    def quick() -> None:
        others.append(begun.is_set())
        if others.count(True) == TICKS:
            may_end.set()  # so many ticks have found it at work

    with caplog.at_level(logging.WARNING), started(world) as parts:
        schedule = Schedule(parts.runs, parts.clock)
        schedule.start(3_600.0)
        schedule.beside(slow, EVERY_S, "slow")
        schedule.beside(quick, EVERY_S, "quick")
        assert again.wait(PATIENCE_S)
        schedule.stop()
        assert parts.runs.end(PATIENCE_S)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("apscheduler")] == []

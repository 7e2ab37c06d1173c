"""Who may work on a store: a release waits for the apply at work, and no longer than a person would."""

import threading
from pathlib import Path

import pytest

from connectors.leases.opening import open_lease
from jobs.cli.session import session
from jobs.cli.turns import in_turn
from tests.jobs.world import World


def opened(world: World) -> Path:
    world.workload("chat")
    return world.path


def test_a_turn_waits_until_the_run_at_work_has_ended(world: World) -> None:
    with session(opened(world)) as at:
        busy = open_lease(at.store_url, "apply")
        assert busy.try_acquire()
        ending = threading.Timer(0.5, busy.release)
        ending.start()
        with in_turn(at, "apply"):
            assert not open_lease(at.store_url, "apply").try_acquire()
        ending.join()


def test_a_turn_that_does_not_come_is_taken_with_a_sentence(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    with session(opened(world)) as at:
        busy = open_lease(at.store_url, "apply")
        assert busy.try_acquire()
        with in_turn(at, "apply", patience_s=0.3):
            assert "another apply run is still at work on this store" in capsys.readouterr().err
        busy.release()

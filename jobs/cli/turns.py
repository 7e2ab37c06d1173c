"""Who may work on a store: one process a half of the line."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import typer

from jobs.cli.options import DONE

if TYPE_CHECKING:
    from jobs.cli.session import Session

_TRY_EVERY = timedelta(milliseconds=200)


@contextmanager
def alone(at: "Session", half: str) -> Iterator[None]:
    """Hold the lease of one half of the line; where another process has it, end at once with a sentence: it does the work."""
    from jobs.cli.show import say
    from jobs.leases import lease_of

    lease = lease_of(at.config, at.path.parent, half)
    if not lease.try_acquire():
        say(f"another {half} run is at work on this store; nothing was done")
        raise typer.Exit(DONE)
    try:
        yield
    finally:
        lease.release()


@contextmanager
def in_turn(at: "Session", half: str, patience_s: float = 10) -> Iterator[None]:
    """Hold the lease of one half, waiting a while for the run at work to end; after that go on all the same: a person asked for it."""
    from jobs.cli.show import say
    from jobs.clock import SystemClock
    from jobs.leases import lease_of

    lease, clock = lease_of(at.config, at.path.parent, half), SystemClock()
    deadline_s = clock.monotonic() + patience_s
    while not lease.try_acquire():
        if clock.monotonic() >= deadline_s:
            say(f"another {half} run is still at work on this store; if it writes once more, the next one puts that right")
            break
        clock.sleep_until(clock.now() + _TRY_EVERY)
    try:
        yield
    finally:
        lease.release()
